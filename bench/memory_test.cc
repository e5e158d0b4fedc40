#include "bench/memory.h"

#include <gtest/gtest.h>

namespace igloo::bench {
namespace {

TEST(KilobytesOf, FindsWholeKeysAtTheBeginningOfLines) {
  const std::string text = "Rss:  10 kB\nPss_Dirty: 3 kB\nPss:    7 kB\nOdd: x\n";
  EXPECT_EQ(KilobytesOf(text, "Rss"), 10);
  EXPECT_EQ(KilobytesOf(text, "Pss"), 7);
  EXPECT_EQ(KilobytesOf(text, "ss"), std::nullopt);
  EXPECT_EQ(KilobytesOf(text, "Odd"), std::nullopt);
}

TEST(KernelMemory, SumsWhatSandboxesChange) {
  EXPECT_EQ(KernelMemory("MemFree: 9 kB\nSUnreclaim: 1 kB\nKernelStack: 2 kB\nPageTables: 4 kB\n"
                         "Percpu: 8 kB\nSReclaimable: 16 kB\n"),
            15);
}

TEST(JudgeReadyIdle, EveryLanguageHasItsBarAndWhatIsNotKnownNone) {
  Figures figures;
  JudgeReadyIdle({{.key = "ready_python", .pss = 1024}, {.key = "ready_fresh_python", .pss = 9}},
                 figures);
  ASSERT_EQ(figures.all.size(), 1U);
  EXPECT_EQ(figures.all[0].value, 1);
  EXPECT_EQ(figures.all[0].bar, 7);
}

}  // namespace
}  // namespace igloo::bench

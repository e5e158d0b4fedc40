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

}  // namespace
}  // namespace igloo::bench

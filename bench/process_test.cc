#include "bench/process.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace igloo::bench {
namespace {

TEST(FirstLine, SkipsBlankLinesColoursAndWarnings) {
  EXPECT_EQ(FirstLine("\n  \nWARNING: old\n\x1b[31mit broke\x1b[0m\nmore\n"), "it broke");
  EXPECT_EQ(FirstLine("\n"), "");
}

TEST(RunSpawned, AFailureSaysWhatTheProgramSaid) {
  const auto run = RunSpawned({{"/bin/sh", "-c", "echo 'no such wall' >&2; exit 3"}});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().what, "no such wall");
}

TEST(RunSpawned, GivesOnlyTheSmallEnvironmentAndWhatTheCommandAdds) {
  const auto run = RunSpawned({{"/usr/bin/env"}, {"MORE=1"}});
  ASSERT_TRUE(run) << run.error().what;
  EXPECT_NE(run->output.find("MORE=1\n"), std::string::npos);
  EXPECT_EQ(std::ranges::count(run->output, '\n'), 4);
}

TEST(Process, EndsWithItsInput) {
  auto process = Process::Start({{"/bin/cat"}}, Input::kPipe);
  ASSERT_TRUE(process) << process.error().what;
  EXPECT_TRUE(process->Finish());
}

}  // namespace
}  // namespace igloo::bench

#include "tools/original.h"

#include <gmock/gmock.h>

#include "tools/testing.h"

namespace igloo::tools {
namespace {

using testing::Ended;
using testing::TextOf;

TEST(RenderOriginalTest, TheTextIsWhatItAlwaysWas) {
  EXPECT_EQ(TextOf(RenderOriginal(Ended("out"))), "out");
  EXPECT_EQ(TextOf(RenderOriginal(Ended("", "err"))), "err");
  EXPECT_EQ(TextOf(RenderOriginal(Ended("out\n", "err\n"))), "out\n\n--- stderr ---\nerr\n");
  EXPECT_EQ(TextOf(RenderOriginal(Ended(""))), "");
  const mcp::ToolResult failed = RenderOriginal(Ended("x", "", 3));
  EXPECT_TRUE(failed.is_error);
  EXPECT_EQ(TextOf(failed), "x") << "the exit code is not told";
  EXPECT_EQ(failed.content.size(), 1U);
  EXPECT_FALSE(failed.structured);
}

TEST(RenderOriginalTest, OneMegabyteAndThenItsSuffix) {
  const std::string suffix = "\n\n[truncated \xe2\x80\x94 output exceeded 1MB]";
  EXPECT_EQ(TextOf(RenderOriginal(Ended(std::string(1U << 20, 'x')))), std::string(1U << 20, 'x'));
  EXPECT_EQ(TextOf(RenderOriginal(Ended(std::string((1U << 20) + 1, 'x')))),
            std::string(1U << 20, 'x') + suffix);
  std::string wide(1, 'x');
  while (wide.size() <= 1U << 20) wide += "\xe2\x82\xac";
  const std::string cut = TextOf(RenderOriginal(Ended(wide)));
  EXPECT_EQ(cut.size() - suffix.size(), (1U << 20) - (((1U << 20) - 1) % 3));
  EXPECT_TRUE(cut.ends_with("\xe2\x82\xac" + suffix));
}

TEST(RenderOriginalTest, BytesBecomeText) {
  EXPECT_EQ(TextOf(RenderOriginal(Ended("a\xff"))), "a\xef\xbf\xbd");
  EXPECT_EQ(TextOf(RenderOriginal(Ended("\x1b[31mred"))), "\x1b[31mred") << "colours stayed";
}

TEST(RenderOriginalTest, ATimeOutNamesItsTime) {
  service::Finished finished = Ended("partial");
  finished.run.verdict = session::Verdict::kTimeout;
  const mcp::ToolResult result = RenderOriginal(finished);
  EXPECT_EQ(TextOf(result), "Command timed out after 30s");
  EXPECT_TRUE(result.is_error);
  finished.session = "s";
  finished.time_limit_ms = 2500;
  finished.notes = {"variables are kept: the code was interrupted"};
  EXPECT_EQ(TextOf(RenderOriginal(finished)),
            "Session execution timed out after 2.5s\n"
            "[variables are kept: the code was interrupted]\n");
}

TEST(RenderOriginalTest, ALimitThatEndedTheCodeIsNamed) {
  service::Finished finished = Ended("");
  finished.run.verdict = session::Verdict::kMemory;
  finished.run.exit_code = 137;
  const mcp::ToolResult result = RenderOriginal(finished);
  EXPECT_TRUE(result.is_error);
  EXPECT_EQ(TextOf(result),
            "[killed: it used more than its 512 MB of memory; work on less at a time]\n");
  finished = Ended("half", "oops");
  finished.run.verdict = session::Verdict::kOutput;
  finished.run.exit_code = 137;
  EXPECT_EQ(TextOf(RenderOriginal(finished)),
            "half\n--- stderr ---\noops\n[killed: it wrote without end; print less]\n");
}

TEST(RenderOriginalTest, LostVariablesAreToldAlsoBehindOutputThatWasCut) {
  service::Finished finished = Ended("x\n");
  finished.notes = {"variables were lost, files were kept: the interpreter ended with exit code 3"};
  const std::string told =
      "[variables were lost, files were kept: the interpreter ended with exit code 3]\n";
  EXPECT_EQ(TextOf(RenderOriginal(finished)), "x\n\n--- stderr ---\n" + told);
  finished = Ended(std::string((1U << 20) + 1, 'x'));
  finished.notes = {"lost"};
  EXPECT_TRUE(TextOf(RenderOriginal(finished)).ends_with("exceeded 1MB]\n[lost]\n"));
}

TEST(RenderOriginalTest, WhatCameLateStandsBeforeWhatTheCallPrinted) {
  service::Finished finished = Ended("now\n", "error\n");
  finished.late_output = "tick\n";
  finished.late_error = "warning\n";
  EXPECT_EQ(TextOf(RenderOriginal(finished)), "tick\nnow\n\n--- stderr ---\nwarning\nerror\n");
}

TEST(OriginalSessionFailureTest, HasTheWordsOfTheAgents) {
  using enum SessionBefore;
  using enum SessionAfter;
  const auto said = [](Errc code, SessionBefore before, SessionAfter after) {
    return OriginalSessionFailure({code, "why", "do this", 0}, "python", before, after);
  };
  EXPECT_EQ(said(Errc::kFailedPrecondition, kNew, kGone),
            "Failed to start session agent for 'python': why; do this");
  EXPECT_EQ(said(Errc::kTimeout, kNew, kGone),
            "Failed to start session agent for 'python': Agent did not send Ready within 30s: why; "
            "do this");
  EXPECT_EQ(said(Errc::kFailedPrecondition, kLived, kGone),
            "Failed to communicate with session agent: why; do this");
  EXPECT_EQ(said(Errc::kInvalidArgument, kLived, kLives), "why; do this");
  EXPECT_EQ(said(Errc::kExhausted, kNew, kGone), "why; do this") << "too many of them";
}

TEST(RenderOriginalTest, WhatCannotBeShownIsNotDroppedInSilence) {
  service::Finished finished = Ended("");
  finished.parts.resize(2);
  EXPECT_THAT(TextOf(RenderOriginal(finished)), ::testing::HasSubstr("[2 shown by display()"));
}

}  // namespace
}  // namespace igloo::tools

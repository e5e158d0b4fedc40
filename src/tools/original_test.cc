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
  Finished finished = Ended("partial");
  finished.run.verdict = session::Verdict::kTimeout;
  const mcp::ToolResult result = RenderOriginal(finished);
  EXPECT_EQ(TextOf(result), "Command timed out after 30s");
  EXPECT_TRUE(result.is_error);
}

}  // namespace
}  // namespace igloo::tools

#include "agent/summary.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

namespace igloo::agent {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

sandbox::Plan PlanOfBox() {
  sandbox::Plan plan;
  plan.payload.argv = {"/usr/bin/claude", "--x", "two\nlines"};
  plan.payload.cwd = "/p";
  plan.payload.env = {"HOME=/home/ann", "ANTHROPIC_API_KEY=sk-ant-0123456789abcd", "LANG=C",
                      "NEW\x1b[2J=x"};
  plan.run.push_back(
      sandbox::step::Bind{.source = "/p", .target = "/p", .access = sandbox::Access::kReadWrite});
  plan.run.push_back(
      sandbox::step::Bind{.source = "/home/ann/.npmrc", .target = "/home/ann/.npmrc"});
  plan.run.push_back(sandbox::step::Tmpfs{.target = "/home/ann"});
  return plan;
}

Box BoxOfAnn() {
  return {.name = "claude-p",
          .project = "/p",
          .home = "/home/ann",
          .variables = {{"LANG", "C", Origin::kCaller}}};
}

std::vector<std::string> Lines(const std::vector<SummarySection>& sections,
                               std::string_view title) {
  std::vector<std::string> lines;
  for (const SummarySection& section : sections) {
    if (!title.empty() && section.title != title) continue;
    for (const SummaryRow& row : section.rows) lines.push_back(row.label + " " + row.text);
  }
  return lines;
}

TEST(Summary, HasEveryMountOfThePlan) {
  const auto sections = Summarize(BoxOfAnn(), PlanOfBox(), [](const auto&) { return false; });
  const auto files = Lines(sections, "Files");
  EXPECT_THAT(files, Contains("write /p"));
  EXPECT_THAT(files, Contains("read /home/ann/.npmrc"));
  EXPECT_THAT(files, Contains("memory /home/ann"));
}

TEST(Summary, HasEveryVariableWithItsOriginAndNoSecret) {
  const auto sections = Summarize(BoxOfAnn(), PlanOfBox(), [](const auto&) { return false; });
  const auto variables = Lines(sections, "Variables");
  EXPECT_EQ(variables.size(), 4U);
  EXPECT_THAT(variables, Contains("yours LANG=C"));
  EXPECT_THAT(variables, Contains("made by igloo ANTHROPIC_API_KEY=sk-ant-...abcd"));
  EXPECT_THAT(variables, Each(Not(HasSubstr("0123456789"))));
}

TEST(Summary, ShowsNothingThatATerminalWouldObey) {
  for (const std::string& line :
       Lines(Summarize(BoxOfAnn(), PlanOfBox(), [](const auto&) { return true; }), "")) {
    EXPECT_THAT(line, Not(HasSubstr("\x1b")));
  }
}

TEST(Summary, NamesWhatIsThereAndNotShown) {
  const auto sections = Summarize(BoxOfAnn(), PlanOfBox(), [](const std::string& path) {
    return path == "/home/ann/.ssh" || path == "/home/ann/.npmrc";
  });
  const auto missing = Lines(sections, "Not there");
  EXPECT_THAT(missing, Contains("yours ~/.ssh")) << "and not what a mount shows";
}

TEST(ShownValue, KeepsTheEndsOfLongSecretsAlone) {
  EXPECT_EQ(ShownValue("GH_TOKEN", "0123456789abcdef"), "0123456...cdef");
  EXPECT_EQ(ShownValue("my_password", "0123456789a"), "***");
  EXPECT_EQ(ShownValue("LANG", "C.UTF-8"), "C.UTF-8");
}

}  // namespace
}  // namespace igloo::agent

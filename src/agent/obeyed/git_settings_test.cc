#include "agent/obeyed/git_settings.h"

#include <gmock/gmock.h>

namespace igloo::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

JudgedSettings Judged(const std::string& text) {
  return JudgeSettings(text, [](const std::string& path) { return path == "../inside"; });
}

TEST(GitSettings, WhatAFreshCloneHasIsHarmlessAndIsWrittenAsItWas) {
  const std::string clone =
      "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
      "\tlogallrefupdates = true\n[remote \"origin\"]\n\turl = https://example.org/x.git\n"
      "\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n"
      "\tmerge = refs/heads/main\n";
  const JudgedSettings judged = Judged(clone);
  EXPECT_THAT(judged.refused, IsEmpty());
  EXPECT_EQ(Judged(judged.harmless).harmless, judged.harmless);
  EXPECT_THAT(judged.harmless, HasSubstr("[remote \"origin\"]\n\turl = https://example.org/x.git"));
}

class EvilSetting : public ::testing::TestWithParam<const char*> {};

TEST_P(EvilSetting, IsRefusedAndNothingOfItIsLeft) {
  const JudgedSettings judged = Judged(std::string("[core]\n\tbare = false\n") + GetParam());
  EXPECT_THAT(judged.refused, Not(IsEmpty()));
  EXPECT_THAT(judged.harmless, Not(HasSubstr("evil")));
}

INSTANTIATE_TEST_SUITE_P(
    All, EvilSetting,
    ::testing::Values(
        "[core]\n\tfsmonitor = ./evil\n", "[core] fsmonitor = ./evil\n",
        "[CORE]\n\tFSMonitor = ./evil\n", "[core]\n\thooksPath = evil\n",
        "[core]\n\tsshCommand = evil\n", "[core]\n\tpager = evil\n", "[core]\n\teditor = evil\n",
        "[core]\n\taskPass = evil\n", "[core]\n\tgitProxy = evil\n",
        "[core]\n\tattributesFile = evil\n", "[core]\n\talternateRefsCommand = evil\n",
        "[core]\n\tworktree = ../../evil\n", "[alias]\n\tst = !evil\n",
        "[filter \"x\"]\n\tclean = evil\n", "[filter.x]\n\tsmudge = evil\n",
        "[diff]\n\texternal = evil\n", "[diff \"x\"]\n\ttextconv = evil\n",
        "[merge \"x\"]\n\tdriver = evil\n", "[credential]\n\thelper = !evil\n",
        "[credential \"https://x\"]\n\thelper = evil\n", "[include]\n\tpath = evil\n",
        "[includeIf \"gitdir:~/\"]\n\tpath = evil\n", "[gpg]\n\tprogram = evil\n",
        "[gpg \"ssh\"]\n\tprogram = evil\n", "[sequence]\n\teditor = evil\n",
        "[pager]\n\tlog = evil\n", "[interactive]\n\tdiffFilter = evil\n",
        "[submodule \"x\"]\n\tupdate = !evil\n", "[remote \"x\"]\n\tuploadpack = evil\n",
        "[remote \"x\"]\n\tvcs = evil\n", "[remote \"x\"]\n\turl = ext::sh -c evil\n",
        "[remote \"x\"]\n\tpushurl = evil::y\n", "[remote \"x\"]\n\turl = -oevil\n",
        "[url \"evil\"]\n\tinsteadOf = https://\n", "[protocol \"ext\"]\n\tallow = always # evil\n",
        "[uploadpack]\n\tpackObjectsHook = evil\n", "[branch \"x\"]\n\tmergeOptions = evil\n",
        "[trailer \"x\"]\n\tcommand = evil\n", "[man \"x\"]\n\tcmd = evil\n",
        "[http]\n\tproxy = evil\n", "[some]\n\tkeyOfNextYear = evil\n",
        "[core]\n\tbare = \\\nevil\n", "[user]\n\tname = \"evil\\n\"\n"));

TEST(GitSettings, ATextThatGitCouldReadInAnotherWayIsNotTakenApart) {
  for (const std::string& text :
       {std::string("[core\n\tbare = false\n"), std::string("[core]\n\tbare = \x01\n"),
        std::string("[core]\n\tbare = fal\0se\n", 22), std::string("[core]\n\tbare = false\r\n"),
        std::string("\xef\xbb\xbf[core]\n\tbare = \"false\n")}) {
    EXPECT_THAT(Judged(text).refused, Not(IsEmpty())) << text;
    EXPECT_EQ(Judged(text).harmless, "") << text;
  }
}

TEST(GitSettings, AWorkTreeInTheProjectMayBeNamed) {
  EXPECT_THAT(Judged("[core]\n\tworktree = ../inside\n").refused, IsEmpty());
  EXPECT_THAT(Judged("[core]\n\tworktree = ../outside\n").refused,
              ElementsAre("core.worktree = ../outside"));
}

}  // namespace
}  // namespace igloo::agent

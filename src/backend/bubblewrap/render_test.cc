#include "backend/bubblewrap/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

namespace igloo::backend::bubblewrap {
namespace {

namespace step = sandbox::step;
using sandbox::Access;
using sandbox::Plan;
using sandbox::Step;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Plan PlanOf(std::vector<Step> environment, std::vector<Step> run = {},
            std::vector<Step> fresh = {}) {
  Plan plan;
  plan.environment = std::move(environment);
  plan.fresh = std::move(fresh);
  plan.run = std::move(run);
  return plan;
}

Command CommandOf(const Plan& plan, const std::set<std::string>& absent = {}) {
  auto command = Render(plan, "/lib/igloo-init", absent);
  EXPECT_TRUE(command) << command.error().what;
  return command ? *std::move(command) : Command{};
}

Error ErrorOf(std::vector<Step> steps) {
  const auto command = Render(PlanOf({}, std::move(steps)), "/lib/igloo-init");
  EXPECT_FALSE(command);
  return command ? Error{} : command.error();
}

/// The words that every command has, around those of its steps.
Command Framed(std::vector<std::string> middle, std::vector<Command::File> files = {},
               bool sealed = false) {
  Command command;
  command.argv = {"--unshare-user",
                  "--unshare-ipc",
                  "--unshare-pid",
                  "--unshare-uts",
                  "--unshare-cgroup",
                  "--die-with-parent",
                  "--new-session",
                  "--clearenv",
                  "--as-pid-1",
                  "--uid",
                  "1000",
                  "--gid",
                  "1000"};
  command.argv.insert(command.argv.end(), middle.begin(), middle.end());
  const std::string init = std::to_string(kFirstFile + static_cast<int>(files.size()));
  for (const std::string& word : {std::string("--perms"), std::string("0555"),
                                  std::string("--file"), init, std::string("/.igloo/init")}) {
    command.argv.push_back(word);
  }
  if (sealed) command.argv.insert(command.argv.end(), {"--remount-ro", "/"});
  command.argv.insert(command.argv.end(), {"--", "/.igloo/init"});
  command.files = std::move(files);
  command.files.push_back({.host_path = "/lib/igloo-init"});
  return command;
}

TEST(RenderTest, ASmallPlanIsExactlyThisCommand) {
  const Plan plan = PlanOf(
      {
          step::Root{{.bytes = 8U << 20, .inodes = 65536}},
          step::Directory{"/usr", 0755},
          step::Bind{"/usr", "/usr"},
          step::Symlink{"/bin", "usr/bin"},
          step::File{"/etc/passwd", "user", 0444},
          step::File{"/dev/null", "", 0444},
          step::Bind{"/dev/null", "/dev/null", Access::kReadWrite, {}, true},
          step::Proc{"/proc"},
          step::EnterRoot{},
          step::SealRoot{},
      },
      {
          step::Bind{"/home/ada", "/project", Access::kReadWrite},
          step::File{"/code/main", "x", 0444},
          step::ReadOnly{"/code"},
          step::DropPrivileges{},
          step::StartInit{},
      },
      {
          step::Hostname{"igloo"},
          step::NoMoreNamespaces{},
          step::Mask{"/proc/keys", false},
          step::Mask{"/proc/bus", true},
          step::ReadOnly{"/proc/sys"},
          step::Tmpfs{"/code", {.bytes = 4096}, 01777},
          step::BoundPrivileges{},
          step::PrivateNetwork{},
      });
  const Command expected = Framed(
      {
          "--perms",      "0755",
          "--dir",        "/usr",
          "--ro-bind",    "/usr",
          "/usr",         "--symlink",
          "usr/bin",      "/bin",
          "--perms",      "0444",
          "--file",       "16",
          "/etc/passwd",  "--perms",
          "0444",         "--file",
          "17",           "/dev/null",
          "--dev-bind",   "/dev/null",
          "/dev/null",    "--proc",
          "/proc",        "--hostname",
          "igloo",        "--disable-userns",
          "--ro-bind",    "/dev/null",
          "/proc/keys",   "--perms",
          "0555",         "--size",
          "4096",         "--tmpfs",
          "/proc/bus",    "--remount-ro",
          "/proc/bus",    "--perms",
          "1777",         "--size",
          "4096",         "--tmpfs",
          "/code",        "--unshare-net",
          "--bind",       "/home/ada",
          "/project",     "--perms",
          "0444",         "--file",
          "18",           "/code/main",
          "--remount-ro", "/code",
          "--cap-drop",   "ALL",
          "--cap-add",    "CAP_SETPCAP",
      },
      {{.content = "user"}, {.content = ""}, {.content = "x"}}, true);
  EXPECT_EQ(CommandOf(plan).argv, expected.argv);
  EXPECT_EQ(CommandOf(plan).files, expected.files);
}

TEST(RenderTest, TheHostsNetworkComesOnlyFromAPlanWithoutAPrivateOne) {
  EXPECT_THAT(CommandOf(PlanOf({})).argv, Not(Contains("--unshare-net")));
  EXPECT_THAT(CommandOf(PlanOf({}, {step::PrivateNetwork{}})).argv, Contains("--unshare-net"));
}

TEST(RenderTest, MasksOfWhatTheKernelLacksAreSkipped) {
  const Plan plan = PlanOf({}, {step::Mask{"/proc/keys", false}, step::Mask{"/proc/scsi", true}});
  EXPECT_EQ(CommandOf(plan, {"/proc/keys", "/proc/scsi"}), Framed({}));
  EXPECT_EQ(CommandOf(plan, {"/proc/scsi"}), Framed({"--ro-bind", "/dev/null", "/proc/keys"}));
}

TEST(RenderTest, MountsAreFrozenInPlaceAndProcSysIsBubblewrapsOwnConcern) {
  EXPECT_EQ(CommandOf(PlanOf({}, {step::ReadOnly{"/code"}, step::ReadOnly{"/proc/sys"}})),
            Framed({"--remount-ro", "/code"}));
}

TEST(RenderTest, WhatBubblewrapLacksIsRefusedAndNamed) {
  const struct {
    Step step;
    const char* what;
  } rows[] = {
      {step::Tmpfs{"/m", {.bytes = 1, .inodes = 2}}, "limit the number of files in '/m'"},
      {step::Tmpfs{"/m", {.bytes = 1}, 0755, sandbox::Execution::kForbidden},
       "forbid programs in '/m'"},
      {step::Overlay{"/s", "/o"}, "show '/s' copy-on-write"},
      {step::Base{"/s"}, "show '/s' in inodes of its own"},
      {step::FromBase{"a", "/o"}, "show 'a' in inodes of its own"},
      {step::Copy{"/s", "/o"}, "copy '/s'"},
      {step::Listen{80}, "hand out a listening socket"},
      {step::Sockets{1}, "hand out sockets"},
      {step::Edge{"192.0.2.2", "192.0.2.1"}, "give a sandbox a device"},
  };
  for (const auto& row : rows) {
    const Error error = ErrorOf({row.step});
    EXPECT_EQ(error.code, Errc::kFailedPrecondition) << row.what;
    EXPECT_THAT(error.what, AllOf(HasSubstr("bubblewrap"), HasSubstr(row.what)));
    EXPECT_THAT(error.hint, HasSubstr("--backend jail"));
  }
}

TEST(RenderTest, NothingIsMountedBelowATreeOfTheHost) {
  const step::Bind tree{"/home/ada", "/project"};
  for (const Step& below :
       {Step(step::Bind{"/s", "/project/a"}), Step(step::Bind{"/s", "/project"}),
        Step(step::Tmpfs{"/project/a/b"})}) {
    EXPECT_THAT(ErrorOf({tree, below}).what, HasSubstr("below '/project'"));
  }
  EXPECT_TRUE(Render(PlanOf({}, {tree, step::Tmpfs{"/project2"}}), "/i"))
      << "a name that only looks alike is another place";
}

TEST(RenderTest, HiddenNamesAreCoveredInATreeThatCannotBeWrittenTo) {
  const step::Bind tree{"/home/ada", "/project"};
  const std::vector<Step> hidden = {
      step::File{"/.igloo/hidden", "", 0}, step::File{"/.igloo/copies/0", "clean", 0444},
      step::Hide{.tree = "/project", .target = "/project/.env", .cover = "/.igloo/hidden"},
      step::Hide{.tree = "/project",
                 .target = "/project/keys",
                 .cover = "/.igloo/closed",
                 .fact = {.type = S_IFDIR}},
      step::Hide{.tree = "/project", .target = "/project/config", .cover = "/.igloo/copies/0"}};
  std::vector<Step> steps = {tree};
  steps.insert(steps.end(), hidden.begin(), hidden.end());
  const Command command = CommandOf(PlanOf({}, steps));
  const std::vector<std::string> expected = {
      "--ro-bind",      "/dev/null", "/project/.env", "--perms",        "0000",
      "--size",         "4096",      "--tmpfs",       "/project/keys",  "--remount-ro",
      "/project/keys",  "--perms",   "0444",          "--ro-bind-data", "18",
      "/project/config"};
  EXPECT_FALSE(std::ranges::search(command.argv, expected).empty())
      << ::testing::PrintToString(command.argv);
  ASSERT_GE(command.files.size(), 3U);
  EXPECT_EQ(command.files[2], Command::File{.content = "clean"});

  std::get<step::Bind>(steps.front()).access = Access::kReadWrite;
  EXPECT_THAT(ErrorOf(steps).what, HasSubstr("cannot hide '/project/.env' in a directory that"))
      << "bwrap would make a name there that has gone meanwhile";
}

TEST(RenderTest, WordsOfTheUserNeverBecomeOptions) {
  const Command command = CommandOf(PlanOf({}, {step::Symlink{"/l", "--bind"}}));
  EXPECT_EQ(command, Framed({"--symlink", "--bind", "/l"}))
      << "bwrap takes the words behind an option as they are";
}

TEST(ToShellTest, QuotesWordsAndFeedsFiles) {
  const Command command{.argv = {"--dir", "/a b", "--", "/.igloo/init"},
                        .files = {{.content = "it's"}, {.host_path = "/lib/igloo init"}}};
  EXPECT_EQ(ToShell(command),
            "bwrap \\\n"
            "  --dir '/a b' \\\n"
            "  -- /.igloo/init \\\n"
            "  16< <(printf %s 'it'\\''s') \\\n"
            "  17< '/lib/igloo init' \\\n"
            "  3<>CONTROL 4<STDIN 5>STDOUT 6>STDERR\n");
}

}  // namespace
}  // namespace igloo::backend::bubblewrap

// What the host environments show of /etc: on a machine whose /etc was laid out to give secrets
// away, and on this one. All of it can be read on the host by whoever runs the tests.

#include "environment/etc.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/temp_dir.h"
#include "environment/facts.h"
#include "environment/host.h"
#include "support/igloo.h"
#include "support/sandbox.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSecret = "the-host's-secret";

/// A host whose /etc is `directory()`, and a shell on it.
class EtcAttack : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::permissions(root_.path(), fs::perms(0755));
    fs::create_directory(directory());
  }
  std::string directory() const { return root_.path() + "/etc"; }

  void Write(const std::string& path, unsigned mode = 0644) const {
    const std::string file = directory() + "/" + path;
    fs::create_directories(fs::path(file).parent_path());
    std::ofstream(file) << kSecret << "\n";
    fs::permissions(file, fs::perms(mode));
  }
  void WriteMany(const std::string& path) const {
    for (const char* name : {"1", "2", "3", "4", "5"}) {
      const std::string file = directory() + "/" + path + "/" + name;
      fs::create_directories(fs::path(file).parent_path());
      std::ofstream(file) << "harmless\n";
    }
  }
  void Link(const std::string& path, const std::string& target) const {
    const std::string file = directory() + "/" + path;
    fs::create_directories(fs::path(file).parent_path());
    fs::create_symlink(target, file);
  }

  /// What `code` prints, output and errors, in the shell on this host.
  std::string Run(const std::string& code, const std::vector<sandbox::Entry>& more = {}) const {
    environment::HostLayout layout = environment::ReadHostLayoutFor("shell");
    layout.etc_directory = directory();
    layout.etc = environment::ReadEtc(directory());
    // Programs find their libraries as ever.
    auto environment = environment::MakeHostEnvironment("shell", layout).value();
    environment.contents.insert(environment.contents.end(), more.begin(), more.end());
    const auto policy =
        environment::PolicyForRun(environment, {.what = environment::Code{code}}).value();
    const auto plan =
        sandbox::MakePlan(policy, environment::GatherFacts(sandbox::SourcesOf(policy)));
    if (!plan) return "no plan: " + plan.error().what;
    Workbench bench(backend::jail::Mode::kCold);
    const auto result = bench.Run(*plan);
    if (!result) return "no run: " + result.error().what;
    return result->output.kept() + result->error.kept();
  }

 private:
  TempDir root_ = TempDir::Make(TempParent()).value();
};

/// All that a shell can be asked to print.
constexpr const char* kPrintAll =
    "shopt -s globstar dotglob nullglob\n"
    "for each in /etc/** /proc/self/root/etc/** /etc/fonts/../**; do cat \"$each\"; done 2>&1; "
    "true";

TEST_F(EtcAttack, FilesThatAreNotForEverybodyAreNotThere) {
  WriteMany("fonts");
  Write("fonts/key.pem", 0600);
  Write("fonts/group-only.pem", 0640);
  Write("fonts/closed/key.pem");
  fs::permissions(directory() + "/fonts/closed", fs::perms(0700));
  Write("matplotlibrc", 0600);
  const std::string said = Run(kPrintAll);
  EXPECT_THAT(said, HasSubstr("harmless")) << "the rest is there";
  EXPECT_THAT(said, Not(HasSubstr(kSecret)));
  // Control: who starts igloo can read them, and with the right to it so can a sandbox.
  EXPECT_THAT(ReadFile(directory() + "/fonts/key.pem", 100).value_or(""), HasSubstr(kSecret));
  fs::permissions(directory() + "/fonts/key.pem", fs::perms(0644));
  EXPECT_THAT(Run(kPrintAll), HasSubstr(kSecret));
}

TEST_F(EtcAttack, LinksLeadToNothingOfTheHost) {
  Write("shadow");
  WriteMany("ssl/private");
  Write("ssl/private/key.pem");
  WriteMany("fonts");
  Link("fonts/absolute", directory() + "/shadow");
  Link("fonts/relative", "../shadow");
  Link("fonts/far", "../../../../../../../.." + directory() + "/shadow");
  Link("ssl/certs", "private");
  Link("matplotlibrc", directory() + "/shadow");
  Link("python3.12", directory());
  const std::string said = Run(std::string(kPrintAll) +
                               "; cat /etc/fonts/{absolute,relative,far} /etc/matplotlibrc "
                               "/etc/ssl/certs/key.pem /etc/python3.12/shadow");
  EXPECT_THAT(said, HasSubstr("harmless"));
  EXPECT_THAT(said, HasSubstr("/etc/fonts/relative: No such file")) << "it is a link, to nothing";
  EXPECT_THAT(said, Not(HasSubstr(kSecret)));
  // Control: on the host each of them leads there.
  for (const char* link : {"fonts/absolute", "fonts/relative", "matplotlibrc", "python3.12/shadow",
                           "ssl/certs/key.pem"}) {
    EXPECT_THAT(ReadFile(directory() + "/" + link, 100).value_or(""), HasSubstr(kSecret)) << link;
  }
}

TEST_F(EtcAttack, WhatStandsBesideAShownDirectoryCannotBeReachedFromIt) {
  WriteMany("ssl/certs");
  Write("ssl/private/key.pem");
  Write("ssh/ssh_host_key");
  const std::string code =
      "cd /etc/ssl/certs && cat ../private/key.pem ../../ssh/ssh_host_key; ls /etc/ssl /etc; "
      "cat /proc/self/cwd/../private/key.pem; true";
  const std::string said = Run(code);
  EXPECT_THAT(said, Not(HasSubstr(kSecret)));
  EXPECT_THAT(said, Not(HasSubstr("private\n")));
  // Control: with one directory more it is reached.
  EXPECT_THAT(Run(code, {sandbox::HostTree{.source = directory() + "/ssl/private",
                                           .target = "/etc/ssl/private"}}),
              HasSubstr(kSecret));
}

/// This machine's own: what is not shown, and can be read by everybody outside.
TEST(EtcOfThisHost, NothingOfUsersHostsKeysAndServicesIsInside) {
  constexpr const char* kAll[] = {
      "passwd-",    "shadow",    "shadow-",  "group-",     "gshadow",     "sudoers",
      "subuid",     "subgid",    "hostname", "machine-id", "ssh",         "ssl/private",
      "fstab",      "mtab",      "crontab",  "cron.d",     "pam.d",       "security",
      "login.defs", "services",  "networks", "host.conf",  "environment", "profile",
      "profile.d",  "gitconfig", "npmrc",    "pip.conf",   "wgetrc",      "apt",
      "systemd",    "init.d",    "default",  "shells",     "timezone",    "localtime",
      "motd",       "issue",     "ldap",     "postgresql", "maven",       "adduser.conf"};
  std::string code = "cd /etc\n";
  int outside = 0;
  for (const char* name : kAll) {
    code += "[ -e '" + std::string(name) + "' ] || [ -L '" + name + "' ] && echo '" + name + "'\n";
    outside += ::access(("/etc/" + std::string(name)).c_str(), F_OK) == 0 ? 1 : 0;
  }
  EXPECT_GT(outside, 10) << "control: a machine has such files";
  EXPECT_EQ(Igloo({"run", "--env", "shell", code}).out, "");
}

/// Who is who inside is igloo's own, whatever the host has.
TEST(EtcOfThisHost, WhoIsWhoIsInvented) {
  const std::string code = "cat /etc/passwd /etc/group /etc/hosts /etc/resolv.conf";
  const std::string inside = Igloo({"run", "--env", "shell", code}).out;
  const std::string outside = RunProgram({.program = "/bin/sh", .args = {"-c", code}}).out;
  EXPECT_THAT(inside, HasSubstr("user:x:1000:1000:"));
  EXPECT_THAT(inside, Not(HasSubstr("daemon")));
  EXPECT_THAT(outside, HasSubstr("daemon")) << "control";
}

}  // namespace
}  // namespace igloo::testing

// Configurations that nobody should have written: an answer with the place, and nothing runs.

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "support/configured.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;
namespace json = boost::json;

class BadConfig : public Configured {
 protected:
  /// Every command that reads the file says the same and does nothing else.
  void ExpectRefused(const std::string& what, const std::string& hint) const {
    const std::vector<std::vector<std::string>> commands = {
        {"run", "--env", "shell", "echo ran"},
        {"run", "--env", "shell", "--dry-run", "echo ran"},
        {"shell", "--env", "shell", "--dry-run"},
        {"env", "list"},
        {"env", "show", "shell"}};
    for (const auto& command : commands) {
      const Outcome outcome = Run(command);
      EXPECT_EQ(outcome.status, 125) << command[0] << ": " << what;
      EXPECT_EQ(outcome.out, "");
      EXPECT_THAT(outcome.err, AllOf(HasSubstr(what), HasSubstr("hint: "), HasSubstr(hint)))
          << command[0];
    }
    const Outcome as_json = Run({"run", "--env", "shell", "--json", "echo ran"});
    EXPECT_EQ(as_json.status, 125);
    const json::value document = json::parse(as_json.out);
    EXPECT_EQ(document.at("verdict"), "error");
    EXPECT_THAT(std::string(document.at("error").at("what").as_string()), HasSubstr(what));
  }
  /// The same for a text, whose mistake stands at `place` ("2:1").
  void ExpectWrong(std::string_view text, const std::string& place, const std::string& what,
                   const std::string& hint) const {
    const std::string file = Write(kUsual, text);
    ExpectRefused(file + ":" + place + ": " + what, hint);
  }
};

TEST_F(BadConfig, IsADirectory) {
  fs::create_directories(Path(kUsual));
  ExpectRefused("the configuration '" + Path(kUsual) + "' is a directory", "name a file");
}

TEST_F(BadConfig, CannotBeRead) {
  const std::string file = Write(kUsual, "");
  ASSERT_EQ(::chmod(file.c_str(), 0), 0);
  if (RunningAsRoot()) {
    EXPECT_EQ(Run({"run", "--env", "shell", "echo ran"}).out, "ran\n") << "root reads everything";
    return;
  }
  ExpectRefused("cannot open the configuration '" + file + "': Permission denied", "chmod u+r");
}

TEST_F(BadConfig, IsAPipeThatNobodyWritesTo) {
  fs::create_directories(fs::path(Path(kUsual)).parent_path());
  ASSERT_EQ(::mkfifo(Path(kUsual).c_str(), 0600), 0);
  ExpectRefused("is not a regular file", "put a plain file there");
}

TEST_F(BadConfig, HasAHundredMegabytes) {
  const std::string file = Write(kUsual, "");
  ASSERT_EQ(::truncate(file.c_str(), 100L << 20), 0);
  ExpectRefused("is larger than 1 MB", "is it the right file?");
}

TEST_F(BadConfig, WasNamedAndIsNotThere) {
  for (const auto& [args, env] : {std::pair<std::vector<std::string>, std::vector<std::string>>{
                                      {"--config", "/nonexistent"}, {}},
                                  {{}, {"IGLOO_CONFIG=/nonexistent"}}}) {
    for (std::vector<std::string> command :
         {std::vector<std::string>{"run", "--env", "shell", "echo ran"}, {"env", "list"}}) {
      command.insert(command.begin() + 1, args.begin(), args.end());
      const Outcome outcome = Run(command, env);
      EXPECT_EQ(outcome.status, 125);
      EXPECT_EQ(outcome.out, "");
      EXPECT_THAT(outcome.err, HasSubstr("cannot open the configuration '/nonexistent'"));
    }
  }
}

TEST_F(BadConfig, IsHalfWritten) {
  for (const char* text : {"[defaults]\ntimeout_seco", "[environments.e]\npreset = \"shel",
                           "[environments.e]\nenv = { A = '1', "}) {
    const std::string file = Write(kUsual, text);
    ExpectRefused(file + ":2:", "was it written completely?");
  }
}

TEST_F(BadConfig, HasUnknownKeys) {
  ExpectWrong("[defaults]\ntimeout = 60\n", "2:1", "unknown key 'timeout' in [defaults]",
              "did you mean 'timeout_seconds'?");
  ExpectWrong("[default]\n", "1:2", "there is no section 'default'", "did you mean 'defaults'?");
}

TEST_F(BadConfig, HasWrongTypes) {
  ExpectWrong("[defaults]\nmemory_mb = '512'\n", "2:13", "'memory_mb' cannot be text",
              "write whole megabytes from 16 to 1048576, for example memory_mb = 512");
  ExpectWrong("[environments.e]\npreset = ['shell']\n", "2:10", "'preset' cannot be a list",
              "for example preset = \"python\"");
  ExpectWrong("environments = 3\n", "1:16", "'environments' is a section", "[environments]");
}

TEST_F(BadConfig, HasLimitsBeyondSense) {
  for (const char* number : {"0", "-1", "9999999999999", "nan", "-0.5"}) {
    const std::string line = "timeout_seconds = " + std::string(number);
    ExpectWrong("[defaults]\n" + line + "\n", "2:19", "'timeout_seconds' cannot be",
                "seconds above 0 and up to 86400");
  }
  for (const char* number : {"0", "-1", "15", "9223372036854775807"}) {
    const std::string line = "memory_mb = " + std::string(number);
    ExpectWrong("[environments.shell]\n" + line + "\n", "2:13", "'memory_mb' cannot be",
                "whole megabytes from 16 to 1048576");
  }
  ExpectWrong("[limits]\nprocesses = 0\n", "2:13", "'processes' cannot be 0",
              "a whole number from 1 to 1000000");
  ExpectWrong("[limits]\ndisk_mb = 99999999999999999999\n", "2:31", "error while parsing", "TOML");
}

TEST_F(BadConfig, LimitsBeyondSenseOnTheCommandLine) {
  for (const char* command : {"run", "shell"}) {
    for (const char* number : {"0", "-1", "1e300", "99999999999999999999", "inf", ""}) {
      for (const char* flag : {"--timeout=", "--memory="}) {
        const Outcome outcome =
            Run({command, "--env", "shell", std::string(flag) + number, "--dry-run", "--", "true"});
        EXPECT_EQ(outcome.status, 125) << flag << number;
        EXPECT_EQ(outcome.out, "");
        EXPECT_THAT(outcome.err, HasSubstr("hint: write "));
      }
    }
  }
}

TEST_F(BadConfig, NamesAnEnvironmentTwice) {
  ExpectWrong("[environments.e]\npreset = 'shell'\n[environments.e]\npreset = 'node'\n", "3:1",
              "error while parsing table header: cannot redefine existing table 'environments.e'",
              "keep one, or give this one another name");
  Write(kUsual, "[environments.app]\npreset = 'shell'\n");
  Write("p/igloo.toml", "[environments.app]\npreset = 'python'\n");
  ASSERT_EQ(Run({"trust", Path("p")}).status, 0);
  const Outcome both = Run({"run", "--env", "app", "--project", Path("p"), "echo ran"});
  EXPECT_EQ(both.status, 125);
  EXPECT_THAT(both.err,
              AllOf(HasSubstr(Path("p/igloo.toml") + ":1:15: environment 'app' is already"),
                    HasSubstr("configured at " + Path(kUsual) + ":1:15"), HasSubstr("hint: ")));
}

TEST_F(BadConfig, HasAliasesThatLeadNowhere) {
  ExpectWrong("[environments.a]\nalias = 'b'\n[environments.b]\nalias = 'a'\n", "1:15",
              "aliases go round in a circle: a -> b -> a", "let one of them say");
  ExpectWrong("[environments.a]\nalias = 'pyton'\n", "1:15",
              "environment 'a' is an alias of 'pyton', which does not exist",
              "did you mean 'python'?");
}

TEST_F(BadConfig, WhatIsNotAvailableIsRefusedWhereItIsUsedAndNothingStandsIn) {
  Write(kUsual,
        "[environments.web]\npreset = 'shell'\nsessions = false\n[environments.vm]\n"
        "preset = 'shell'\nbackend = 'container'\n");
  for (const char* name : {"web", "vm"}) {
    const Outcome outcome = Run({"run", "--env", name, "echo ran"});
    EXPECT_EQ(outcome.status, 125) << name;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(Path(kUsual) + ":"), HasSubstr("not available yet")));
  }
  EXPECT_EQ(Run({"run", "--env", "shell", "echo on"}).out, "on\n");
  const Outcome list = Run({"env", "list"});
  EXPECT_THAT(list.out, HasSubstr("Not available:\n"));
  EXPECT_THAT(Run({"run", "--env", "web", "echo ran"}).err,
              HasSubstr(":3:1: 'environments.web.sessions' is not available yet"));
}

}  // namespace
}  // namespace igloo::testing

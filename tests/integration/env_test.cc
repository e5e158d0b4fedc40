// Environments: what is offered, what is inside, and artifacts from disk.

#include <gmock/gmock.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
namespace fs = std::filesystem;
namespace json = boost::json;

/// Runs `code` for real; what the environment needs is in packages.txt.
void ExpectRuns(const std::string& name, const std::string& code, const std::string& output) {
  const Outcome run = Igloo({"run", "--env", name, code});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, output);
  EXPECT_THAT("\n" + Igloo({"env", "list", "--names"}).out, HasSubstr("\n" + name + "\n"));
}

TEST(Environments, GoRuns) {
  ExpectRuns("go", "package main\nimport \"fmt\"\nfunc main() { fmt.Println(6 * 7) }\n", "42\n");
}

TEST(Environments, RustRuns) {
  ExpectRuns("rust", "fn main() { println!(\"{}\", 6 * 7); }\n", "42\n");
}

TEST(Environments, JavaRuns) {
  ExpectRuns("java",
             "public class Main { public static void main(String[] a) {\n"
             "  System.out.println(java.util.stream.IntStream.range(0, 10)"
             ".sum()); } }\n",
             "45\n");
}

TEST(Environments, RubyRuns) {
  ExpectRuns("ruby", "require 'json'\nputs JSON.generate((0...10).sum) if __FILE__ == $0\n",
             "45\n");
}

TEST(Environments, PerlRuns) {
  ExpectRuns("perl", "use strict; use List::Util 'sum'; print sum(0 .. 9), \"\\n\";\n", "45\n");
}

TEST(Environments, NetworkToolsRun) {
  ExpectRuns("network-tools",
             "ip -o link | wc -l; curl -s --max-time 5 http://192.0.2.1/; "
             "echo $?",
             "1\n7\n");
}

TEST(Environments, AliasesAreTheSameEnvironment) {
  EXPECT_EQ(Igloo({"run", "--env", "bash", "echo $((6 * 7))"}).out, "42\n");
  EXPECT_EQ(Igloo({"run", "--env", "python3", "print(42)"}).out, "42\n");
  EXPECT_EQ(Igloo({"run", "--env", "javascript", "console.log(42)"}).out, "42\n");
  EXPECT_EQ(Igloo({"run", "--env", "js", "console.log(42)"}).out, "42\n");
  EXPECT_EQ(Igloo({"run", "--env", "rb", "p 42"}).out, "42\n");
}

TEST(EnvList, ShowsEveryPresetInItsOrder) {
  const Outcome outcome = Igloo({"env", "list", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json::value document = json::parse(outcome.out);
  std::vector<std::string> names;
  for (const json::value& each : document.at("environments").as_array()) {
    names.emplace_back(each.at("name").as_string());
    EXPECT_NE(each.at("description").as_string(), "");
    if (!each.at("available").as_bool()) {
      EXPECT_THAT(std::string(each.at("error").at("hint").as_string()),
                  ::testing::AnyOf(HasSubstr("sudo apt install"), HasSubstr("igloo env pull")));
    }
  }
  EXPECT_THAT(names, ::testing::ElementsAre("shell", "python", "node", "go", "rust", "java", "ruby",
                                            "perl", "network-tools", "apisix"));
}

TEST(EnvShow, SaysWhatIsInside) {
  const Outcome text = Igloo({"env", "show", "js"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("name         node\n"), HasSubstr("also         javascript, js\n"),
                    HasSubstr("code         /usr/bin/node main.js\n"),
                    HasSubstr("memory       512 MB\n"), HasSubstr("read-only    /usr\n")));
  const json::value document = json::parse(Igloo({"env", "show", "python", "--json"}).out);
  EXPECT_EQ(document.at("provider"), "host");
  EXPECT_EQ(document.at("interpreter"), (json::array{"/usr/bin/python3"}));
  EXPECT_EQ(document.at("variables").at("PYTHONPATH"), "/run/igloo/.python:/workspace");
  EXPECT_EQ(document.at("conveniences"), true);
  EXPECT_EQ(document.at("limits").at("time_ms"), 30'000);
  EXPECT_EQ(document.at("sources").as_array().front(),
            (json::value{{"source", "/usr"}, {"target", "/usr"}}));
}

TEST(EnvCommand, AnswersMistakesWithAdvice) {
  const auto expect = [](std::vector<std::string> args, const std::string& what) {
    const Outcome outcome = Igloo(std::move(args));
    EXPECT_EQ(outcome.status, 125);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, AllOf(StartsWith("igloo: "), HasSubstr(what)));
  };
  expect({"env"}, "'igloo env list', 'igloo env show'");
  expect({"env", "lsit"}, "did you mean 'list'?");
  expect({"env", "list", "python"}, "igloo env show python");
  expect({"env", "show"}, "takes the name of one environment");
  expect({"env", "show", "pyton"}, "did you mean 'python'?");
  expect({"env", "pull", "docker.io/library/debian:12", "--name", "a]b"}, "cannot be a name");
  expect({"env", "pull", "/a \"b\""}, R"(image = "/a \"b\"")");
}

TEST(Memory, IsTheRunsOwnLimit) {
  const std::string code = "x = bytearray(200 << 20); print(len(x) >> 20)";
  EXPECT_EQ(Igloo({"run", "--env", "python", code}).out, "200\n") << "control";
  // Where there is no cgroup it is noticed a moment later, so the code stays.
  const Outcome little = Igloo({"run", "--env", "python", "--memory", "64", "--timeout", "100",
                                code + "; import time; time.sleep(1000)"});
  EXPECT_EQ(little.status, 137);
  EXPECT_THAT(little.err, HasSubstr("used more than its 64 MB of memory"));
  for (const char* wrong : {"0", "-1", "15", "2000000", "1G", ""}) {
    const Outcome outcome =
        Igloo({"run", "--env", "python", std::string("--memory=") + wrong, "1"});
    EXPECT_EQ(outcome.status, 125) << wrong;
    EXPECT_THAT(outcome.err, HasSubstr("from 16 to 1048576"));
  }
}

TEST(Network, WhatContradictsItselfIsRefused) {
  EXPECT_EQ(Igloo({"run", "--env", "shell", "--network", "none", "echo ok"}).out, "ok\n");
  const auto refused = [](std::vector<std::string> flags) {
    std::vector<std::string> args = {"run", "--env", "shell"};
    args.insert(args.end(), flags.begin(), flags.end());
    args.emplace_back("echo ran");
    const Outcome outcome = Igloo(args);
    EXPECT_EQ(outcome.status, 125) << outcome.out;
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  EXPECT_THAT(refused({"--network", "bridge"}), HasSubstr("choose none, allow, internet or host"));
  EXPECT_THAT(refused({"--network", "none", "--allow", "example.org"}),
              HasSubstr("rules are of no use with the network 'none'"));
  EXPECT_THAT(refused({"--secret", "KEY=env:HOME@example.org:X-Key"}),
              HasSubstr("secrets need igloo's proxy"));
  EXPECT_THAT(refused({"--allow", "example.org", "--secret", "KEY=env:HOME@example.org"}),
              HasSubstr("write --secret KEY=SOURCE@example.org:Authorization"));
  EXPECT_THAT(refused({"--network", "host", "--reach", "80"}), HasSubstr("has all ports"));
  EXPECT_THAT(refused({"--allow", "example.org", "--secret", "KEY=NOT_SET_HERE@example.org:X-Key"}),
              HasSubstr("the secret 'KEY': your variable 'NOT_SET_HERE' is not set"));
}

TEST(Network, NoSecretStandsInAPlan) {
  const std::vector<std::string> text = {
      "run",     "--env",       "shell",    "--dry-run",
      "--allow", "example.org", "--secret", "KEY=command:printf hunter2@example.org:X-Key",
      "true"};
  std::vector<std::string> as_json = text;
  as_json.emplace_back("--json");
  for (const auto& args : {text, as_json}) {
    const Outcome outcome = Igloo(args);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out + outcome.err, ::testing::Not(HasSubstr("hunter2")));
    EXPECT_THAT(outcome.out, HasSubstr("igloo-placeholder-KEY-0000"));
    EXPECT_THAT(outcome.out, HasSubstr("http://127.0.0.1:3128/https/example.org"));
  }
}

/// A store in a directory of the test's, and artifacts that need it.
class Artifacts : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::permissions(directory_.path(), fs::perms(0755));
    for (const std::string& program : {python_ + "/bin/python3", shell_ + "/bin/bash"}) {
      fs::create_directories(fs::path(store_ + program).parent_path());
      fs::copy_file(BinDirectory() + "/igloo-test-interpreter", store_ + program);
    }
    fs::create_directories(store_ + other_);
    fs::create_directories(place_);
  }

  /// What mkSandbox of old wrote, with programs that leave a mark on whoever starts them.
  void Add(const std::string& name, const std::string& more) {
    const std::string directory = place_ + "/of-" + name;
    fs::create_directories(directory + "/bin");
    std::ofstream(directory + "/metadata.json") << "{\"name\":\"" + name + "\"," + more + "}";
    for (const char* program : {"run", "session-run"}) {
      std::ofstream(directory + "/bin/" + program)
          << "#!/bin/sh\ntouch " + directory_.path() + "/executed\n";
      fs::permissions(directory + "/bin/" + program, fs::perms(0755));
    }
  }
  void AddGood(const std::string& name) {
    Add(name, R"("interpreter_type":"python","timeout_seconds":7,"memory_mb":64,)"
              R"("env":{"GREETING":"hello"},"exec":")" +
                  place_ + R"(/of-x/bin/run","store_prefix":")" + store_ + R"(","closure":[")" +
                  python_ + R"(",")" + shell_ + "\"]");
  }

  Outcome Run(std::vector<std::string> args) {
    return RunProgram(
        {.program = BinDirectory() + "/igloo",
         .args = std::move(args),
         .env = {"PATH=/usr/bin:/bin", "HOME=/nonexistent", "NIX_SANDBOX_DIR=" + place_}});
  }

  void TearDown() override {
    EXPECT_FALSE(fs::exists(directory_.path() + "/executed"))
        << "SECURITY: nothing of an artifact is executed on the host";
  }

  static std::string StorePath(char letter, const char* name) {
    return "/nix/store/" + std::string(32, letter) + "-" + name;
  }

  TempDir directory_ = TempDir::Make(TempParent()).value();
  std::string place_ = directory_.path() + "/sandboxes", store_ = directory_.path() + "/prefix";
  std::string python_ = StorePath('a', "python3"), shell_ = StorePath('b', "bash"),
              other_ = StorePath('c', "not-in-the-closure");
};

TEST_F(Artifacts, RunTheirOwnInterpreterInTheirClosureAndNothingElse) {
  AddGood("science");
  const Outcome outcome = Run({"run", "--env", "science",
                               "say it runs\nvariable GREETING\nvariable PATH\nlist /nix/store\n"
                               "list /usr/bin\nlist /bin\nlist /usr/lib\nlist /home\n"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("it runs\nhello\n" + python_ + "/bin:" + shell_ + "/bin\n"));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(python_ + "\n"), HasSubstr(shell_ + "\n")));
  EXPECT_THAT(outcome.out, Not(HasSubstr(other_))) << "it is in the store, not in the closure";
  EXPECT_THAT(outcome.out, HasSubstr("no /usr/bin\n/bin/sh\nno /usr/lib\nno /home\n"));
}

TEST_F(Artifacts, BeatThePresetOfTheirName) {
  const std::string code = "say own";
  EXPECT_THAT(Run({"run", "--env", "python", code}).err, HasSubstr("SyntaxError")) << "control";
  AddGood("python");
  for (const char* name : {"python", "python3"}) {
    const Outcome outcome = Run({"run", "--env", name, code});
    EXPECT_EQ(outcome.out, "own\n") << outcome.err;
  }
  const Outcome list = Run({"env", "list"});
  EXPECT_THAT(list.out, HasSubstr("\npython         artifact"));
}

TEST_F(Artifacts, BringTheirLimits) {
  AddGood("science");
  const json::value document = json::parse(Run({"env", "show", "science", "--json"}).out);
  EXPECT_EQ(document.at("provider"), "artifact");
  EXPECT_EQ(document.at("limits").at("time_ms"), 7000);
  EXPECT_EQ(document.at("limits").at("memory_bytes"), 64 << 20);
  EXPECT_EQ(document.at("sources").as_array().front(),
            (json::value{{"source", store_ + python_}, {"target", python_}}));
  EXPECT_THAT(Run({"run", "--env", "science", "--dry-run", ""}).out, HasSubstr("time       7 s"));
}

TEST_F(Artifacts, OldOnesAreListedWithTheWayToRebuildThem) {
  Add("old", R"("interpreter_type":"bash")");
  const Outcome list = Run({"env", "list"});
  EXPECT_EQ(list.status, 0);
  EXPECT_THAT(list.out, AllOf(HasSubstr("does not say which store paths it needs"),
                              HasSubstr("nix build YOUR-FLAKE#old -o " + place_ + "/of-old")));
  const Outcome run = Run({"run", "--env", "old", "say x"});
  EXPECT_EQ(run.status, 125);
  EXPECT_THAT(run.err, HasSubstr("nix build"));
}

TEST_F(Artifacts, BadOnesAreNamedAndSkipped) {
  Add("ruby", R"("interpreter_type":"ruby")");
  AddGood("science");
  const Outcome list = Run({"env", "list"});
  EXPECT_EQ(list.status, 0);
  EXPECT_THAT(list.out, HasSubstr("\nscience        artifact"));
  EXPECT_THAT(list.err, AllOf(HasSubstr("skipped '" + place_ + "/of-ruby'"),
                              HasSubstr("Must be one of: python, bash, node")));
  const json::value document = json::parse(Run({"env", "list", "--json"}).out);
  EXPECT_EQ(document.at("problems").as_array().size(), 1U);
  EXPECT_EQ(Run({"run", "--env", "science", "say on"}).out, "on\n");
}

TEST_F(Artifacts, CannotReachOutOfTheStore) {
  Add("thief", R"("interpreter_type":"bash","closure":["/etc"])");
  Add("climber", R"("interpreter_type":"bash","closure":["/nix/store/../../etc"])");
  const std::string link = StorePath('d', "link");
  fs::create_symlink("/etc", store_ + link);
  Add("linker", R"("interpreter_type":"bash","store_prefix":")" + store_ + R"(","closure":[")" +
                    shell_ + R"(",")" + link + "\"]");
  EXPECT_EQ(Run({"run", "--env", "thief", "say x"}).status, 125);
  EXPECT_EQ(Run({"run", "--env", "climber", "say x"}).status, 125);
  const Outcome linked = Run({"run", "--env", "linker", "list " + link});
  EXPECT_EQ(linked.status, 0) << linked.err;
  EXPECT_THAT(linked.out, HasSubstr(link + "/passwd\n")) << "control: it is the sandbox's own /etc";
  EXPECT_THAT(linked.out, Not(HasSubstr("shadow")));
}

}  // namespace
}  // namespace igloo::testing

// Completion scripts and the manual, as igloo itself writes them.

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

/// What bash offers behind these words, the last of which is being typed.
std::vector<std::string> Offered(const std::vector<std::string>& words) {
  const std::string driver =
      "PATH=$1:$PATH; source <(igloo completion bash) || exit 9; shift\n"
      "COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); compopt() { :; }\n"
      "_igloo igloo; printf '%s\\n' \"${COMPREPLY[@]}\"";
  Invocation invocation{.program = "/bin/bash", .args = {"-c", driver, "bash", BinDirectory()}};
  invocation.args.insert(invocation.args.end(), words.begin(), words.end());
  const Outcome outcome = RunProgram(invocation);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  std::vector<std::string> offered;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) offered.push_back(line);
  }
  return offered;
}

TEST(Completion, IsABashScript) {
  const Outcome script = Igloo({"completion", "bash"});
  EXPECT_EQ(script.status, 0);
  const Outcome checked = RunProgram({.program = "/bin/bash", .args = {"-n"}, .input = script.out});
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_EQ(checked.err, "");
}

TEST(Completion, OffersCommandsFlagsAndValues) {
  EXPECT_THAT(Offered({"igloo", ""}),
              IsSupersetOf({"run", "shell", "env", "doctor", "completion", "man", "--help"}));
  EXPECT_THAT(Offered({"igloo", "do"}), ElementsAre("doctor"));
  EXPECT_THAT(Offered({"igloo", "run", "--me"}), ElementsAre("--memory"));
  EXPECT_THAT(Offered({"igloo", "run", "--backend", ""}),
              ElementsAre("jail", "bubblewrap", "microvm"));
  EXPECT_THAT(Offered({"igloo", "run", "--backend", "=", "b"}), ElementsAre("bubblewrap"));
  EXPECT_THAT(Offered({"igloo", "env", ""}), IsSupersetOf({"list", "show", "--json"}));
  EXPECT_THAT(Offered({"igloo", "completion", "f"}), ElementsAre("fish"));
  EXPECT_THAT(Offered({"igloo", "mcp", "in"}), ElementsAre("install"));
  EXPECT_THAT(Offered({"igloo", "mcp", "install", "c"}),
              ElementsAre("claude-code", "claude-desktop", "codex", "cursor"));
  EXPECT_THAT(Offered({"igloo", "run", "--timeout", ""}), ElementsAre());
  EXPECT_THAT(Offered({"igloo", "run", "--project", "/us"}), ElementsAre("/usr"));
  EXPECT_THAT(Offered({"igloo", "run", "--env", "shell", "--", "l"}), ElementsAre());
}

TEST(Completion, OffersTheEnvironmentsOfThisMachine) {
  EXPECT_THAT(Offered({"igloo", "run", "--env", "sh"}), ElementsAre("shell"));
  EXPECT_THAT(Offered({"igloo", "shell", "--env", "=", "py"}), ElementsAre("python"));
  EXPECT_THAT(Offered({"igloo", "env", "show", "no"}), ElementsAre("node"));
}

TEST(Completion, KnowsTwoOtherShells) {
  const Outcome zsh = Igloo({"completion", "zsh"});
  EXPECT_EQ(zsh.status, 0);
  EXPECT_THAT(zsh.out, AllOf(HasSubstr("#compdef igloo\n"), HasSubstr("_igloo_environments")));
  const Outcome fish = Igloo({"completion", "fish"});
  EXPECT_EQ(fish.status, 0);
  EXPECT_THAT(fish.out, HasSubstr("complete -c igloo -n __fish_use_subcommand -a run"));
  // Their own parsers have the last word where they are installed.
  for (const auto& [program, script] :
       {std::pair{"/usr/bin/zsh", zsh.out}, {"/usr/bin/fish", fish.out}}) {
    if (::access(program, X_OK) != 0) continue;
    const TempDir directory = TempDir::Make(TempParent()).value();
    std::ofstream(directory.path() + "/script") << script;
    const Outcome checked =
        RunProgram({.program = program, .args = {"-n", directory.path() + "/script"}});
    EXPECT_EQ(checked.status, 0) << checked.err;
  }
  const Outcome other = Igloo({"completion", "powershell"});
  EXPECT_EQ(other.status, 125);
  EXPECT_THAT(other.err, HasSubstr("igloo completion bash"));
}

TEST(ManualPage, HasEveryCommandWithItsOptions) {
  const Outcome page = Igloo({"man"});
  EXPECT_EQ(page.status, 0);
  for (const char* part :
       {".TH IGLOO 1", ".SH NAME", ".SS igloo run", ".SS igloo shell", ".SS igloo env",
        ".SS igloo mcp", ".SS igloo doctor", ".SS igloo completion",
        "\\fB\\-\\-memory\\fR \\fIMB\\fR", ".SH EXIT STATUS"}) {
    EXPECT_THAT(page.out, HasSubstr(part));
  }
  // Every line that begins like a request is one that man pages have.
  std::istringstream lines(page.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || (line[0] != '.' && line[0] != '\'')) continue;
    EXPECT_THAT(line.substr(0, line.find(' ')),
                ::testing::AnyOf(".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".I", ".nf", ".fi"))
        << line;
  }
}

}  // namespace
}  // namespace igloo::testing

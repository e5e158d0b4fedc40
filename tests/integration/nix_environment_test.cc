// Environments that Nix makes of flakes: what they are made of, and what is said when that fails.

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "support/host.h"
#include "support/mcp.h"
#include "support/nix.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
namespace fs = std::filesystem;

constexpr std::string_view kTools = R"nix({
  packages.${system} = rec {
    default = hello;
    hello = program "hello" "echo hello from nix";
    broken = pkgs.runCommand "broken" { } "echo the builder tried >&2; false || exit 3";
    unwritten = throw "the author did not write it";
  };
  legacyPackages.${system} = {
    older = program "older" "echo older";
    nested.inner = program "inner" "echo inner";
    text = "just text";
  };
})nix";

/// How long the builder of `slow` sleeps: a number that no other program has in its command line.
std::string Long() { return std::to_string(100'000'000L + ::getpid()); }

class NixEnvironment : public WithNix {
 protected:
  void SetUp() override {
    WithNix::SetUp();
    WriteFlake("tools", kTools);
  }
  /// An environment 'x' made of `reference`, with more of its keys.
  void Made(const std::string& reference, const std::string& more = "") const {
    Configure("[environments.x]\nflake = \"" + reference + "\"\n" + more);
  }
  Outcome Run(const std::string& code) const { return Igloo({"run", "--env", "x", code}); }
};

TEST_F(NixEnvironment, APackageRunsWithNothingButItsClosure) {
  Made(Flake("tools") + "#hello");
  EXPECT_THAT(Listed("x"),
              AllOf(HasSubstr("\"available\":false"), HasSubstr("has not been built yet"),
                    HasSubstr("igloo env build x")));
  const Outcome run = Run("hello; ls /; ls -d /nix/store/*hello* | wc -l; ls /usr/bin");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("hello from nix\n"), HasSubstr("\nnix\n"), HasSubstr("\n1\nenv\n")));
  EXPECT_THAT(run.err, IsEmpty()) << "quiet where nobody looks";
  EXPECT_THAT(Listed("x"),
              AllOf(HasSubstr("\"available\":true"), HasSubstr("\"provider\":\"flake\""),
                    HasSubstr("\"source\":\"" + Flake("tools") + "#hello\""),
                    HasSubstr("\"locked\":\"path:" + Path("tools") + " at sha256-")));
  EXPECT_THAT(
      Igloo({"env", "show", "x"}).out,
      AllOf(HasSubstr("flake        " + Flake("tools") + "#hello\n"), HasSubstr("\nlocked ")));
}

TEST_F(NixEnvironment, AttributesAreLookedForAsInTheOriginal) {
  for (const auto& [attribute, program] : std::map<std::string, std::string>{
           {"", "hello"},
           {"#older", "older"},
           {"#nested.inner", "inner"},
           {"#legacyPackages." + System() + ".nested.inner", "inner"}}) {
    Made(Flake("tools") + attribute);
    const Outcome run = Run(program);
    EXPECT_EQ(run.status, 0) << attribute << run.err;
  }
  Made(Flake("tools") + "#missing");
  EXPECT_THAT(Run("true").err,
              HasSubstr("Package 'missing' not found in flake (tried packages." + System() +
                        ".missing, legacyPackages." + System() + ".missing)"));
  Made(Flake("tools") + "#text");
  EXPECT_THAT(Run("true").err, HasSubstr("'text' is no package"));
}

TEST_F(NixEnvironment, NixsOwnLastLinesSayWhatIsWrong) {
  Made(Flake("tools") + "#broken");
  const Outcome run = Run("true");
  EXPECT_EQ(run.status, 125);
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("building environment 'x'"), HasSubstr("the builder tried")));
  EXPECT_THAT(Listed("x"), AllOf(HasSubstr("\"available\":false"), HasSubstr("could not be built"),
                                 HasSubstr("the builder tried"), HasSubstr("igloo env build x")));
  EXPECT_THAT(Igloo({"env", "list"}).out, HasSubstr("the builder tried"));

  Made(Flake("tools") + "#unwritten");
  EXPECT_THAT(Run("true").err, HasSubstr("the author did not write it"));

  Write("tools/flake.nix", "{ outputs = { self }: { packages = ; }; }");
  Made(Flake("tools") + "#hello");
  EXPECT_THAT(Run("true").err, HasSubstr("syntax error"));
  // The others do not mind.
  EXPECT_EQ(Igloo({"run", "--env", "shell", "echo fine"}).out, "fine\n");
}

TEST_F(NixEnvironment, NothingIsStartedWhenNothingChanged) {
  CountCalls();
  Made(Flake("tools") + "#hello");
  EXPECT_EQ(Run("hello").out, "hello from nix\n");
  const int calls = Calls();
  EXPECT_GT(calls, 0);
  EXPECT_EQ(Run("hello").out, "hello from nix\n");
  EXPECT_EQ(Igloo({"env", "build"}).status, 0);
  EXPECT_THAT(Listed("x"), HasSubstr("\"available\":true"));
  EXPECT_EQ(Calls(), calls) << Read("calls");
  // What is pinned stays what it is, whatever becomes of the flake.
  WriteFlake("tools", R"nix({ packages.${system}.hello = program "hello" "echo another"; })nix");
  EXPECT_EQ(Run("hello").out, "hello from nix\n");
  EXPECT_EQ(Calls(), calls);
  // Another reference is another environment.
  Made(Flake("tools") + "#older");
  EXPECT_THAT(Listed("x"), HasSubstr("\"available\":false"));
}

TEST_F(NixEnvironment, AnOutputThatIsAnArtifactIsUsedAsItIs) {
  WriteFlake("art", R"nix({
    packages.${system}.default = pkgs.runCommand "art" { } ''
      mkdir -p $out/bin
      echo '{"name":"inner","interpreter_type":"bash","description":"of its own","timeout_seconds":7,
             "memory_mb":64,"root":"${pkgs.bash}","closure":["${pkgs.bash}","${pkgs.tools}"]}' > $out/metadata.json
    '';
  })nix");
  Configure("[defaults]\ntimeout_seconds = 99\n[environments.x]\nflake = \"" + Flake("art") +
            "\"\n");
  const Outcome run = Run("echo ran");
  EXPECT_EQ(run.out, "ran\n") << run.err;
  EXPECT_THAT(Listed("x"), HasSubstr("of its own"));
  EXPECT_THAT(Igloo({"env", "show", "x"}).out, HasSubstr("time         7 s"));
}

TEST_F(NixEnvironment, TheInterpreterIsTheConfiguredOne) {
  WriteFlake("lang", R"nix({ packages.${system}.default = pkgs.runCommand "lang" { } ''
    mkdir -p $out/bin
    printf '#!%s\nshift; echo "argument: $1"\n' ${pkgs.runtimeShell} > $out/bin/speak
    printf '#!%s\nprintf "input: "; cat\n' ${pkgs.runtimeShell} > $out/bin/listen
    chmod 755 $out/bin/*
  ''; })nix");
  Made(Flake("lang"), "interpreter = \"speak -e\"\n");
  EXPECT_EQ(Run("a 'b'  c").out, "argument: a 'b'  c\n");
  Made(Flake("lang"), "interpreter = \"listen\"\n");
  EXPECT_EQ(Run("a 'b'  c").out, "input: a 'b'  c");
  Made(Flake("lang"), "interpreter = \"bash -s\"\n");
  EXPECT_EQ(Run("echo $((6 * 7))").out, "42\n");
}

TEST_F(NixEnvironment, AFlakeWithoutAPackageSetGetsIgloos) {
  Write("bare/flake.nix",
        "{ outputs = { self }: { packages." + System() +
            ".default = derivation { name = \"bare\"; system = \"" + System() +
            "\"; builder = \"${self}/busybox\"; args = [ \"sh\" \"-c\" \"\n"
            "${self}/busybox mkdir -p $out/bin\n"
            "${self}/busybox cp ${self}/busybox $out/bin/busybox\nexit 0\" ]; }; }; }\n");
  fs::copy_file("/bin/busybox", Path("bare/busybox"));
  Made(Flake("bare"));
  const Outcome run = Run("busybox echo made");
  EXPECT_EQ(run.out, "made\n") << run.err;
  EXPECT_THAT(Read(".local/state/igloo/nix/x/flake/flake.lock"), HasSubstr("\"nixpkgs\""));
}

TEST_F(NixEnvironment, AnInterruptedBuildLeavesNothingHalf) {
  WriteFlake("slow", "{ packages.${system}.default = pkgs.runCommand \"slow\" { } \"sleep " +
                         Long() + "\"; }");
  Made(Flake("slow"));
  Running run = Start({"run", "--env", "x", "true"});
  EXPECT_TRUE(WaitFor([&] { return Listed("x").contains("being built by Nix at this moment"); }));
  EXPECT_NE(WaitForMarked(Long()), 0);
  run.Signal(SIGINT);
  const Outcome outcome = run.Finish();
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("interrupted"));
  EXPECT_TRUE(WaitFor([] { return FindMarked(Long()).empty(); })) << "the builder ends with it";
  EXPECT_THAT(Listed("x"), HasSubstr("has not been built yet"));
  EXPECT_FALSE(fs::exists(State("x/flake")));
  EXPECT_FALSE(fs::exists(State("x/flake.new")));
}

TEST_F(NixEnvironment, ABrokenLockSaysHowToRenewIt) {
  Made(Flake("tools") + "#hello");
  EXPECT_EQ(Run("hello").out, "hello from nix\n");
  Write(".local/state/igloo/nix/x/flake/flake.lock", "{ broken");
  const Outcome run = Run("hello");
  EXPECT_EQ(run.status, 125);
  EXPECT_THAT(run.err, HasSubstr("igloo env update x"));
  EXPECT_EQ(Igloo({"env", "update", "x"}).status, 0);
  EXPECT_EQ(Run("hello").out, "hello from nix\n");
}

TEST_F(NixEnvironment, AHostileReferenceNeverGetsToNix) {
  CountCalls();
  for (const std::string reference :
       {"--impure", "-", "x\\ny", "nixpkgs#a b", "\\\" + builtins.abort \\\"", "$(touch /tmp/x)"}) {
    Made(reference);
    EXPECT_THAT(Run("true").err, HasSubstr("is no flake")) << reference;
    EXPECT_THAT(Listed("x"), HasSubstr("\"available\":false"));
  }
  EXPECT_EQ(Calls(), 0) << Read("calls");
}

TEST_F(NixEnvironment, AServerBuildsBesideItsCalls) {
  // The stand-in's bash is none that igloo could keep alive.
  Configure("[environments.x]\nflake = \"" + Flake("tools") +
            "#hello\"\ninterpreter = \"sh\"\n[environments.bad]\nflake = \"" + Flake("tools") +
            "#broken\"\n");
  McpClient client({.env = Variables()});
  client.Initialize();
  EXPECT_THAT(TextOf(client.Run("shell", "echo at once")), StartsWith("at once\n"));
  // Clients are told when it is there.
  bool there = false;
  while (!there) {
    const auto told = client.NextOther();
    ASSERT_TRUE(told);
    there = told->at("method") == "notifications/tools/list_changed" &&
            !IsError(client.Run("x", "hello"));
  }
  EXPECT_THAT(TextOf(client.Run("x", "hello")), StartsWith("hello from nix\n"));
  EXPECT_THAT(TextOf(client.Run("bad", "true")), HasSubstr("bad"));
  EXPECT_TRUE(client.running().WaitForErrors("Nix builds in the background: bad, x"));
}

TEST_F(NixEnvironment, ReferencesOfTheVariableAreServedToo) {
  const std::string variable =
      "NIX_SANDBOX_ENVS=" + Flake("tools") + "#older, --bad," + Flake("tools") + "#broken";
  const Outcome built = Igloo({"env", "build", "--json"}, {variable});
  EXPECT_EQ(built.status, 125);
  EXPECT_THAT(built.out, AllOf(HasSubstr("\"name\":\"older\""), HasSubstr("the builder tried"),
                               HasSubstr("'--bad' is no flake")));
  EXPECT_EQ(Igloo({"run", "--env", "older", "older"}, {variable}).out, "older\n");
  EXPECT_EQ(Igloo({"run", "--env", "older", "older"}).status, 125);
}

}  // namespace
}  // namespace igloo::testing

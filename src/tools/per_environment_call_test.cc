#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "config/sandbox_mcp_builtin.h"
#include "tools/per_environment.h"

namespace igloo::tools {
namespace {

using config::SandboxSpec;
using mcp::RpcCode;
using session::Verdict;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

EnvironmentTool Tool() {
  return {.spec = {.id = "x",
                   .entrypoint = "main.sh",
                   .timeout_seconds = 7,
                   .command = {"sh", "main.sh"},
                   .additional_files = true,
                   .files = {{"a.txt", ""}}},
          .environment = "shell"};
}

mcp::JsonObject Arguments(std::string_view text) {
  return boost::json::parse(std::string(text)).as_object();
}

/// The error's code and text.
std::string Refused(const EnvironmentTool& tool, std::string_view arguments) {
  const auto prepared = Prepare(tool, Arguments(arguments));
  if (prepared) return "";
  return std::to_string(static_cast<int>(prepared.error().code)) + " " + prepared.error().message;
}

environment::RunRequest Request(const EnvironmentTool& tool, std::string_view arguments) {
  auto prepared = Prepare(tool, Arguments(arguments));
  if (!prepared) throw std::runtime_error(prepared.error().message);
  return std::get<PreparedCall>(*std::move(prepared)).request;
}

std::vector<std::string> Names(const environment::RunRequest& request) {
  std::vector<std::string> names;
  for (const environment::GivenFile& file : request.files) names.push_back(file.path);
  return names;
}

std::string TextOf(const mcp::ToolResult& result) {
  return std::get<mcp::content::Text>(result.content.at(0)).text;
}

TEST(PerEnvironmentPrepare, ACallIsARunOfTheSandbox) {
  EnvironmentTool tool = Tool();
  tool.spec.user = "ada";
  tool.spec.mount = {.workdir = "/sandbox/src", .script_perms = 0700, .read_only = true};
  tool.spec.resources = {.memory_mb = 64, .processes = 65, .files = 66};
  const auto request = Request(
      tool, R"({"main_sh": "echo", "a_txt": "A", "files": [{"filename": "b", "content": ""}]})");
  EXPECT_THAT(Names(request), ElementsAre("main.sh", "a.txt", "b"));
  EXPECT_EQ(request.files[0].content, "echo");
  EXPECT_EQ(request.files[0].mode, 0700U);
  EXPECT_EQ(request.place, (environment::Place{.home = "/sandbox",
                                               .directory = "/sandbox/src",
                                               .access = sandbox::Access::kReadOnly,
                                               .user = "ada"}));
  EXPECT_EQ(request.time_ms, 7000U);
  EXPECT_EQ(request.memory_bytes, 64ULL << 20);
  EXPECT_EQ(request.processes, 65U);
  EXPECT_EQ(request.open_files, 66U);
  EXPECT_THAT(std::get<environment::Program>(request.what).argv, ElementsAre("sh", "main.sh"));
  EXPECT_FALSE(request.project);
}

TEST(PerEnvironmentPrepare, AWorkingDirectoryElsewhereIsTheHome) {
  EnvironmentTool tool = Tool();
  tool.spec.files = {};
  for (const char* directory : {"/app", "/sandboxes"}) {
    tool.spec.mount.workdir = directory;
    EXPECT_EQ(Request(tool, R"({"main_sh": "x"})").place.home, directory);
  }
}

TEST(PerEnvironmentPrepare, MissingFilesAreAskedForInTheContractsWords) {
  for (const char* arguments :
       {"{}", R"({"main_sh": ""})", R"({"main_sh": 7})", R"({"main_sh": null})"}) {
    EXPECT_EQ(Refused(Tool(), arguments), "-32603 main.sh file is required") << arguments;
  }
  EXPECT_EQ(Refused(Tool(), R"({"main_sh": "x"})"), "-32603 a.txt file is required");
  EXPECT_EQ(Refused(Tool(), R"({"main.sh": "x", "a.txt": "y"})"), "");
}

// BUG-B2: '../x' was written outside of the directory, and a missing name ended the server.
TEST(PerEnvironmentPrepare, NamesOfFilesStayInTheirDirectory) {
  const auto with = [](const std::string& files) {
    return Refused(Tool(), R"({"main_sh": "x", "a_txt": "y", "files": )" + files + "}");
  };
  for (const char* name : {"../x", "..", ".", "", "/etc/passwd", "a/b", "a/", "./a", "a\\u0000b"}) {
    EXPECT_THAT(with(R"([{"filename": ")" + std::string(name) + R"(", "content": "c"}])"),
                HasSubstr("-32602 failed to write file "))
        << name;
  }
  for (const char* files : {"7", "{}", "\"x\"", "[7]", "[null]", "[{}]", R"([{"filename": "x"}])",
                            R"([{"content": "x"}])", R"([{"filename": 7, "content": "x"}])",
                            R"([{"filename": "x", "content": null}])"}) {
    EXPECT_THAT(with(files), HasSubstr("-32602 ")) << files;
  }
  EXPECT_EQ(with("null"), "");
  EXPECT_EQ(with("[]"), "");
}

TEST(PerEnvironmentPrepare, AFileThatComesLaterReplacesOneBefore) {
  const auto request =
      Request(Tool(), R"({"main_sh": "x", "a_txt": "y", "files": [{"filename": "b", "content": "1"},
                  {"filename": "a.txt", "content": "2"}, {"filename": "b", "content": "3"}]})");
  EXPECT_THAT(Names(request), ElementsAre("main.sh", "a.txt", "b"));
  EXPECT_EQ(request.files[1].content, "2");
  EXPECT_EQ(request.files[2].content, "3");
}

TEST(PerEnvironmentPrepare, MoreFilesOnlyWhereTheyAreWelcome) {
  EnvironmentTool tool = Tool();
  tool.spec.additional_files = false;
  EXPECT_THAT(Refused(tool, R"({"main_sh": "x", "a_txt": "y",
                                "files": [{"filename": "b", "content": "1"}]})"),
              HasSubstr("-32602 the tool 'x' takes no additional files"));
}

TEST(PerEnvironmentPrepare, AToolThatCannotRunSaysWhy) {
  EnvironmentTool tool = Tool();
  tool.unavailable = Error{Errc::kFailedPrecondition, "it needs a network", "wait", 0};
  const auto prepared = Prepare(tool, {});
  ASSERT_TRUE(prepared);
  const auto& result = std::get<mcp::ToolResult>(*prepared);
  EXPECT_TRUE(result.is_error);
  EXPECT_EQ(TextOf(result), "Sandbox execution failed: it needs a network; wait");
}

TEST(PerEnvironmentPrepare, EnvironmentsGetTheVariablesOfTheContract) {
  EnvironmentTool tool = Tool();
  tool.spec.files = {};
  EXPECT_THAT(Request(tool, R"({"main_sh": "x"})").variables, IsEmpty());
  tool.environment = "node";
  EXPECT_EQ(Request(tool, R"({"main_sh": "x"})").variables.at("NODE_ENV"), "production");
  tool.environment = "python-data";
  EXPECT_EQ(Request(tool, R"({"main_sh": "x"})").variables.at("PYTHONUNBUFFERED"), "1");
}

TEST(PerEnvironmentCommand, NothingIsPastedTogether) {
  SandboxSpec spec{.before = {"daemon", "a b", "$(x)"}, .command = {"run", "'"}};
  const std::vector<std::string> words = CommandLine(spec, {});
  ASSERT_EQ(words.size(), 10U);
  EXPECT_THAT(std::vector(words.begin() + 3, words.end()),
              ElementsAre("sh", "3", "daemon", "a b", "$(x)", "run", "'"));
}

/// As a container engine does it: before what the container is started with, and before nothing
/// that is started in it later.
TEST(PerEnvironmentCommand, AnEntryPointStandsBeforeWhatIsStartedFirst) {
  const SandboxSpec beside{.before = {"docker-start"}, .command = {"sh", "main.sh"}};
  const auto both = CommandLine(beside, {"/docker-entrypoint.sh", "-v"});
  ASSERT_EQ(both.size(), 10U);
  EXPECT_THAT(
      std::vector(both.begin() + 3, both.end()),
      ElementsAre("sh", "3", "/docker-entrypoint.sh", "-v", "docker-start", "sh", "main.sh"));
  EXPECT_THAT(CommandLine({.command = {"sh", "main.sh"}}, {"/entry"}),
              ElementsAre("/entry", "sh", "main.sh"));
}

TEST(PerEnvironmentCommand, CommandsAreOnesThatEnvironmentsHave) {
  EXPECT_THAT(CommandLine({.command = {"python", "main.py"}}, {}),
              ElementsAre("python3", "main.py"));
  EXPECT_THAT(CommandLine({.command = {"java", "main.java"}}, {}),
              ElementsAre("java", "main.java"));
  EXPECT_THAT(
      CommandLine({.command = {"java", "--enable-preview", "--source", "17", "m.java"}}, {}),
      ElementsAre("java", "--enable-preview", "--source", "17", "m.java"));
  const auto preview = CommandLine(
      {.command = {"java", "--enable-preview", "main.java"}, .resources = {.memory_mb = 512}}, {});
  ASSERT_EQ(preview.size(), 7U);
  EXPECT_THAT(std::vector(preview.begin() + 3, preview.end()),
              ElementsAre("java", "256", "--enable-preview", "main.java"));
}

session::RunResult Ended(int code, std::string_view out, std::string_view err,
                         Verdict verdict = Verdict::kExit) {
  session::RunResult result;
  result.verdict = code == 0 ? Verdict::kOk : verdict;
  result.exit_code = code;
  result.output = session::CappedText(1U << 20);
  result.error = session::CappedText(1U << 20);
  result.output.Append(out);
  result.error.Append(err);
  return result;
}

TEST(PerEnvironmentRender, SuccessIsOutputAndThenErrors) {
  EXPECT_EQ(TextOf(*Render(Tool(), Ended(0, "hello\n", ""))), "hello\n");
  EXPECT_EQ(TextOf(*Render(Tool(), Ended(0, "hello\n", "oops\n"))), "hello\n\nStderr:\noops\n");
  EXPECT_EQ(TextOf(*Render(Tool(), Ended(0, "", "oops"))), "\nStderr:\noops");
  EXPECT_FALSE(Render(Tool(), Ended(0, "", "oops"))->is_error);
}

// BUG-B5: what a failed command had written to standard output was lost.
TEST(PerEnvironmentRender, FailureKeepsTheOutput) {
  const auto failed = Render(Tool(), Ended(3, "so far\n", "oops\n"));
  ASSERT_TRUE(failed);
  EXPECT_TRUE(failed->is_error);
  EXPECT_EQ(TextOf(*failed), "so far\n\nStderr:\noops\n");
  EXPECT_EQ(TextOf(*Render(Tool(), Ended(3, "", "oops\n"))), "oops\n");
  EXPECT_EQ(TextOf(*Render(Tool(), Ended(3, "", ""))), "Command failed with exit code 3");
  EXPECT_EQ(TextOf(*Render(Tool(), Ended(3, "so far", ""))),
            "so far\nCommand failed with exit code 3");
}

TEST(PerEnvironmentRender, TheRightToRawSocketsIsNamedToWhoLacksIt) {
  EnvironmentTool tool = Tool();
  tool.environment = "network-tools";
  const auto refused = Ended(1, "", "socket: Operation not permitted\n");
  constexpr std::string_view kNamed = "raw_sockets = true in [environments.network-tools]";
  EXPECT_FALSE(TextOf(*Render(tool, refused)).contains(kNamed)) << "it has no network";
  tool.spec.security.network = "bridge";
  EXPECT_TRUE(TextOf(*Render(tool, refused)).contains(kNamed));
  EXPECT_FALSE(TextOf(*Render(tool, Ended(1, "", "oops"))).contains(kNamed));
  tool.raw_sockets = true;
  EXPECT_FALSE(TextOf(*Render(tool, refused)).contains(kNamed));
}

TEST(PerEnvironmentRender, ALimitIsNamed) {
  EnvironmentTool tool = Tool();
  tool.spec.resources.memory_mb = 64;
  EXPECT_EQ(TextOf(*Render(tool, Ended(137, "", "Killed\n", Verdict::kMemory))),
            "Killed\nCommand failed with exit code 137: it used more than its 64 MB of memory");
}

// BUG-B5, too: the end of the time could come as an error about waiting.
TEST(PerEnvironmentRender, TimeoutIsAnErrorInTheContractsWords) {
  const auto timeout = Render(Tool(), Ended(124, "x", "", Verdict::kTimeout));
  ASSERT_FALSE(timeout);
  EXPECT_EQ(timeout.error().code, RpcCode::kInternalError);
  EXPECT_EQ(timeout.error().message, "execution timeout after 7 seconds");
}

TEST(PerEnvironmentRender, WhatIsTooLongIsCutAndCounted) {
  const std::string text = TextOf(*Render(Tool(), Ended(0, std::string(700'000, 'x'), "")));
  EXPECT_EQ(text.size(), (512U << 10) + std::string("\n[the first 524288 of 700000 bytes]").size());
  EXPECT_THAT(text, ::testing::EndsWith("\n[the first 524288 of 700000 bytes]"));
}

TEST(PerEnvironmentRender, BytesThatAreNoTextBecomeText) {
  EXPECT_EQ(TextOf(*Render(Tool(), Ended(0,
                                         "a\xff"
                                         "b",
                                         ""))),
            "a\xef\xbf\xbd"
            "b");
}

}  // namespace
}  // namespace igloo::tools

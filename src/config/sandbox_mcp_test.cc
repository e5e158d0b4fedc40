#include "config/sandbox_mcp.h"

#include <gmock/gmock.h>

#include "config/sandbox_mcp_builtin.h"

namespace igloo::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kLeastText =
    R"({"id": "x", "entrypoint": "main.sh", "command": ["sh", "main.sh"]})";

SandboxSpec Fine(std::string_view text) {
  DecodedSandbox decoded = DecodeSandbox(text);
  for (const Problem& problem : decoded.problems) ADD_FAILURE() << problem.what;
  return std::move(decoded.spec);
}

std::vector<std::string> Shown(const std::vector<Problem>& problems) {
  std::vector<std::string> out;
  for (const Problem& each : problems) {
    out.push_back(std::to_string(each.where.line) + ":" + std::to_string(each.where.column) + ": " +
                  each.what);
  }
  return out;
}

std::vector<std::string> Problems(std::string_view text) {
  return Shown(DecodeSandbox(text).problems);
}

/// The least text with these members behind its own.
std::vector<std::string> ProblemsWith(const std::string& members) {
  return Problems(std::string(kLeastText.substr(0, kLeastText.size() - 1)) + ", " + members + "}");
}

TEST(SandboxMcp, TakesEveryField) {
  const SandboxSpec expected{
      .id = "mine",
      .name = "Mine",
      .description = "does it",
      .hints = {.read_only = true, .destructive = false, .idempotent = true, .external = false},
      .version = "2",
      .image = "sandbox-mcp/shell:latest",
      .user = "ada",
      .entrypoint = "main.sh",
      .timeout_seconds = 5,
      .before = {"daemon", "-x"},
      .command = {"sh", "main.sh"},
      .additional_files = true,
      .files = {{"a.txt", "an A"}, {"b", ""}},
      .security = {.read_only = true,
                   .cap_drop = {"ALL"},
                   .options = {"no-new-privileges"},
                   .network = "bridge"},
      .resources = {.cpu = 2, .memory_mb = 65, .processes = 66, .files = 97},
      .mount = {.workdir = "/sandbox/src",
                .tmpdir_prefix = "t-",
                .script_perms = 0640,
                .read_only = true}};
  EXPECT_EQ(Fine(R"({"id": "mine", "name": "Mine", "description": "does it",
    "hints": {"isReadOnly": true, "isDestructive": false, "isIdempotent": true,
              "isExternalInteraction": false},
    "version": "2", "image": "sandbox-mcp/shell:latest", "user": "ada", "entrypoint": "main.sh",
    "timeout": 5, "before": ["daemon", "-x"], "command": ["sh", "main.sh"],
    "parameters": {"additionalFiles": true,
                   "files": [{"name": "a.txt", "description": "an A"}, {"name": "b"}]},
    "security": {"readOnly": true, "capDrop": ["ALL"], "securityOpt": ["no-new-privileges"],
                 "network": "bridge"},
    "resources": {"cpu": 2, "memory": 65, "processes": 66, "files": 97},
    "mount": {"workdir": "/sandbox/src", "tmpdirPrefix": "t-", "scriptPerms": "0640",
              "readOnly": true}})"),
            expected);
}

TEST(SandboxMcp, OnlyIdEntrypointAndCommandAreNeeded) {
  const SandboxSpec expected{.id = "x", .entrypoint = "main.sh", .command = {"sh", "main.sh"}};
  EXPECT_EQ(Fine(kLeastText), expected);
  EXPECT_THAT(Problems("{}"),
              ElementsAre(HasSubstr("'id' is missing"), HasSubstr("'entrypoint' is missing"),
                          HasSubstr("'command' is missing")));
}

TEST(SandboxMcp, NullAndTheCaseOfKeysAreForgiven) {
  const SandboxSpec spec = Fine(
      R"({"ID": "x", "EntryPoint": "main.sh", "command": ["sh"], "before": null, "hints": null,
          "Mount": {"ReadOnly": true}})");
  EXPECT_EQ(spec.id, "x");
  EXPECT_TRUE(spec.mount.read_only);
}

TEST(SandboxMcp, AProblemSaysWhereAndWhatIsAllowed) {
  EXPECT_THAT(Problems("{\n \"id\": \"x\",\n \"entrypoint\": \"m\", \"timeout\": \"long\",\n"
                       " \"command\": [\"sh\"],\n \"resources\": {\"memory\": 0}}"),
              ElementsAre("3:21: 'timeout' is not a whole number from 1 to 86400",
                          "5:16: 'resources.memory' is not a whole number from 1 to 1048576"));
}

TEST(SandboxMcp, WrongTypesAreProblems) {
  for (const char* members :
       {R"("name": 7)", R"("timeout": 1.5)", R"("timeout": -1)", R"("command": "sh")",
        R"("before": [["x"]])", R"("parameters": [])", R"("parameters": {"files": {}})",
        R"("parameters": {"files": [7]})", R"("parameters": {"additionalFiles": "yes"})",
        R"("hints": {"isReadOnly": 1})", R"("security": true)", R"("security": {"network": []})",
        R"("security": {"capDrop": "all"})", R"("resources": {"cpu": 0})",
        R"("resources": {"memory": -1})", R"("mount": {"readOnly": "no"})",
        R"("mount": {"scriptPerms": 755})", R"("name": "a\u0000b")", R"("description": {})"}) {
    EXPECT_FALSE(ProblemsWith(members).empty()) << members;
  }
}

TEST(SandboxMcp, WhatIsNotOneObjectIsAProblem) {
  EXPECT_THAT(Problems("[]"), ElementsAre(HasSubstr("not a JSON object")));
  EXPECT_THAT(Problems("{\n\"id\": }"), ElementsAre(HasSubstr("2:7: this is not JSON")));
  EXPECT_THAT(Problems(""), ElementsAre(HasSubstr("this is not JSON")));
  EXPECT_THAT(Problems(std::string(kLeastText) + "\n7"), ElementsAre(HasSubstr("2:1: something")));
  EXPECT_FALSE(Problems(std::string(100'000, '[')).empty());
}

TEST(SandboxMcp, AnIdIsAToolsName) {
  for (const char* id : {"", "a b", "a/b", "../x", "a.b", "\u00e4"}) {
    const std::string text =
        R"({"id": ")" + std::string(id) + R"(", "entrypoint": "m", "command": ["m"]})";
    EXPECT_THAT(Problems(text), ElementsAre(HasSubstr("cannot be a tool's name"))) << id;
  }
  EXPECT_EQ(Fine(R"({"id": "network-tools_2", "entrypoint": "m", "command": ["m"]})").id,
            "network-tools_2");
}

// BUG-B2, as far as the configuration goes: names were joined to a directory without a look.
TEST(SandboxMcp, FilesArePlainNames) {
  for (const char* name : {"", ".", "..", "../x", "a/b", "/etc/passwd", "a\\u0000b", "a b"}) {
    const std::string file = "\"" + std::string(name) + "\"";
    EXPECT_FALSE(Problems(R"({"id": "x", "command": ["m"], "entrypoint": )" + file + "}").empty())
        << name;
    EXPECT_FALSE(ProblemsWith(R"("parameters": {"files": [{"name": )" + file + "}]}").empty())
        << name;
  }
  EXPECT_FALSE(ProblemsWith(R"("parameters": {"files": [{"description": "no name"}]})").empty());
}

TEST(SandboxMcp, TwoFilesCannotShareAParameter) {
  EXPECT_THAT(ProblemsWith(R"("parameters": {"files": [{"name": "main_sh"}]})"),
              ElementsAre(HasSubstr("have the parameter 'main_sh'")));
  EXPECT_THAT(
      ProblemsWith(R"("parameters": {"additionalFiles": true, "files": [{"name": "files"}]})"),
      ElementsAre(HasSubstr("have the parameter 'files'")));
}

TEST(SandboxMcp, UnknownKeysAreNotedAndNothingMore) {
  const DecodedSandbox decoded = DecodeSandbox(
      R"({"id": "x", "entrypoint": "m", "command": ["m"], "comand": [], "mount": {"x": 1}})");
  EXPECT_THAT(decoded.problems, IsEmpty());
  EXPECT_THAT(Shown(decoded.notes),
              ElementsAre(HasSubstr("'comand' is not a key"), HasSubstr("'mount.x' is not a key")));
  EXPECT_EQ(decoded.notes[0].hint, "did you mean 'command'?");
}

TEST(SandboxMcp, BadPermissionsMean0755) {
  for (const char* bad : {"rwx", "", "0799", "04755", "-1", "0755x"}) {
    const DecodedSandbox decoded = DecodeSandbox(R"({"id": "x", "entrypoint": "m", "command": ["m"],
                          "mount": {"scriptPerms": ")" +
                                                 std::string(bad) + "\"}}");
    EXPECT_THAT(decoded.problems, IsEmpty());
    EXPECT_EQ(decoded.spec.mount.script_perms, 0755U);
    EXPECT_EQ(decoded.notes.size(), 1U) << bad;
  }
}

TEST(SandboxMcp, TheWorkingDirectoryIsAnAbsolutePath) {
  for (const char* bad : {"", "/", "sandbox", "/sandbox/", "/a//b", "/a/../b", "/a/.", "/.."}) {
    EXPECT_FALSE(ProblemsWith(R"("mount": {"workdir": ")" + std::string(bad) + "\"}").empty())
        << bad;
  }
  const auto why = [](const std::string& path) {
    return ProblemsWith(R"("mount": {"workdir": ")" + path + "\"}").at(0);
  };
  EXPECT_THAT(why("sandbox"), HasSubstr("is no absolute path"));
  EXPECT_THAT(why("/"), HasSubstr("is the root of all files"));
  EXPECT_THAT(why("/a/../b"), HasSubstr("is no plain path"));
}

TEST(SandboxMcp, WhatIsWrittenReadsTheSame) {
  for (const SandboxSpec& spec : BuiltinSandboxes()) {
    const DecodedSandbox decoded = DecodeSandbox(EncodeSandbox(spec));
    EXPECT_THAT(decoded.problems, IsEmpty()) << spec.id;
    EXPECT_THAT(decoded.notes, IsEmpty()) << spec.id;
    EXPECT_EQ(decoded.spec, spec) << spec.id;
  }
}

}  // namespace
}  // namespace igloo::config

#include "environment/artifact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "environment/artifact_testing.h"

namespace igloo::environment {
namespace {

using sandbox::HostTree;
using sandbox::Link;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ArtifactMetadata Example() {
  return {.name = "science", .interpreter_type = "python", .closure = {kPython, kBash}};
}

StorePath With(std::set<std::string> programs) {
  return {.kind = StorePath::Kind::kTree, .programs = std::move(programs), .has_bin = true};
}

/// As nix-sandbox-mcp planned to write it.
TEST(ParseArtifactMetadata, AnInterpreterCanBeACommandLine) {
  const auto read = [](const std::string& rest) {
    return ParseArtifactMetadata(R"({"name":"x",)" + rest + "}").value();
  };
  const auto python = read(R"("interpreter":"python3 -c","stdin_mode":"arg")");
  EXPECT_EQ(python.interpreter_type, "python") << "one that igloo knows, with sessions";
  EXPECT_THAT(python.interpreter, ElementsAre("python3"));
  EXPECT_EQ(python.passing, CodePassing::kFile);
  const auto lua = read(R"("interpreter":"lua  -e")");
  EXPECT_EQ(lua.interpreter_type, "");
  EXPECT_THAT(lua.interpreter, ElementsAre("lua", "-e"));
  EXPECT_EQ(lua.passing, CodePassing::kArgument);
  EXPECT_EQ(read(R"("interpreter":"lua -","stdin_mode":"pipe")").passing, CodePassing::kInput);
  EXPECT_EQ(read(R"("interpreter":"lua","stdin_mode":"arg")").passing, CodePassing::kArgument);
  const auto ruby = read(R"("interpreter":"ruby -e","code":"argument")");
  EXPECT_EQ(ruby.interpreter_type, "") << "how its code is passed is said";
  EXPECT_THAT(ruby.interpreter, ElementsAre("ruby", "-e"));
  EXPECT_EQ(ruby.passing, CodePassing::kArgument);
  const auto typed = read(R"("interpreter":"bash -s","interpreter_type":"node")");
  EXPECT_EQ(typed.interpreter_type, "node") << "the line was for people";
  EXPECT_THAT(typed.interpreter, ::testing::IsEmpty());
}

TEST(IsStorePathTest, TakesWholeStorePathsOnly) {
  EXPECT_TRUE(IsStorePath(kPython));
  const std::string store = "/nix/store/";
  for (const std::string& path :
       {std::string("/etc"), store, store + kHash, store + kHash + "-", kPython + "/bin",
        store + kHash + "-../../etc", store + std::string(32, 'e') + "-x", store + "../etc",
        store + kHash + "-a b", std::string("nix/store/") + kHash + "-x",
        store + kHash + "-" + std::string(300, 'x')}) {
    EXPECT_FALSE(IsStorePath(path)) << path;
  }
}

TEST(ArtifactMetadataTest, ReadsEveryKeyAndIgnoresPrograms) {
  const auto read = ParseArtifactMetadata(
      R"({"name":"science","interpreter_type":"python","timeout_seconds":60,"memory_mb":1024,
          "description":"numbers","env":{"A":"1"},"exec":"/bin/evil","session_exec":"/bin/evil",
          "root":")" +
      kBash + R"(","store_prefix":"/mnt","closure":)" + Closure() + "}");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->name, "science");
  EXPECT_EQ(read->interpreter_type, "python");
  EXPECT_EQ(read->description, "numbers");
  EXPECT_EQ(read->timeout_seconds, 60U);
  EXPECT_EQ(read->memory_mb, 1024U);
  EXPECT_THAT(read->closure, ElementsAre(kPython, kBash));
  EXPECT_EQ(read->root, kBash);
  EXPECT_EQ(read->store_prefix, "/mnt");
  EXPECT_EQ(read->variables, (std::map<std::string, std::string>{{"A", "1"}}));
}

TEST(ArtifactMetadataTest, AnImageStandsForStorePathsAndInterpreter) {
  const auto read = ParseArtifactMetadata(R"({"schema":1,"name":"gate","image":"debian"})");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->image, "debian");
  const auto both = ParseArtifactMetadata(
      R"({"schema":1,"name":"gate","image":"debian","closure":)" + Closure() + "}");
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().what, HasSubstr("an 'image' and store paths"));
}

TEST(ArtifactTest, WhatItSaysCountsBeforeItsImage) {
  const Environment image{.name = "x",
                          .description = "programs of an image",
                          .variables = {{"A", "image"}, {"B", "image"}},
                          .interpreter = {"/bin/sh"},
                          .language = "bash",
                          .code_file = "main.sh",
                          .shell = {"/bin/sh"}};
  Artifact artifact{.metadata = {.name = "gate",
                                 .description = "mine",
                                 .memory_mb = 64,
                                 .variables = {{"A", "own"}},
                                 .image = "debian"}};
  const Environment made = OverImage(artifact, image);
  EXPECT_EQ(made.name + ":" + made.provider + ":" + made.description, "gate:image:mine");
  EXPECT_EQ(made.limits.memory_bytes, 64U << 20);
  EXPECT_EQ(made.variables, (std::map<std::string, std::string>{{"A", "own"}, {"B", "image"}}));
  EXPECT_THAT(made.interpreter, ElementsAre("/bin/sh"));
  EXPECT_EQ(made.language + ":" + made.code_file, "bash:main.sh");
  artifact.metadata.interpreter = {"perl"};
  EXPECT_THAT(OverImage(artifact, image).interpreter, ElementsAre("perl"));
  EXPECT_EQ(OverImage(artifact, image).language, "");
}

TEST(ArtifactMetadataTest, ReadsEveryKeyOfSchemaOne) {
  const auto read = ParseArtifactMetadata(
      R"({"schema":1,"name":"go","aliases":["golang"],"interpreter":["go","run"],"code":"input",
          "code_file":"main.go","processes":512,"open_files":8192,"network":"internet",
          "backend":"microvm","warm":0,"preload":["numpy"]})");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->schema, 1U);
  EXPECT_THAT(read->aliases, ElementsAre("golang"));
  EXPECT_EQ(read->interpreter_type, "");
  EXPECT_THAT(read->interpreter, ElementsAre("go", "run"));
  EXPECT_EQ(read->passing, CodePassing::kInput);
  EXPECT_EQ(read->code_file, "main.go");
  EXPECT_EQ(read->processes, 512U);
  EXPECT_EQ(read->open_files, 8192U);
  EXPECT_EQ(read->network, "internet");
  EXPECT_EQ(read->backend, "microvm");
  EXPECT_EQ(read->warm, 0U);
  EXPECT_THAT(read->preload, ElementsAre("numpy"));
}

TEST(FindStorePlaceTest, SplitsThePrefixAndWhatIsBelow) {
  const auto here = FindStorePlace(kPython + "/bin/run");
  ASSERT_TRUE(here);
  EXPECT_EQ(here->prefix, "");
  EXPECT_EQ(here->path, kPython);
  EXPECT_EQ(FindStorePlace("/mnt/a" + kBash)->prefix, "/mnt/a");
  EXPECT_FALSE(FindStorePlace("/home/me/sandboxes/x"));
  EXPECT_FALSE(FindStorePlace("/nix/store/short"));
}

TEST(ArtifactMetadataTest, HasDefaults) {
  const auto read = ParseArtifactMetadata(R"({"name":"x","interpreter_type":"bash"})");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->timeout_seconds, 30U);
  EXPECT_EQ(read->memory_mb, 512U);
  EXPECT_TRUE(read->closure.empty());
}

TEST(ArtifactMetadataTest, SaysWhatIsWrong) {
  const auto with = [](const std::string& more) {
    return R"({"name":"x","interpreter_type":"bash",)" + more + "}";
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "this is not JSON"},
      {"{", "this is not JSON"},
      {"[]", "not a JSON object"},
      {"{}", "'name' is missing"},
      {R"({"name":7})", "'name' is not a string"},
      {R"({"schema":2,"name":7})", "made for a newer igloo: its schema is 2"},
      {R"({"schema":0,"name":"x"})", "'schema' is not a whole number"},
      {R"({"name":"x"})", "'interpreter_type' is missing"},
      {R"({"name":"x","interpreter":[]})", "'interpreter_type' is missing"},
      {R"({"name":"x","interpreter":7})", "'interpreter' is not a list"},
      {R"({"name":"x","interpreter":" "})", "'interpreter' is not a list"},
      {R"({"name":"x","interpreter":"lua -e","stdin_mode":"file"})", "'stdin_mode' is 'file'"},
      {R"({"name":"x","interpreter":["go",7]})", "not a usable string"},
      {R"({"name":"x","interpreter":["go"],"interpreter_type":"go"})", "Unknown interpreter_type"},
      {with(R"("aliases":["a b"])"), "not a name for an environment"},
      {with(R"("code":"socket")"), "'code' is 'socket'"},
      {with(R"("code_file":"../x")"), "not a name for the code's file"},
      {with(R"("processes":0)"), "'processes' is not a whole number"},
      {with(R"("open_files":1)"), "'open_files' is not a whole number"},
      {with(R"("warm":65)"), "'warm' is not a whole number"},
      {with(R"("preload":[""])"), "not a usable string"},
      {with(R"("network":"lan")"), "'network' is 'lan'"},
      {with(R"("backend":"chroot")"), "'backend' is 'chroot'"},
      {R"({"name":"x","interpreter_type":"ruby"})",
       "Unknown interpreter_type: 'ruby'. Must be one of: python, bash, node"},
      {R"({"name":"../x","interpreter_type":"bash"})", "not a name for an environment"},
      {R"x({"name":"$(id)","interpreter_type":"bash"})x", "not a name for an environment"},
      {R"({"name":"-x","interpreter_type":"bash"})", "not a name for an environment"},
      {with(R"("timeout_seconds":0)"), "'timeout_seconds' is not a whole number"},
      {with(R"("timeout_seconds":"30")"), "'timeout_seconds' is not a whole number"},
      {with(R"("memory_mb":-1)"), "'memory_mb' is not a whole number"},
      {with(R"("memory_mb":1e30)"), "'memory_mb' is not a whole number"},
      {with(R"("closure":7)"), "'closure' is neither a list nor a file"},
      {with(R"("closure":[7])"), "not a string"},
      {with(R"("closure":["/etc"])"), "no store path"},
      {with(R"("closure":["/nix/store/../../etc"])"), "no store path"},
      {with(R"("closure":"/etc/passwd")"), "no store path"},
      {with("\"closure\":\"" + kBash + "/..\""), "no store path"},
      {with(R"("root":"/")"), "no store path"},
      {with("\"closure\":\"" + kBash + "/.\""), "no store path"},
      {with("\"closure\":\"" + kBash + "/list\\u0000x\""), "no store path"},
      {with(R"("closure":["/nix/store/x\u0000"])"), "no store path"},
      {with(R"("store_prefix":"mnt")"), "not an absolute path"},
      {with(R"("store_prefix":"/victim\u0000")"), "'store_prefix' holds a zero byte"},
      {with(R"("store_prefix":"/mnt/../victim")"), "has a '.' or '..' part"},
      {with(R"("store_prefix":"/mnt/..")"), "has a '.' or '..' part"},
      {with(R"("store_prefix":"/./mnt")"), "has a '.' or '..' part"},
      {with(R"("description":"a\u0000b")"), "'description' holds a zero byte"},
      {with(R"("preload":["a\u0000b"])"), "not a usable string"},
      {with(R"("env":{"A":"a\u0000b"})"), "no usable variable"},
      {with(R"("env":{"A=":"1"})"), "no usable variable"},
      {with(R"("env":[])"), "'env' is not an object"},
  };
  for (const auto& [text, what] : cases) {
    const auto read = ParseArtifactMetadata(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Errc::kInvalidArgument);
    EXPECT_THAT(read.error().what, HasSubstr(what)) << text;
  }
}

TEST(ParseClosureTest, TakesOnePathALine) {
  EXPECT_THAT(*ParseClosure(kPython + "\n\n" + kBash + "\n"), ElementsAre(kPython, kBash));
}

TEST(ParseClosureTest, DoesNotRepeatWhatIsNoStorePath) {
  const auto parsed = ParseClosure(kPython + "\nroot:hunter2:1\n");
  ASSERT_FALSE(parsed);
  EXPECT_THAT(parsed.error().what, HasSubstr("line 2 is no store path"));
  EXPECT_THAT(parsed.error().what + parsed.error().hint, Not(HasSubstr("hunter2")));
}

TEST(ArtifactEnvironmentTest, IsTheClosureReadOnlyAndNothingElse) {
  ArtifactMetadata metadata = Example();
  metadata.store_prefix = "/mnt/store";
  metadata.timeout_seconds = 7;
  metadata.memory_mb = 64;
  const auto made =
      MakeArtifactEnvironment(metadata, "/a", {With({"python3"}), With({"bash", "sh", "env"})});
  ASSERT_TRUE(made) << made.error().what;
  std::vector<std::string> trees, links;
  for (const sandbox::Entry& entry : made->contents) {
    if (const auto* tree = std::get_if<HostTree>(&entry)) {
      EXPECT_EQ(tree->access, sandbox::Access::kReadOnly);
      EXPECT_EQ(tree->presence, sandbox::Presence::kRequired);
      trees.push_back(tree->target + " <- " + tree->source);
    } else if (const auto* link = std::get_if<Link>(&entry)) {
      links.push_back(link->path + " -> " + link->points_to);
    }
  }
  EXPECT_THAT(trees,
              ElementsAre(kPython + " <- /mnt/store" + kPython, kBash + " <- /mnt/store" + kBash));
  EXPECT_THAT(links, Contains("/bin/sh -> " + kBash + "/bin/bash"));
  EXPECT_THAT(links, Contains("/usr/bin/env -> " + kBash + "/bin/env"));
  EXPECT_THAT(made->interpreter, ElementsAre(kPython + "/bin/python3"));
  EXPECT_EQ(made->variables.at("PATH"), kPython + "/bin:" + kBash + "/bin");
  EXPECT_THAT(made->shell, ElementsAre(kBash + "/bin/bash"));
  EXPECT_EQ(made->code_file, "main.py");
  EXPECT_EQ(made->provider, "artifact");
  EXPECT_EQ(made->limits.time_ms, 7000U);
  EXPECT_EQ(made->limits.memory_bytes, 64ULL << 20);
}

TEST(ArtifactEnvironmentTest, HonoursWhatSchemaOneSays) {
  ArtifactMetadata metadata = Example();
  metadata.interpreter_type = "";
  metadata.interpreter = {"go", "run"};
  metadata.aliases = {"golang"};
  metadata.code_file = "main.go";
  metadata.processes = 7;
  metadata.open_files = 99;
  metadata.warm = 0;
  metadata.preload = {"x"};
  EXPECT_THAT(ProgramsOf(metadata), Contains("go"));
  auto made = MakeArtifactEnvironment(metadata, "/a", {With({"go"}), With({"bash"})});
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_THAT(made->interpreter, ElementsAre(kPython + "/bin/go", "run"));
  EXPECT_EQ(made->language, "");
  EXPECT_EQ(made->code_file, "main.go");
  EXPECT_THAT(made->aliases, ElementsAre("golang"));
  EXPECT_EQ(made->limits.processes, 7U);
  EXPECT_EQ(made->limits.open_files, 99U);
  EXPECT_EQ(made->warm, 0U);
  EXPECT_THAT(made->preload, ElementsAre("x"));
  metadata.interpreter = {kBash + "/bin/tool"};
  made = MakeArtifactEnvironment(metadata, "/a", {With({}), With({"bash"})});
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_THAT(made->interpreter, ElementsAre(kBash + "/bin/tool")) << "a path stays as it is";
}

TEST(ArtifactEnvironmentTest, InputNeedsAShell) {
  ArtifactMetadata metadata = Example();
  metadata.passing = CodePassing::kInput;
  const auto made = MakeArtifactEnvironment(metadata, "/a", {With({"python3"}), With({})});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().what, HasSubstr("needs a shell"));
  const auto fine = MakeArtifactEnvironment(metadata, "/a", {With({"python3"}), With({"sh"})});
  ASSERT_TRUE(fine) << fine.error().what;
  EXPECT_EQ(fine->language, "") << "one that takes no files takes no driver";
}

TEST(ArtifactEnvironmentTest, ARootComesFirst) {
  ArtifactMetadata metadata = Example();
  metadata.root = kBash;
  const auto made =
      MakeArtifactEnvironment(metadata, "/a", {With({"python3"}), With({"bash", "python3"})});
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_THAT(made->interpreter, ElementsAre(kBash + "/bin/python3"));
  EXPECT_EQ(made->variables.at("PATH"), kBash + "/bin");
}

TEST(ArtifactEnvironmentTest, ALinkInTheStoreStaysALink) {
  ArtifactMetadata metadata = Example();
  metadata.closure.push_back(kLinked);
  const auto made =
      MakeArtifactEnvironment(metadata, "/a",
                              {With({"python3"}),
                               With({"bash"}),
                               {.kind = StorePath::Kind::kLink, .points_to = "/etc/shadow"}});
  ASSERT_TRUE(made) << made.error().what;
  for (const sandbox::Entry& entry : made->contents) {
    const auto* tree = std::get_if<HostTree>(&entry);
    EXPECT_TRUE(tree == nullptr || tree->target != kLinked);
  }
}

TEST(ArtifactEnvironmentTest, WhatCannotBeUsedSaysHowToRebuildIt) {
  const auto expect = [](const Result<Environment>& made, const std::string& what) {
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Errc::kFailedPrecondition);
    EXPECT_THAT(made.error().what, HasSubstr(what));
    EXPECT_THAT(made.error().hint, HasSubstr("nix build YOUR-FLAKE#science -o /a"));
  };
  ArtifactMetadata old = Example();
  old.closure.clear();
  expect(MakeArtifactEnvironment(old, "/a", {}), "does not say which store paths it needs");
  expect(MakeArtifactEnvironment(Example(), "/a", {With({"python3"}), StorePath{}}),
         "needs '" + kBash + "', which is not there");
  expect(MakeArtifactEnvironment(Example(), "/a", {With({}), With({"bash"})}),
         "has no 'python3' in its closure");
}

}  // namespace
}  // namespace igloo::environment

#include "environment/artifact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::environment {
namespace {

using sandbox::HostTree;
using sandbox::Link;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

const std::string kHash(32, 'a');
const std::string kPython = "/nix/store/" + kHash + "-python3-3.12";
const std::string kBash = "/nix/store/" + std::string(32, 'b') + "-bash-5.2";
const std::string kLinked = "/nix/store/" + std::string(32, 'c') + "-link";

std::string Closure() {
  return R"(["/nix/store/)" + kHash + R"(-python3-3.12", ")" + kBash + "\"]";
}

ArtifactMetadata Example() {
  return {.name = "science", .interpreter_type = "python", .closure = {kPython, kBash}};
}

StorePath With(std::set<std::string> programs) {
  return {.kind = StorePath::Kind::kTree, .programs = std::move(programs), .has_bin = true};
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
      {R"({"name":"x","interpreter":"go run"})", "'interpreter' is not a list"},
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
      {with(R"("store_prefix":"mnt")"), "not an absolute path"},
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
  EXPECT_FALSE(ParseClosure(kPython + "\n/etc/shadow\n"));
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

/// A directory of artifacts and a store, both on disk.
class ScanArtifactsTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << text;
  }
  void Add(const std::string& directory, const std::string& metadata) {
    Write(place_ + "/" + directory + "/metadata.json", metadata);
  }
  std::string Good(const std::string& name) {
    return R"({"name":")" + name + R"(","interpreter_type":"python","closure":)" + Closure() + "}";
  }
  ArtifactScan Scan() { return ScanArtifacts({place_}, {.prefix = store_}); }

  void SetUp() override {
    Write(store_ + kPython + "/bin/python3", "");
    Write(store_ + kBash + "/bin/bash", "");
    fs::create_directories(place_);
  }

  TempDir directory_ = TempDir::Make(igloo::testing::TempParent()).value();
  std::string place_ = directory_.path() + "/sandboxes", store_ = directory_.path() + "/store";
};

TEST_F(ScanArtifactsTest, TakesNamesFromTheMetadata) {
  Add("some-directory", Good("science"));
  const ArtifactScan scan = Scan();
  EXPECT_TRUE(scan.problems.empty());
  ASSERT_EQ(scan.found.size(), 1U);
  EXPECT_EQ(scan.found[0].metadata.name, "science");
  const auto opened = OpenArtifact(scan.found[0]);
  ASSERT_TRUE(opened) << opened.error().what;
  EXPECT_THAT(opened->interpreter, ElementsAre(kPython + "/bin/python3"));
}

TEST_F(ScanArtifactsTest, AMissingPlaceIsFine) {
  const ArtifactScan scan = ScanArtifacts({directory_.path() + "/nowhere"});
  EXPECT_TRUE(scan.found.empty());
  EXPECT_TRUE(scan.problems.empty());
}

TEST_F(ScanArtifactsTest, FollowsLinksToDirectories) {
  Write(directory_.path() + "/elsewhere/metadata.json", Good("science"));
  fs::create_directory_symlink(directory_.path() + "/elsewhere", place_ + "/link");
  Write(place_ + "/a-file", "");
  const ArtifactScan scan = Scan();
  EXPECT_EQ(scan.found.size(), 1U);
  EXPECT_TRUE(scan.problems.empty()) << "a file is no artifact and no problem";
}

TEST_F(ScanArtifactsTest, BadEntriesAreSkippedAndNamed) {
  Add("a-bad", "{");
  fs::create_directory(place_ + "/b-empty");
  fs::create_directory(place_ + "/c-pipe");
  ASSERT_EQ(::mkfifo((place_ + "/c-pipe/metadata.json").c_str(), 0600), 0);
  fs::create_directories(place_ + "/d-directory/metadata.json");
  Add("e-nothing", R"({"name":"nothing","interpreter_type":"bash"})");
  Add("f-large", "\"" + std::string(5U << 20, 'x') + "\"");
  Add("g-good", Good("science"));
  const ArtifactScan scan = Scan();
  ASSERT_EQ(scan.found.size(), 1U);
  EXPECT_EQ(scan.found[0].metadata.name, "science");
  std::vector<std::string> names;
  for (const ArtifactProblem& problem : scan.problems) {
    names.push_back(fs::path(problem.directory).filename());
    EXPECT_NE(problem.error.what, "");
  }
  EXPECT_THAT(names,
              ElementsAre("a-bad", "b-empty", "c-pipe", "d-directory", "e-nothing", "f-large"));
}

TEST_F(ScanArtifactsTest, TheFirstOfTwoWithOneNameCounts) {
  Add("a", Good("science"));
  Add("b", Good("science"));
  const ArtifactScan scan = Scan();
  ASSERT_EQ(scan.found.size(), 1U);
  EXPECT_EQ(scan.found[0].directory, place_ + "/a");
  ASSERT_EQ(scan.problems.size(), 1U);
  EXPECT_THAT(scan.problems[0].error.what, HasSubstr("already the name of"));
}

TEST_F(ScanArtifactsTest, AnOldArtifactIsFoundButNotUsable) {
  Add("old", R"({"name":"old","interpreter_type":"bash"})");
  Write(place_ + "/old/bin/run", "#!/bin/sh\n");
  const ArtifactScan scan = Scan();
  ASSERT_EQ(scan.found.size(), 1U);
  ASSERT_TRUE(scan.found[0].unavailable);
  EXPECT_THAT(scan.found[0].unavailable->hint, HasSubstr("nix build YOUR-FLAKE#old"));
}

TEST_F(ScanArtifactsTest, NixKnowsTheClosureOfAnOldArtifact) {
  const std::string self = "/nix/store/" + std::string(32, 'd') + "-old";
  Write(store_ + self + "/metadata.json", R"({"name":"old","interpreter_type":"python"})");
  Write(store_ + self + "/bin/run", "#!/bin/sh\n");
  fs::create_directory_symlink(store_ + self, place_ + "/old");
  ASSERT_TRUE(ScanArtifacts({place_}).found.at(0).unavailable) << "there is nobody to ask";
  std::string asked;
  const Store store{.closure_of = [&](const StorePlace& place) {
    asked = place.prefix + " " + place.path;
    return std::vector<std::string>{kBash, kPython, self};
  }};
  const ArtifactScan scan = ScanArtifacts({place_}, store);
  ASSERT_EQ(scan.found.size(), 1U);
  EXPECT_FALSE(scan.found[0].unavailable);
  EXPECT_EQ(asked, "") << "not before it is used";
  const auto opened = OpenArtifact(scan.found[0], store.closure_of);
  ASSERT_TRUE(opened) << opened.error().what;
  EXPECT_EQ(asked, fs::canonical(store_).string() + " " + self);
  EXPECT_THAT(opened->interpreter, ElementsAre(kPython + "/bin/python3"));
  EXPECT_EQ(opened->variables.at("PATH"), kPython + "/bin:" + kBash + "/bin")
      << "without the wrapper scripts, and what needs others first";
}

TEST_F(ScanArtifactsTest, WhatIsNotAvailableYetIsRefusedAndNeverWeaker) {
  for (const char* more :
       {R"("network":"internet")", R"("backend":"microvm")", R"("backend":"container")"}) {
    Add("x", R"({"name":"x","interpreter_type":"python",)" + std::string(more) + R"(,"closure":)" +
                 Closure() + "}");
    const ArtifactScan scan = Scan();
    ASSERT_EQ(scan.found.size(), 1U);
    ASSERT_TRUE(scan.found[0].unavailable) << more;
    EXPECT_THAT(scan.found[0].unavailable->what, HasSubstr("not available yet"));
    EXPECT_FALSE(OpenArtifact(scan.found[0])) << more;
  }
}

TEST_F(ScanArtifactsTest, AnEarlierPlaceBeatsALaterOneInSilence) {
  Add("a", Good("science"));
  const std::string later = directory_.path() + "/later";
  Write(later + "/b/metadata.json", Good("science"));
  Write(later + "/c/metadata.json", Good("other"));
  const ArtifactScan scan = ScanArtifacts({place_, later}, {.prefix = store_});
  ASSERT_EQ(scan.found.size(), 2U);
  EXPECT_EQ(scan.found[0].directory, place_ + "/a");
  EXPECT_TRUE(scan.problems.empty());
}

TEST_F(ScanArtifactsTest, ALinkThatLeadsNowhereIsNamed) {
  fs::create_directory_symlink(directory_.path() + "/collected", place_ + "/gone");
  const ArtifactScan scan = Scan();
  ASSERT_EQ(scan.problems.size(), 1U);
  EXPECT_EQ(scan.problems[0].directory, place_ + "/gone");
}

TEST_F(ScanArtifactsTest, TheStoreIsNotLookedAtBeforeItIsUsed) {
  Add("x", Good("science"));
  fs::remove_all(store_ + kBash);
  const ArtifactScan scan = Scan();
  ASSERT_EQ(scan.found.size(), 1U);
  EXPECT_FALSE(scan.found[0].unavailable);
  const auto opened = OpenArtifact(scan.found[0]);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().what, HasSubstr(kBash + "', which is not there"));
}

TEST_F(ScanArtifactsTest, AClosureMayBeAFileInTheStore) {
  const std::string info = "/nix/store/" + std::string(32, 'd') + "-closure-info";
  Write(store_ + info + "/store-paths", kPython + "\n" + kBash + "\n");
  Add("x", R"({"name":"x","interpreter_type":"python","closure":")" + info + "/store-paths\"}");
  const ArtifactScan scan = Scan();
  ASSERT_EQ(scan.found.size(), 1U);
  const auto opened = OpenArtifact(scan.found[0]);
  ASSERT_TRUE(opened) << opened.error().what;
  EXPECT_EQ(opened->variables.at("PATH"), kPython + "/bin:" + kBash + "/bin");
}

TEST_F(ScanArtifactsTest, TheStoreIsWhereTheArtifactLies) {
  const std::string artifact = "/nix/store/" + std::string(32, 'a') + "-sandbox-science";
  Write(store_ + artifact + "/metadata.json", Good("science"));
  fs::create_directory_symlink(store_ + artifact, place_ + "/science");
  const ArtifactScan scan = ScanArtifacts({place_});
  ASSERT_EQ(scan.found.size(), 1U);
  const auto opened = OpenArtifact(scan.found[0]);
  ASSERT_TRUE(opened) << opened.error().what;
  EXPECT_THAT(opened->interpreter, ElementsAre(kPython + "/bin/python3"));
}

TEST_F(ScanArtifactsTest, SeesALinkInTheStoreAsOne) {
  fs::create_symlink("/etc/shadow", store_ + kLinked);
  Add("x", R"({"name":"x","interpreter_type":"python","closure":[")" + kPython + "\",\"" + kLinked +
               "\"]}");
  const ArtifactScan scan = Scan();
  ASSERT_EQ(scan.found.size(), 1U);
  const auto opened = OpenArtifact(scan.found[0]);
  ASSERT_TRUE(opened) << opened.error().what;
  bool seen = false;
  for (const sandbox::Entry& entry : opened->contents) {
    const auto* link = std::get_if<Link>(&entry);
    seen = seen || (link != nullptr && link->path == kLinked && link->points_to == "/etc/shadow");
  }
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace igloo::environment

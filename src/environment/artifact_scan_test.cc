// What is found in directories of artifacts, and what is made of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"
#include "environment/artifact.h"
#include "environment/artifact_testing.h"
#include "support/igloo.h"

namespace igloo::environment {
namespace {

using sandbox::Link;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

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
  for (const char* more : {R"("network":"host")", R"("backend":"container")"}) {
    Add("x", R"({"name":"x","interpreter_type":"python",)" + std::string(more) + R"(,"closure":)" +
                 Closure() + "}");
    const ArtifactScan scan = Scan();
    ASSERT_EQ(scan.found.size(), 1U);
    ASSERT_TRUE(scan.found[0].unavailable) << more;
    EXPECT_THAT(scan.found[0].unavailable->what,
                ::testing::AnyOf(HasSubstr("not available yet"), HasSubstr("no artifact gets")));
    EXPECT_FALSE(OpenArtifact(scan.found[0])) << more;
  }
}

TEST(Assess, AnUnknownWallIsRefused) {
  const Artifact artifact = Assess("", {.name = "x", .backend = "papre"}, {});
  ASSERT_TRUE(artifact.unavailable);
  EXPECT_EQ(artifact.unavailable->what, "environment 'x': there is no backend 'papre'");
  EXPECT_EQ(artifact.unavailable->hint, "choose jail, bubblewrap or microvm");
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

/// Whoever makes a link would choose which file of the host's is read, and told about.
TEST_F(ScanArtifactsTest, AClosureIsNotReadThroughLinks) {
  const std::string info = "/nix/store/" + std::string(32, 'd') + "-closure-info";
  const std::string real = directory_.path() + "/elsewhere/store-paths";
  Write(real, "root:hunter2:1\n");
  Add("x", R"({"name":"x","interpreter_type":"python","closure":")" + info + "/store-paths\"}");
  const auto refuse = [&](const std::string& what) {
    const auto opened = OpenArtifact(Scan().found.at(0));
    ASSERT_FALSE(opened) << what;
    EXPECT_THAT(opened.error().what, HasSubstr(what));
    EXPECT_THAT(opened.error().what, Not(HasSubstr("hunter2")));
    EXPECT_THAT(opened.error().hint, HasSubstr("nix build YOUR-FLAKE#x"));
  };
  fs::create_directories(store_ + info);
  fs::create_symlink(real, store_ + info + "/store-paths");
  refuse("cannot open '" + store_ + info + "/store-paths'");
  Write(real, kPython + "\n");  // also one that would do
  refuse("cannot open '" + store_ + info + "/store-paths'");
  fs::remove_all(store_ + info);
  fs::create_directory_symlink(directory_.path() + "/elsewhere", store_ + info);
  refuse("cannot open '" + store_ + info + "/store-paths'");
  fs::remove(store_ + info);
  Write(store_ + info + "/store-paths", "root:hunter2:1\n");
  refuse("line 1 is no store path");
}

TEST_F(ScanArtifactsTest, WhoKnowsTheStoreHasTheLastWord) {
  const std::string self = "/nix/store/" + std::string(32, 'd') + "-sandbox-science";
  std::string metadata = Good("science");
  metadata.insert(1, R"("store_prefix":")" + store_ + "\",");
  Write(store_ + self + "/metadata.json", metadata);
  const auto found = ReadArtifact(store_ + self, {.prefix = ""});
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->metadata.store_prefix, "");
  const auto opened = OpenArtifact(*found);
  ASSERT_FALSE(opened) << "neither what it says nor where it lies counts";
  EXPECT_THAT(opened.error().what, HasSubstr("needs '" + kPython + "', which is not there"));
  EXPECT_TRUE(OpenArtifact(ReadArtifact(store_ + self).value())) << "control: nobody has a word";
}

TEST_F(ScanArtifactsTest, NixIsAskedAboutTheStoreThatIsMeant) {
  const std::string self = "/nix/store/" + std::string(32, 'd') + "-old";
  const std::string other = directory_.path() + "/other";
  Write(other + self + "/metadata.json", R"({"name":"old","interpreter_type":"python"})");
  Write(other + self + "/bin/run", "#!/bin/sh\n");
  fs::create_directory_symlink(other + self, store_ + self);
  std::string asked;
  const Store store{.prefix = store_, .closure_of = [&](const StorePlace& place) {
                      asked = place.prefix;
                      return std::vector<std::string>{kBash, kPython, self};
                    }};
  const auto opened = OpenArtifact(ReadArtifact(store_ + self, store).value(), store.closure_of);
  ASSERT_TRUE(opened) << opened.error().what;
  EXPECT_EQ(asked, store_) << "and not the one that a link leads into";
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

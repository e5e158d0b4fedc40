#include "environment/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "base/temp_dir.h"
#include "environment/facts.h"
#include "language/language.h"

namespace igloo::environment {
namespace {

using sandbox::DeviceNode;
using sandbox::Entry;
using sandbox::HostTree;
using sandbox::Link;
using sandbox::TextFile;

const HostLayout kMerged = {.tops = {{"/bin", "usr/bin"}, {"/lib", "usr/lib"}},
                            .programs = {"/usr/bin/bash"}};

/// kMerged with everything that an environment asks for.
HostLayout Having(const HostEnvironment& row) {
  HostLayout layout = kMerged;
  for (const HostProgram& program : row.needs) layout.programs.emplace(program.path);
  return layout;
}

Environment Shell(const HostLayout& layout = kMerged) {
  auto made = MakeHostEnvironment("shell", layout);
  EXPECT_TRUE(made) << made.error().what;
  return made ? *std::move(made) : Environment{};
}

template <class T>
std::vector<T> Only(const std::vector<Entry>& entries) {
  std::vector<T> found;
  for (const Entry& entry : entries) {
    if (const T* one = std::get_if<T>(&entry)) found.push_back(*one);
  }
  return found;
}

TEST(HostEnvironmentTest, ShellStartsBashOnItsFile) {
  const Environment shell = Shell();
  EXPECT_EQ(shell.name, "shell");
  EXPECT_EQ(shell.interpreter, std::vector<std::string>{"/usr/bin/bash"});
  EXPECT_EQ(shell.code_file, "main.sh");
  EXPECT_EQ(shell.variables, (std::map<std::string, std::string>{
                                 {"LANG", "C.UTF-8"}, {"PATH", "/usr/local/bin:/usr/bin:/bin"}}));
}

TEST(HostEnvironmentTest, NothingOfTheHostIsWritable) {
  for (const HostTree& tree : Only<HostTree>(Shell().contents)) {
    EXPECT_EQ(tree.access, sandbox::Access::kReadOnly) << tree.target;
    EXPECT_EQ(tree.source, tree.target);
    EXPECT_FALSE(tree.map_owner) << tree.target;
  }
}

TEST(HostEnvironmentTest, OnlyUsrAndHarmlessPartsOfEtcAreSeen) {
  HostLayout layout = kMerged;
  layout.etc = {{.path = "fonts"}, {.path = "fpc.cfg", .points_to = "/etc/alternatives/fpc.cfg"}};
  const Environment shell = Shell(layout);
  std::set<std::string> targets;
  for (const HostTree& tree : Only<HostTree>(shell.contents)) targets.insert(tree.target);
  EXPECT_EQ(targets, (std::set<std::string>{"/usr", "/etc/fonts"}));
  EXPECT_THAT(Only<Link>(shell.contents),
              ::testing::Contains(::testing::Field(&Link::path, "/etc/fpc.cfg")));
}

TEST(HostEnvironmentTest, UsersAndNamesAreInventedNotTheHosts) {
  std::set<std::string> files;
  for (const TextFile& file : Only<TextFile>(Shell().contents)) files.insert(file.path);
  EXPECT_EQ(files, (std::set<std::string>{"/etc/passwd", "/etc/group", "/etc/hosts",
                                          "/etc/nsswitch.conf", "/etc/resolv.conf"}));
}

TEST(HostEnvironmentTest, DevicesAreTheHarmlessFive) {
  std::vector<std::string> names;
  for (const DeviceNode& node : Only<DeviceNode>(Shell().contents)) names.push_back(node.name);
  EXPECT_THAT(names, ::testing::ElementsAre("null", "zero", "full", "random", "urandom"));
}

TEST(HostEnvironmentTest, TheRootLooksLikeTheHosts) {
  const Environment merged = Shell({.tops = {{"/bin", "usr/bin"}}, .programs = {"/usr/bin/bash"}});
  EXPECT_THAT(Only<Link>(merged.contents),
              ::testing::Contains(::testing::AllOf(::testing::Field(&Link::path, "/bin"),
                                                   ::testing::Field(&Link::points_to, "usr/bin"))));
  const Environment split = Shell({.tops = {{"/bin", ""}}, .programs = {"/usr/bin/bash"}});
  EXPECT_THAT(Only<HostTree>(split.contents),
              ::testing::Contains(::testing::Field(&HostTree::target, "/bin")));
}

TEST(HostEnvironmentTest, AnUnknownNameSaysWhatWasMeant) {
  EXPECT_EQ(MakeHostEnvironment("pyton", kMerged).error(),
            (Error{.code = Errc::kNotFound,
                   .what = "there is no environment 'pyton'",
                   .hint = "did you mean 'python'?"}));
  EXPECT_EQ(
      MakeHostEnvironment("cobol\x1b", kMerged).error(),
      (Error{.code = Errc::kNotFound,
             .what = "there is no environment 'cobol\\x1b'",
             .hint =
                 "choose one of: shell, python, node, go, rust, java, ruby, perl, network-tools"}));
}

TEST(HostEnvironmentTest, EachIsOfferedOrSaysWhatToInstall) {
  for (const HostEnvironment& row : HostEnvironments()) {
    const auto made = MakeHostEnvironment(row.name, Having(row));
    ASSERT_TRUE(made) << row.name << ": " << made.error().what;
    EXPECT_EQ(made->interpreter.front(), row.start.front());
    EXPECT_EQ(made->code_file, language::Find(row.language)->code_file);
    EXPECT_EQ(made->limits.memory_bytes, row.memory_mb << 20);
    EXPECT_EQ(made->limits.time_ms, row.seconds * 1000);
    for (const HostProgram& missing : row.needs) {
      HostLayout without = Having(row);
      without.programs.erase(std::string(missing.path));
      const auto refused = MakeHostEnvironment(row.name, without);
      ASSERT_FALSE(refused) << row.name << " without " << missing.path;
      EXPECT_EQ(refused.error().code, Errc::kFailedPrecondition);
      EXPECT_THAT(refused.error().what, ::testing::HasSubstr(missing.path));
      EXPECT_THAT(refused.error().hint, ::testing::HasSubstr(missing.package));
    }
  }
}

TEST(HostEnvironmentTest, RowsAreCompleteAndNamesAreUnique) {
  std::set<std::string_view> names;
  for (const HostEnvironment& row : HostEnvironments()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    for (const std::string_view alias : row.aliases) {
      EXPECT_TRUE(names.insert(alias).second) << alias;
    }
    EXPECT_FALSE(row.description.empty()) << row.name;
    EXPECT_FALSE(row.needs.empty()) << row.name;
    EXPECT_FALSE(row.start.empty()) << row.name;
    EXPECT_NE(language::Find(row.language), nullptr) << row.name;
    EXPECT_GE(row.memory_mb, 512U) << row.name;
    EXPECT_GE(row.seconds, 30U) << row.name;
  }
}

TEST(HostEnvironmentTest, AMissingExtraIsANoteAndNoMore) {
  const auto shell = MakeHostEnvironment("shell", kMerged);
  ASSERT_TRUE(shell);
  EXPECT_THAT(shell->notes,
              ::testing::Contains("/usr/bin/jq is not installed: sudo apt install jq"));
  HostLayout with = kMerged;
  for (const HostProgram& extra : FindHostEnvironment("shell")->extras) {
    with.programs.emplace(extra.path);
  }
  EXPECT_THAT(MakeHostEnvironment("shell", with)->notes, ::testing::IsEmpty());
}

TEST(HostEnvironmentTest, RustGetsItsFileAsAnArgument) {
  const auto rust = MakeHostEnvironment("rust", Having(*FindHostEnvironment("rust")));
  ASSERT_TRUE(rust);
  ASSERT_EQ(rust->interpreter.size(), 4U);
  EXPECT_THAT(rust->interpreter[2], ::testing::HasSubstr("\"$1\""));
}

TEST(HostLayoutTest, LookingForOneSeesTheSameAsLookingForAll) {
  const HostLayout all = ReadHostLayout();
  for (const HostEnvironment& row : HostEnvironments()) {
    const HostLayout one = ReadHostLayoutFor(row.name);
    EXPECT_EQ(MakeHostEnvironment(row.name, all).has_value(),
              MakeHostEnvironment(row.name, one).has_value())
        << row.name;
  }
  EXPECT_TRUE(all.programs.contains("/usr/bin/bash")) << "essential on Debian";
  EXPECT_TRUE(ReadHostLayoutFor("cobol").programs.empty());
}

TEST(HostEnvironmentTest, TheLayoutNamesOnlyTopDirectories) {
  for (const HostLayout::Top& top : ReadHostLayout().tops) {
    EXPECT_THAT(top.path, ::testing::AnyOf("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"));
  }
}

TEST(GatherFactsTest, SaysWhatIsThereAndWhatIsNot) {
  const auto facts = GatherFacts({"/", "/dev/null", "/nonexistent/x"});
  ASSERT_EQ(facts.size(), 3U);
  ASSERT_TRUE(facts.at("/"));
  EXPECT_EQ(facts.at("/")->type, static_cast<std::uint32_t>(S_IFDIR));
  ASSERT_TRUE(facts.at("/dev/null"));
  EXPECT_EQ(facts.at("/dev/null")->type, static_cast<std::uint32_t>(S_IFCHR));
  EXPECT_EQ(facts.at("/nonexistent/x"), std::nullopt);
}

TEST(GatherFactsTest, SaysWhetherALinkLeadsThere) {
  const TempDir place = TempDir::Make(::testing::TempDir()).value();
  const std::string top = std::filesystem::canonical(place.path()).string();
  std::filesystem::create_directories(top + "/own/below");
  std::filesystem::create_directory_symlink("own", top + "/link");
  const auto facts = GatherFacts({top + "/own/below", top + "/link", top + "/link/below"});
  EXPECT_FALSE(facts.at(top + "/own/below")->behind_link);
  EXPECT_TRUE(facts.at(top + "/link")->behind_link);
  EXPECT_TRUE(facts.at(top + "/link/below")->behind_link);
  EXPECT_EQ(facts.at(top + "/link/below")->inode, facts.at(top + "/own/below")->inode);
}

}  // namespace
}  // namespace igloo::environment

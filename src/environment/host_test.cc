#include "environment/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>

#include "environment/facts.h"

namespace igloo::environment {
namespace {

using sandbox::DeviceNode;
using sandbox::Entry;
using sandbox::HostTree;
using sandbox::Link;
using sandbox::TextFile;

const HostLayout kMerged = {.tops = {{"/bin", "usr/bin"}, {"/lib", "usr/lib"}}};

Environment Shell(const HostLayout& layout = kMerged) {
  auto made = MakeHostEnvironment("shell", layout);  // bash is essential on Debian
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
  std::set<std::string> targets;
  for (const HostTree& tree : Only<HostTree>(Shell().contents)) targets.insert(tree.target);
  EXPECT_EQ(targets, (std::set<std::string>{"/usr", "/etc/ld.so.cache", "/etc/alternatives",
                                            "/etc/ssl/certs"}));
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
  const Environment merged = Shell({.tops = {{"/bin", "usr/bin"}}});
  EXPECT_THAT(Only<Link>(merged.contents),
              ::testing::Contains(::testing::AllOf(::testing::Field(&Link::path, "/bin"),
                                                   ::testing::Field(&Link::points_to, "usr/bin"))));
  const Environment split = Shell({.tops = {{"/bin", ""}}});
  EXPECT_THAT(Only<HostTree>(split.contents),
              ::testing::Contains(::testing::Field(&HostTree::target, "/bin")));
}

TEST(HostEnvironmentTest, AnUnknownNameSaysWhatWasMeant) {
  EXPECT_EQ(MakeHostEnvironment("pyton", kMerged).error(),
            (Error{.code = Errc::kNotFound,
                   .what = "there is no environment 'pyton'",
                   .hint = "did you mean 'python'?"}));
  EXPECT_EQ(MakeHostEnvironment("cobol\x1b", kMerged).error(),
            (Error{.code = Errc::kNotFound,
                   .what = "there is no environment 'cobol\\x1b'",
                   .hint = "choose one of: shell, python, node"}));
}

TEST(HostEnvironmentTest, EachIsOfferedOrSaysWhatToInstall) {
  for (const HostEnvironment& row : HostEnvironments()) {
    const auto made = MakeHostEnvironment(row.name, kMerged);
    if (::access(std::string(row.program).c_str(), X_OK) == 0) {
      ASSERT_TRUE(made) << row.name;
      EXPECT_EQ(made->interpreter.front(), row.program);
      EXPECT_EQ(made->code_file, row.code_file);
    } else {
      ASSERT_FALSE(made) << row.name;
      EXPECT_EQ(made.error().code, Errc::kFailedPrecondition);
      EXPECT_THAT(made.error().hint, ::testing::HasSubstr(row.package));
    }
  }
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

}  // namespace
}  // namespace igloo::environment

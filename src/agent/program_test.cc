#include "agent/program.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

namespace igloo::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Files by path: their first bytes. Links by path. Directories are what files lie in.
struct Tree {
  std::map<std::string, std::string> files = {};
  std::map<std::string, std::string> links = {};

  std::string Real(const std::string& path) const {
    if (const auto link = links.find(path); link != links.end()) return Real(link->second);
    for (const auto& [name, target] : links) {
      if (path.starts_with(name + "/")) return Real(target + path.substr(name.size()));
    }
    return files.contains(path) || IsDirectory(path) ? path : "";
  }
  bool IsDirectory(const std::string& path) const {
    const auto below = [&](const auto& each) { return each.first.starts_with(path + "/"); };
    return std::ranges::any_of(files, below) || std::ranges::any_of(links, below);
  }
  HostFiles Host() const {
    return {.real_path = [this](const std::string& path) { return Real(path); },
            .is_directory = [this](const std::string& path) { return IsDirectory(Real(path)); },
            .is_executable = [this](const std::string& path) { return !Real(path).empty(); },
            .head =
                [this](const std::string& path) {
                  const auto file = files.find(Real(path));
                  return file == files.end() ? "" : file->second;
                }};
  }
};

ProgramSearch SearchIn(std::string path) {
  return {.path = std::move(path), .home = "/home/ann", .shown = {"/usr"}};
}

std::vector<std::string> Trees(const ResolvedProgram& program) {
  std::vector<std::string> paths;
  for (const ProgramTree& tree : program.trees) paths.push_back(tree.path);
  return paths;
}

TEST(ResolveProgram, NeedsNothingMoreWhereTheEnvironmentHasIt) {
  const Tree tree{.files = {{"/usr/lib/node_modules/x/cli.js", "#!/usr/bin/env node\n"},
                            {"/usr/bin/node",
                             "\x7f"
                             "ELF"}},
                  .links = {{"/usr/bin/x", "/usr/lib/node_modules/x/cli.js"}}};
  const auto found = ResolveProgram("x", SearchIn("/usr/bin"), "", tree.Host());
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->path, "/usr/lib/node_modules/x/cli.js");
  EXPECT_THAT(found->trees, IsEmpty());
  EXPECT_THAT(found->links, IsEmpty());
}

TEST(ResolveProgram, TakesTheWholeNodeOfNvmWithItsInterpreter) {
  const std::string node = "/home/ann/.nvm/versions/node/v22";
  const Tree tree{
      .files = {{node + "/lib/node_modules/@a/x/cli.js", "#!/usr/bin/env -S node --q\n"},
                {node + "/bin/node", "ELF"}},
      .links = {{node + "/bin/x", node + "/lib/node_modules/@a/x/cli.js"}}};
  const auto found = ResolveProgram("x", SearchIn(node + "/bin:/usr/bin"), "", tree.Host());
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(Trees(*found), ElementsAre(node));
  EXPECT_THAT(found->path_directories, ElementsAre(node + "/bin"));
  EXPECT_THAT(found->links, IsEmpty()) << "the name lies in the tree itself";
}

TEST(ResolveProgram, TakesOnlyThePackagesOfAnNpmPrefixInTheHomeDirectory) {
  const Tree tree{.files = {{"/home/ann/lib/node_modules/x/cli.js", "#!/usr/bin/env node\n"},
                            {"/usr/bin/node", "ELF"}},
                  .links = {{"/home/ann/bin/x", "/home/ann/lib/node_modules/x/cli.js"}}};
  const auto found = ResolveProgram("x", SearchIn("/home/ann/bin:/usr/bin"), "", tree.Host());
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(Trees(*found), ElementsAre("/home/ann/lib/node_modules"));
  EXPECT_THAT(found->links,
              ElementsAre(ProgramLink{"/home/ann/bin/x", "/home/ann/lib/node_modules/x/cli.js"}));
}

TEST(ResolveProgram, TakesTheInstallationBelowLocalShare) {
  const Tree tree{
      .files = {{"/home/ann/.local/share/claude/versions/2", "ELF"}},
      .links = {{"/home/ann/.local/bin/claude", "/home/ann/.local/share/claude/versions/2"}}};
  const auto found = ResolveProgram("claude", SearchIn("/home/ann/.local/bin"), "", tree.Host());
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(Trees(*found), ElementsAre("/home/ann/.local/share/claude"));
}

TEST(ResolveProgram, TakesAPythonEnvironment) {
  const std::string place = "/home/ann/.local/pipx/venvs/aider";
  const Tree tree{.files = {{place + "/pyvenv.cfg", "home = /usr/bin"},
                            {place + "/bin/aider", "#!" + place + "/bin/python\n"},
                            {"/usr/bin/python3", "ELF"}},
                  .links = {{place + "/bin/python", "/usr/bin/python3"}}};
  const auto found = ResolveProgram("aider", SearchIn(place + "/bin"), "", tree.Host());
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(Trees(*found), ElementsAre(place));
}

TEST(ResolveProgram, TakesASingleFileAlone) {
  const Tree tree{.files = {{"/home/ann/bin/x", "ELF"}, {"/home/ann/bin/private", "ELF"}}};
  const auto found = ResolveProgram("x", SearchIn("/home/ann/bin"), "", tree.Host());
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(Trees(*found), ElementsAre("/home/ann/bin/x"));
}

TEST(ResolveProgram, NeverTakesTheHomeDirectoryOrWhatHoldsIt) {
  // Whatever makes them look like installations.
  const Tree tree{.files = {{"/home/ann/pyvenv.cfg", "x"},
                            {"/home/ann/x", "ELF"},
                            {"/home/ann/bin/node", "x"},
                            {"/home/ann/lib/node_modules/y", "x"}}};
  const auto found = ResolveProgram("x", SearchIn("/home/ann"), "", tree.Host());
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(Trees(*found), ElementsAre("/home/ann/x"));
}

TEST(ResolveProgram, LooksOnlyInWholePathsOfPath) {
  const Tree tree{.files = {{"./x", "ELF"}, {"/x", "ELF"}}};
  EXPECT_FALSE(ResolveProgram("x", SearchIn(".::bin"), "", tree.Host()));
}

TEST(ResolveProgram, SaysHowToGetWhatIsMissing) {
  const auto found = ResolveProgram("claude", SearchIn("/usr/bin"), "npm install x", Tree{}.Host());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::kNoProgram);
  EXPECT_THAT(found.error().hint, HasSubstr("npm install x"));
}

TEST(ResolveProgram, SaysWhichInterpreterIsMissing) {
  const Tree tree{.files = {{"/home/ann/bin/x", "#!/usr/bin/env node\n"}}};
  const auto found = ResolveProgram("x", SearchIn("/home/ann/bin"), "", tree.Host());
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().what, HasSubstr("'node'"));
}

TEST(ResolveProgram, EndsWithScriptsThatRunEachOther) {
  const Tree tree{
      .files = {{"/home/ann/a", "#!/home/ann/b\n"}, {"/home/ann/b", "#!/home/ann/a\n"}}};
  EXPECT_TRUE(ResolveProgram("/home/ann/a", SearchIn(""), "", tree.Host()));
}

}  // namespace
}  // namespace igloo::agent

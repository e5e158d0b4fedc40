// Artifacts of mkSandbox, schema 1: what is inside, how code gets there, and where they are found.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <boost/json.hpp>
#include <sstream>

#include "support/artifacts.h"
#include "support/mcp.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
namespace fs = std::filesystem;
namespace json = boost::json;

using Artifact = ArtifactStore;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST_F(Artifact, ShowsItsClosureAndNothingElseOfTheHost) {
  const std::string artifact = Add("art", "mine");
  const auto name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  const auto inside = [&](const std::string& code) {
    const Outcome outcome = Run({"run", "--artifact", artifact, code});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return Lines(outcome.out);
  };
  EXPECT_THAT(inside("ls -A /nix/store | sort"),
              ElementsAre(name(bash_), name(tools_), name(root_)));
  EXPECT_THAT(inside("ls -A / /nix /bin /usr /usr/bin | sort | tr '\\n' ' '"),
              ElementsAre(Not(AllOf(HasSubstr("lib"), HasSubstr("home"), HasSubstr("root ")))));
  EXPECT_THAT(inside("ls -A /bin"), ElementsAre("sh"));
  EXPECT_THAT(inside("ls -A /usr /usr/bin"), ElementsAre("/usr:", "bin", "", "/usr/bin:", "env"));
  EXPECT_THAT(inside("[ -e /lib64 ] || [ -e /lib ] || [ -e /home ] || echo none"),
              ElementsAre("none"));
  // Every file that is mapped into the program that runs.
  for (const std::string& line : inside("cat /proc/self/maps")) {
    const std::size_t path = line.find('/');
    if (path == std::string::npos) continue;
    EXPECT_THAT(line.substr(path), AnyOf(StartsWith(bash_), StartsWith(tools_)));
  }
}

TEST_F(Artifact, ALinkOfTheClosureThatPointsToTheHostStaysDead) {
  const std::string secret = Path("secret");
  Write(secret, "hunter2");
  const std::string link = StorePath('g', "link");
  fs::create_symlink(secret, Physical(link));
  fs::create_symlink(secret, Physical(root_ + "/secret"));
  Write(Physical(list_ + "/store-paths"),
        bash_ + "\n" + tools_ + "\n" + root_ + "\n" + link + "\n");
  const std::string artifact = Add("art", "mine");
  EXPECT_THAT(RunProgram({.program = "/bin/cat", .args = {Physical(link)}}).out, "hunter2")
      << "control: on the host it leads there";
  const Outcome outcome = Run(
      {"run", "--artifact", artifact,
       "readlink " + link + "; cat " + link + " " + root_ + "/secret " + secret + "; echo over"});
  EXPECT_THAT(outcome.out, StartsWith(secret + "\n")) << "it is there, as a link";
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("over"), Not(HasSubstr("hunter2"))));
}

TEST_F(Artifact, TakesCodeAsItsMetadataSays) {
  const std::string code = "echo \"$0\" | wc -c; echo 'two words'; exit 3\n";
  for (const char* how :
       {R"(,"interpreter":["bash"])", R"(,"interpreter":["bash"],"code":"file")",
        R"(,"interpreter":["bash","-c"],"code":"argument")",
        R"(,"interpreter":["bash","-s"],"code":"input")", R"(,"interpreter_type":"bash")"}) {
    const std::string artifact = Add("art", "mine", how);
    const Outcome outcome = Run({"run", "--artifact", artifact}, code);
    EXPECT_EQ(outcome.status, 3) << how << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("two words\n")) << how;
  }
  const Outcome named = Run({"run", "--artifact",
                             Add("art", "mine", R"(,"interpreter":["cat"],"code_file":"it.txt")"),
                             "the code itself"});
  EXPECT_EQ(named.out, "the code itself");
}

TEST_F(Artifact, CodeThatIsTooLargeForAnArgumentIsRefusedWithTheReason) {
  const std::string artifact =
      Add("art", "mine", R"(,"interpreter":["bash","-c"],"code":"argument")");
  const std::string least = ": " + std::string(131'069 - 9, 'x') + "\necho ok";
  const Outcome fits = Run({"run", "--artifact", artifact}, least);
  EXPECT_EQ(fits.out, "ok\n") << fits.err;
  const Outcome large = Run({"run", "--artifact", artifact}, std::string(200'000, '#'));
  EXPECT_EQ(large.status, 125);
  EXPECT_THAT(large.err, AllOf(HasSubstr("200000 bytes"), HasSubstr("the kernel allows 131071")));
  const Outcome file = Run({"run", "--artifact", Add("art", "mine")},
                           "#" + std::string(200'000, '#') + "\necho a file has no such limit");
  EXPECT_EQ(file.out, "a file has no such limit\n") << file.err;
}

TEST_F(Artifact, RefusesWhatIsNotAvailableYet) {
  for (const char* more : {R"(,"network":"host")", R"(,"backend":"container")"}) {
    const std::string artifact =
        Add("art", "mine", R"(,"interpreter_type":"bash")" + std::string(more));
    const Outcome outcome = Run({"run", "--artifact", artifact, "echo ran"});
    EXPECT_EQ(outcome.status, 125) << more;
    EXPECT_EQ(outcome.out, "") << more;
    EXPECT_THAT(outcome.err,
                ::testing::AnyOf(HasSubstr("not available yet"), HasSubstr("no artifact gets")));
  }
  Write(Path("art/metadata.json"), R"({"schema":2,"name":"x"})");
  EXPECT_THAT(Run({"run", "--artifact", Path("art"), "x"}).err, HasSubstr("a newer igloo"));
}

/// The kernel ends a path at a zero byte: what is left of it would be a directory of the host's.
TEST_F(Artifact, ItsPrefixNamesNoOtherDirectory) {
  Write(Path("victim/secret"), "hunter2");
  std::string metadata = Metadata("mine", R"(,"interpreter_type":"bash")");
  const std::size_t at = metadata.find(prefix() + "\"");
  ASSERT_NE(at, std::string::npos);
  for (const std::string& other : {Path("victim") + "\\u0000", prefix() + "/../victim"}) {
    std::string changed = metadata;
    changed.replace(at, prefix().size(), other);
    Write(Path("art/metadata.json"), changed);
    const Outcome outcome = Run({"run", "--artifact", Path("art"), "cat " + bash_ + "/secret"});
    EXPECT_EQ(outcome.status, 125) << other;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("'store_prefix' h")) << other;
  }
}

TEST_F(Artifact, AClosureThatIsALinkIsNotRead) {
  Write(Path("secret"), "hunter2\n");
  fs::remove(Physical(list_ + "/store-paths"));
  fs::create_symlink(Path("secret"), Physical(list_ + "/store-paths"));
  const Outcome outcome = Run({"run", "--artifact", Add("art", "mine"), "echo ran"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("cannot open"), Not(HasSubstr("hunter2"))));
}

TEST_F(Artifact, IsForAnyProject) {
  const std::string artifact = Add("art", "mine");
  Write(Path("project/file"), "of the project");
  const Outcome usual =
      Run({"run", "--artifact", artifact}, "cat /project/file", {"PROJECT_DIR=" + Path("project")});
  EXPECT_EQ(usual.out, "of the project") << usual.err;
  const Outcome elsewhere =
      Run({"run", "--artifact", artifact}, "cat /src/mine/file; ls -d /project",
          {"PROJECT_DIR=" + Path("project"), "PROJECT_MOUNT=/src/mine"});
  EXPECT_THAT(elsewhere.out, StartsWith("of the project")) << elsewhere.err;
  EXPECT_THAT(elsewhere.out, Not(HasSubstr("/project\n")));
  EXPECT_EQ(Run({"run", "--artifact", artifact}, "ls -d /project || echo none").out, "none\n");
  const Outcome covers = Run({"run", "--artifact", artifact}, "echo ran",
                             {"PROJECT_DIR=" + Path("project"), "PROJECT_MOUNT=/nix/store"});
  EXPECT_EQ(covers.status, 125) << "it would hide what is inside";
  EXPECT_EQ(covers.out, "");
}

TEST_F(Artifact, AnswersMistakesWithAdvice) {
  EXPECT_THAT(Run({"run", "--artifact", Path("nothing"), "x"}).err,
              AllOf(HasSubstr("is no artifact"), HasSubstr("mkSandbox made")));
  EXPECT_THAT(Run({"run", "--artifact", Path("x"), "--env", "shell", "x"}).err,
              HasSubstr("both name an environment"));
  EXPECT_THAT(Run({"session-agent"}).err, HasSubstr("igloo session-agent --artifact ./result"));
}

TEST_F(Artifact, ThatLiesInAStoreOfItsOwnNeedsNoPrefix) {
  const std::string self = StorePath('h', "sandbox-mine");
  std::string metadata = Metadata("mine", R"(,"interpreter_type":"bash")");
  const std::string prefix_key = R"(,"store_prefix":")" + prefix() + "\"";
  metadata.erase(metadata.find(prefix_key), prefix_key.size());
  Write(Physical(self) + "/metadata.json", metadata);
  fs::create_directory_symlink(Physical(self), Path("result"));
  const Outcome outcome = Run({"run", "--artifact", Path("result"), "ls /nix/store | wc -l"});
  EXPECT_EQ(outcome.out, "3\n") << outcome.err;
}

/// Where environments are found, and who knows of changes there.
class Places : public ArtifactStore {
 protected:
  /// Variables and files that make `directory` a place where artifacts are found.
  struct Found {
    std::string directory = {};
    std::vector<std::string> env = {};
    std::string program = BinDirectory() + "/igloo";
  };

  std::vector<Found> All() {
    Write(Path("home/.config/igloo/config.toml"), "[artifacts]\ndirectory = '~/named'\n");
    std::vector<Found> all = {{Path("home/named")},
                              {Path("home/.config/igloo/environments")},
                              {Path("variable"), {"NIX_SANDBOX_DIR=" + Path("variable")}},
                              {Path("home/.config/nix-sandbox-mcp/sandboxes")}};
    all.push_back({Path("installed/share/igloo/environments"), {}, Install("installed")});
    return all;
  }
  /// The programs of this build below a prefix of the test's; igloo of them.
  std::string Install(const std::string& prefix) {
    for (const auto& [name, place] : {std::pair{"igloo", "bin"},
                                      {"nix-sandbox-mcp", "bin"},
                                      {"igloo-core", "libexec/igloo"},
                                      {"igloo-jail", "libexec/igloo"},
                                      {"igloo-init", "libexec/igloo"}}) {
      const std::string directory = Path(prefix) + "/" + place;
      fs::create_directories(directory);
      fs::copy_file(BinDirectory() + "/" + name, directory + "/" + name);
    }
    return Path(prefix) + "/bin/igloo";
  }
  Outcome RunFrom(const Found& found, std::vector<std::string> args) {
    std::vector<std::string> env = found.env;
    env.insert(env.end(), {"PATH=/usr/bin:/bin", "HOME=" + Path("home")});
    return RunProgram({.program = found.program, .args = std::move(args), .env = env});
  }
};

TEST_F(Places, AllAreFoundAndLinksAreFollowed) {
  const std::string artifact = Add("result", "mine");
  for (const Found& each : All()) {
    fs::create_directories(each.directory);
    fs::create_directory_symlink(artifact, each.directory + "/link");
    const Outcome outcome = RunFrom(each, {"run", "--env", "mine", "echo found"});
    EXPECT_EQ(outcome.out, "found\n") << each.directory << outcome.err;
    fs::remove(each.directory + "/link");
  }
}

TEST_F(Places, OneThatIsMoreTheUsersOwnBeatsTheOthers) {
  std::vector<Found> all = All();
  const Found last = all.back();
  std::ranges::reverse(all);
  int number = 0;
  for (const Found& each : all) {
    const std::string which = std::to_string(number++);
    Write(each.directory + "/x/metadata.json",
          Metadata("python", R"(,"interpreter_type":"bash","env":{"WHICH":")" + which + "\"}"));
    // Only the last of them is of an installation that sees all places.
    Found with_all = last;
    with_all.env = {"NIX_SANDBOX_DIR=" + Path("variable")};
    const Outcome outcome = RunFrom(with_all, {"run", "--env", "python3", "echo $WHICH"});
    EXPECT_EQ(outcome.out, which + "\n") << each.directory << outcome.err;
    EXPECT_THAT(RunFrom(with_all, {"env", "list"}).err, Not(HasSubstr("already the name")));
  }
}

TEST_F(Places, ChangesAreNoticedByAServerThatRuns) {
  for (const Found& each : All()) {
    SCOPED_TRACE(each.directory);
    fs::create_directories(each.directory);
    std::vector<std::string> env = each.env;
    env.insert(env.end(), {"PATH=/usr/bin:/bin", "HOME=" + Path("home")});
    const std::string bin = fs::path(each.program).parent_path();
    McpClient client({.program = bin + "/igloo", .args = {"mcp"}, .env = env});
    client.Initialize();
    const auto run = [&] { return TextOf(client.Run("mine", "echo $WHICH")); };
    const auto await_change = [&] {
      const auto told = client.NextOther();
      ASSERT_TRUE(told);
      EXPECT_EQ(told->at("method"), "notifications/tools/list_changed");
    };
    EXPECT_THAT(run(), Not(HasSubstr("the first")));
    const std::string file = each.directory + "/x/metadata.json";
    Write(file, Metadata("mine", R"(,"interpreter_type":"bash","env":{"WHICH":"the first"})"));
    await_change();
    EXPECT_THAT(run(), HasSubstr("the first"));
    // Its description is what clients see of it.
    std::string changed =
        Metadata("mine", R"(,"interpreter_type":"bash","env":{"WHICH":"the second"})");
    changed.replace(changed.find("of the test"), 11, "changed now");
    Write(file + ".new", changed);
    fs::rename(file + ".new", file);
    await_change();
    EXPECT_THAT(run(), HasSubstr("the second"));
    fs::remove_all(each.directory + "/x");
    await_change();
    EXPECT_THAT(run(), Not(HasSubstr("the second")));
  }
}

TEST_F(Places, AnInstallationBringsItsConfiguration) {
  const Found found{.program = Install("server")};
  Write(Path("server/share/igloo/config.toml"), "[environments.sh]\npreset = 'shell'\n");
  Write(Path("home/.config/igloo/config.toml"), "[environments.mine]\npreset = 'shell'\n");
  EXPECT_EQ(RunFrom(found, {"config", "path"}).out, Path("server/share/igloo/config.toml") + "\n");
  EXPECT_EQ(RunFrom(found, {"run", "--env", "sh", "echo x"}).out, "x\n");
  EXPECT_EQ(RunFrom(found, {"run", "--env", "mine", "echo x"}).status, 125);
  EXPECT_EQ(RunFrom(found, {"run", "--config", Path("home/.config/igloo/config.toml"), "--env",
                            "mine", "echo x"})
                .out,
            "x\n");
}

}  // namespace
}  // namespace igloo::testing

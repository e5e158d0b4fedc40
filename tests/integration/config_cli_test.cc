// 'igloo config' and 'igloo trust' as people type them.

#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <filesystem>
#include <optional>

#include "base/replace_file.h"
#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace json = boost::json;

class ConfigCli : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::Make(std::filesystem::canonical(TempParent()).string());
    ASSERT_TRUE(made) << made.error().what;
    dir_.emplace(*std::move(made));
  }
  std::string Path(const std::string& name) const { return dir_->path() + "/" + name; }
  std::string Write(const std::string& name, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    EXPECT_TRUE(ReplaceFile(Path(name), text));
    return Path(name);
  }
  Outcome Run(std::vector<std::string> args, std::vector<std::string> env = {}) const {
    env.insert(env.end(), {"PATH=/usr/bin:/bin", "HOME=" + dir_->path(), "TOKEN=hunter2"});
    return RunProgram(
        {.program = BinDirectory() + "/igloo", .args = std::move(args), .env = std::move(env)});
  }

 private:
  std::optional<TempDir> dir_;
};

TEST_F(ConfigCli, SaysWhichFileIsRead) {
  const Outcome usual = Run({"config", "path"});
  EXPECT_EQ(usual.status, 0);
  EXPECT_EQ(usual.out, Path(".config/igloo/config.toml\n"));
  EXPECT_EQ(usual.err, "igloo: it does not exist: all is default\n");
  EXPECT_EQ(Run({"config", "path"}, {"XDG_CONFIG_HOME=/x"}).out, "/x/igloo/config.toml\n");
  EXPECT_EQ(Run({"config", "path"}, {"IGLOO_CONFIG=/v.toml"}).out, "/v.toml\n");
  EXPECT_EQ(Run({"config", "path", "--config", "f.toml"}, {"IGLOO_CONFIG=/v.toml"}).out,
            "f.toml\n");
}

TEST_F(ConfigCli, NotesWhatThisMachineDoesNotHave) {
  std::filesystem::create_directories(Path("rootfs"));
  Write(".config/igloo/config.toml",
        "[environments.gone]\npath = '" + Path("nowhere") +
            "'\n[environments.image]\nimage = 'oci:" + Path("no-layout") +
            "'\n[environments.there]\nimage = '" + Path("rootfs") +
            "'\n[environments.far]\nimage = 'docker.io/library/debian:12'\n");
  const Outcome outcome = Run({"config", "check"});
  EXPECT_EQ(outcome.status, 0) << "the file is right";
  EXPECT_THAT(
      outcome.err,
      AllOf(HasSubstr("config.toml:1:"), HasSubstr("environment 'gone' cannot be used here"),
            HasSubstr("environment 'image' cannot be used here: there is no '" + Path("no-layout") +
                      "'"),
            Not(HasSubstr("'there'")), Not(HasSubstr("'far'"))));
  EXPECT_EQ(Run({"config", "check", "--json"}).err, "");
}

TEST_F(ConfigCli, ExplainsAFileWithoutTheValuesOfVariables) {
  Write(".config/igloo/config.toml",
        "[project]\npath = '.'\ninherit_env.vars = ['TOKEN']\n[environments.python]\n"
        "timeout_seconds = 1.5\nenv = { SECRET = 'hunter2' }\n[environments.web]\npreset = 'node'\n"
        "sessions = false\n");
  const Outcome outcome = Run({"config", "check"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("environment python\n  preset       python\n"),
                    HasSubstr("  limits       time 1.5 s\n"), HasSubstr("  variables    SECRET\n"),
                    HasSubstr("  inherited    TOKEN\n"),
                    HasSubstr("refused when used\n  line 9       environments.web.sessions\n"),
                    Not(HasSubstr("hunter2"))));
  const Outcome as_json = Run({"config", "check", "--json"});
  EXPECT_THAT(as_json.out, Not(HasSubstr("hunter2")));
  const json::value document = json::parse(as_json.out);
  EXPECT_EQ(document.at("valid"), true);
  EXPECT_EQ(document.at("environments").at(0).at("limits").at("time_ms"), 1500);
  EXPECT_EQ(document.at("unavailable").at(0).at("line"), 9);
  EXPECT_EQ(document.at("project").at("path").as_string(), Path(".config/igloo"));
}

TEST_F(ConfigCli, ListsEverythingThatIsWrong) {
  const std::string path = Write("c.toml", "[limits]\nprocesses = 0\nopen_file = 3\n");
  const Outcome outcome = Run({"config", "check", path});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            path +
                ":2:13: 'processes' cannot be 0\n"
                "  hint: write a whole number from 1 to 1000000, for example processes = 256\n" +
                path +
                ":3:1: unknown key 'open_file' in [limits]\n"
                "  hint: did you mean 'open_files'?\n");
  const Outcome as_json = Run({"config", "check", path, "--json"});
  EXPECT_EQ(as_json.status, 125);
  const json::value document = json::parse(as_json.out);
  EXPECT_EQ(document.at("valid"), false);
  EXPECT_EQ(document.at("problems").at(1).at("line"), 3);
}

TEST_F(ConfigCli, WithoutAFileAllIsDefault) {
  const Outcome outcome = Run({"config", "check"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("all is default\n"));
  EXPECT_EQ(json::parse(Run({"config", "check", "--json"}).out).at("valid"), true);
  EXPECT_EQ(Run({"config", "check"}, {"IGLOO_CONFIG=/nonexistent"}).status, 125)
      << "a file that was named must be there";
}

TEST_F(ConfigCli, WrongWordsGetAnAnswer) {
  EXPECT_THAT(Run({"config"}).err, HasSubstr("needs a word behind it"));
  EXPECT_THAT(Run({"config", "chek"}).err, HasSubstr("did you mean 'check'?"));
  EXPECT_THAT(Run({"config", "check", "a", "b"}).err, HasSubstr("does not understand 'b'"));
  EXPECT_THAT(Run({"trust"}).err, HasSubstr("write igloo trust DIR"));
  EXPECT_THAT(Run({"trust", "--list", "x"}).err, HasSubstr("write igloo trust DIR"));
}

TEST_F(ConfigCli, TrustComesGoesAndIsListed) {
  Write("p/igloo.toml", "[environments.app]\npreset = 'python'\n");
  EXPECT_EQ(Run({"trust", "--list"}).out, "");
  const Outcome trusted = Run({"trust", Path("p")});
  EXPECT_EQ(trusted.status, 0) << trusted.err;
  EXPECT_EQ(trusted.out,
            "trusted as it is now: " + Path("p/igloo.toml") + "\n  environments: app\n");
  EXPECT_TRUE(std::filesystem::is_directory(Path(".local/state/igloo/trust")));
  EXPECT_EQ(Run({"trust", "--list"}).out, Path("p\n"));
  Write("p/igloo.toml", "[environments.other]\npreset = 'python'\n");
  EXPECT_EQ(Run({"trust", "--list"}).out, Path("p  (changed: not trusted)\n"));
  EXPECT_EQ(Run({"trust", Path("p"), "--remove"}).out, "no longer trusted: " + Path("p\n"));
  EXPECT_EQ(Run({"trust", Path("p"), "--remove"}).status, 125);
  EXPECT_EQ(Run({"trust", "--list"}).out, "");
}

TEST_F(ConfigCli, AFileThatGrantsIsNotTrusted) {
  Write("p/igloo.toml", "[environments.app]\npreset = 'python'\nnetwork = 'internet'\n");
  const Outcome outcome = Run({"trust", Path("p")});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr(Path("p/igloo.toml:3:1: 'environments.app.network' opens the "
                                          "network, which a project's own file never does\n")));
  EXPECT_EQ(Run({"trust", "--list"}).out, "");
  EXPECT_THAT(Run({"trust", Path("none")}).err, HasSubstr("cannot find the project"));
  std::filesystem::create_directory(Path("empty"));
  EXPECT_THAT(Run({"trust", Path("empty")}).err, HasSubstr("has no igloo.toml"));
}

}  // namespace
}  // namespace igloo::testing

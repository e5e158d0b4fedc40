#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/replace_file.h"
#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::testing {

/// A home directory of the test's own with a configuration in it. TOKEN is a variable that nobody
/// should see without being asked.
class Configured : public ::testing::Test {
 protected:
  /// Where the file is looked for without being named.
  static constexpr const char* kUsual = ".config/igloo/config.toml";

  void SetUp() override {
    // A sandbox of root's looks at it with an id of its own.
    std::filesystem::permissions(home_.path(), std::filesystem::perms(0755));
  }
  std::string Path(const std::string& name) const { return home_.path() + "/" + name; }
  /// Every user may read it, whatever this one's umask is.
  std::string Write(const std::string& name, std::string_view text) const {
    const std::filesystem::path path = Path(name);
    std::filesystem::create_directories(path.parent_path());
    EXPECT_TRUE(ReplaceFile(path, text));
    std::filesystem::permissions(path, std::filesystem::perms(0644));
    return path;
  }
  std::string Read(const std::string& name) const {
    return ReadFile(Path(name), 1U << 20).value_or("cannot be read");
  }
  Outcome Run(std::vector<std::string> args, std::vector<std::string> env = {}) const {
    env.insert(env.end(), {"PATH=/usr/bin:/bin", "HOME=" + home_.path(), "TOKEN=hunter2"});
    return RunProgram(
        {.program = BinDirectory() + "/igloo", .args = std::move(args), .env = std::move(env)});
  }

  /// A store path with the test's interpreter as python3; its name inside.
  std::string MakeStorePath() const {
    const std::string inside = "/nix/store/" + std::string(32, 'a') + "-python3";
    const std::string program = Path("prefix" + inside + "/bin/python3");
    std::filesystem::create_directories(std::filesystem::path(program).parent_path());
    std::filesystem::copy_file(BinDirectory() + "/igloo-test-interpreter", program);
    return inside;
  }
  /// What mkSandbox makes, of that store path.
  void MakeArtifact(const std::string& directory, const std::string& name) const {
    Write(directory + "/metadata.json",
          "{\"name\":\"" + name + R"(","interpreter_type":"python","timeout_seconds":7,)" +
              R"("store_prefix":")" + Path("prefix") + R"(","closure":["/nix/store/)" +
              std::string(32, 'a') + "-python3\"]}");
  }

 private:
  TempDir home_ = TempDir::Make(std::filesystem::canonical(TempParent()).string()).value();
};

}  // namespace igloo::testing

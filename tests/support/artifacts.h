#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::testing {

/// A store of the test's own with a real bash and the usual commands, both static, below a prefix
/// as a rootless Nix has it; and artifacts of schema 1 that need them.
class ArtifactStore : public ::testing::Test {
 protected:
  void SetUp() override {
    namespace fs = std::filesystem;
    // Sandboxes of root's look at it with ids of their own.
    fs::permissions(directory_.path(), fs::perms(0755));
    CopyProgram("/bin/bash-static", bash_ + "/bin/bash");
    fs::create_symlink("bash", Physical(bash_ + "/bin/sh"));
    CopyProgram("/bin/busybox", tools_ + "/bin/busybox");
    for (const char* name : {"cat", "ls", "env", "head", "mkdir", "sleep", "grep", "mktemp", "rm",
                             "id", "readlink", "tr", "sort", "wc"}) {
      fs::create_symlink("busybox", Physical(tools_ + "/bin/" + name));
    }
    fs::create_directories(Physical(root_ + "/bin"));
    for (const char* name : {"bash", "sh"}) {
      fs::create_symlink(bash_ + "/bin/" + name, Physical(root_ + "/bin/" + name));
    }
    for (const auto& each : fs::directory_iterator(Physical(tools_ + "/bin"))) {
      const std::string name = each.path().filename();
      fs::create_symlink(tools_ + "/bin/" + name, Physical(root_ + "/bin/" + name));
    }
    Write(Physical(list_ + "/store-paths"), bash_ + "\n" + tools_ + "\n" + root_ + "\n");
    fs::create_directories(Physical(other_ + "/bin"));
  }

  static std::string StorePath(char letter, const std::string& name) {
    return "/nix/store/" + std::string(32, letter) + "-" + name;
  }
  std::string Physical(const std::string& inside) const { return prefix() + inside; }
  std::string prefix() const { return directory_.path() + "/prefix"; }
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }

  void Write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
  }
  void CopyProgram(const std::string& from, const std::string& inside) const {
    std::filesystem::create_directories(std::filesystem::path(Physical(inside)).parent_path());
    std::filesystem::copy_file(from, Physical(inside));
  }

  /// metadata.json of schema 1; `more` begins with a comma, or replaces nothing.
  std::string Metadata(const std::string& name, const std::string& more = {}) const {
    return R"({"schema":1,"name":")" + name + R"(","description":"of the test","root":")" + root_ +
           R"(","closure":")" + list_ + R"(/store-paths","store_prefix":")" + prefix() + "\"" +
           more + "}";
  }
  /// An artifact in a directory of the test's; where it is.
  std::string Add(const std::string& directory, const std::string& name,
                  const std::string& more = R"(,"interpreter_type":"bash")") const {
    Write(Path(directory) + "/metadata.json", Metadata(name, more));
    return Path(directory);
  }

  Outcome Run(std::vector<std::string> args, std::string input = {},
              std::vector<std::string> env = {}) const {
    env.insert(env.end(), {"PATH=/usr/bin:/bin", "HOME=" + Path("home")});
    return RunProgram({.program = BinDirectory() + "/igloo",
                       .args = std::move(args),
                       .env = std::move(env),
                       .input = std::move(input)});
  }

  std::string bash_ = StorePath('a', "bash-static"), tools_ = StorePath('b', "busybox"),
              root_ = StorePath('c', "env"), list_ = StorePath('d', "closure-info"),
              other_ = StorePath('f', "not-in-the-closure");

 private:
  TempDir directory_ = TempDir::Make(std::filesystem::canonical(TempParent()).string()).value();
};

}  // namespace igloo::testing

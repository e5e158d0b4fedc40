#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/temp_dir.h"
#include "support/igloo.h"
#include "support/running.h"
#include "support/terminal.h"

namespace igloo::testing {

/// A user with a home directory, a project that is a git repository, and boxes around it.
class AgentBox : public ::testing::Test {
 protected:
  AgentBox() : place_(std::filesystem::canonical(temp_.path()).string()) {
    namespace fs = std::filesystem;
    fs::permissions(place_, fs::perms(0755));
    for (const char* each : {"home/.ssh", "home/code/project", "home/code/other"}) {
      fs::create_directories(Path(each));
    }
    Write("home/.gitconfig", "[user]\n\tname = Ann\n\temail = ann@example.org\n");
    Write("home/code/project/file", "old\n");
    Git({"init", "-q", "-b", "main"});
    Git({"add", "file"});
    Git({"commit", "-qm", "first"});
  }

  std::string Path(const std::string& name) const { return place_ + "/" + name; }
  std::string home() const { return Path("home"); }
  std::string project() const { return Path("home/code/project"); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(Path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// The user's own git, outside.
  Outcome Git(std::vector<std::string> words, const std::string& directory = {}) const {
    words.insert(words.begin(), {"-C", directory.empty() ? project() : directory});
    return RunProgram({.program = "/usr/bin/git", .args = words, .env = Variables()});
  }

  std::vector<std::string> Variables() const {
    std::vector<std::string> all = UsualVariables();
    std::erase_if(all, [](const std::string& each) { return each.starts_with("HOME="); });
    all.insert(all.end(), {"HOME=" + home(), "USER=ann", "GIT_CONFIG_NOSYSTEM=1",
                           "GITHUB_TOKEN=canary-of-a-token"});
    return all;
  }

  /// `igloo agent WORDS...` about the project.
  Invocation Agent(std::vector<std::string> words) const {
    words.insert(words.begin(), {"agent", "--project", project()});
    return {.program = BinDirectory() + "/igloo", .args = std::move(words), .env = Variables()};
  }
  /// A shell's script in a box without a network.
  Invocation Script(const std::string& script, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--cmd", "bash", "--yes", "--network", "none"});
    more.insert(more.end(), {"--", "-c", script});
    return Agent(std::move(more));
  }
  Outcome InBox(const std::string& script, std::vector<std::string> more = {}) const {
    return RunProgram(Script(script, std::move(more)));
  }
  /// The same by a person at a terminal.
  Terminal AtTerminal(const Invocation& invocation) const {
    std::vector<std::string> words = invocation.env;
    words.insert(words.begin(), {"-i", "TERM=xterm"});
    words.push_back(invocation.program);
    words.insert(words.end(), invocation.args.begin(), invocation.args.end());
    return Terminal("/usr/bin/env", std::move(words));
  }

 private:
  TempDir temp_ = TempDir::Make(TempParent()).value();
  std::string place_;
};

}  // namespace igloo::testing

#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include "agent/state/state_store.h"
#include "base/file.h"
#include "base/temp_dir.h"

namespace igloo::agent {

/// A user's home directory and a store, for tests.
class StateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto temp = TempDir::Make(::testing::TempDir());
    ASSERT_TRUE(temp) << temp.error().what;
    temp_.emplace(*std::move(temp));
    home_ = temp_->path() + "/home";
    std::filesystem::create_directories(home_);
    store_.directory = temp_->path() + "/state";
  }

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(home_ + "/" + path).parent_path());
    std::ofstream(home_ + "/" + path) << text;
  }
  /// The user's file; "(none)" when there is none.
  std::string Read(const std::string& path) const {
    return ReadFile(home_ + "/" + path, 1U << 20).value_or("(none)");
  }

  std::optional<TempDir> temp_;
  std::string home_;
  StateStore store_;
};

/// Runs `body` in a child process, which is killed before its step number `at` (from zero). False:
/// it ended by itself before.
inline bool KilledAtStep(StateStore store, int at,
                         const std::function<void(const StateStore&)>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    int step = 0;
    store.on_step = [&](std::string_view) {
      if (step++ == at) ::kill(::getpid(), SIGKILL);
    };
    body(store);
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGKILL;
  EXPECT_EQ(WEXITSTATUS(status), 0);
  return false;
}

}  // namespace igloo::agent

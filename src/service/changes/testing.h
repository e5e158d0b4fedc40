#pragma once

// A project, a change set, and an upper layer that a test writes as an overlay would.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/temp_dir.h"
#include "service/changes/apply.h"
#include "service/changes/change.h"
#include "service/changes/change_set.h"

namespace igloo::service::changes::testing {

class ChangesTest : public ::testing::Test {
 protected:
  ChangesTest() {
    const char* before = std::getenv("XDG_STATE_HOME");
    if (before != nullptr) state_before_ = before;
    ::setenv("XDG_STATE_HOME", (directory_.path() + "/state").c_str(), 1);
    std::filesystem::create_directory(project_);
  }
  ~ChangesTest() override {
    if (state_before_) {
      ::setenv("XDG_STATE_HOME", state_before_->c_str(), 1);
    } else {
      ::unsetenv("XDG_STATE_HOME");
    }
  }

  static void WriteTo(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  /// Into the project, as the host does it.
  void Host(const std::string& path, const std::string& text) const {
    WriteTo(project_ + "/" + path, text);
  }
  std::string OnHost(const std::string& path) const {
    return ReadFile(project_ + "/" + path, 64U << 20).value_or("(nothing)");
  }
  void BeginSet() {
    auto open = Begin({.name = name_, .project = project_, .by = "a test"});
    ASSERT_TRUE(open) << open.error().what;
    ASSERT_TRUE(open->Close());
    upper_ = open->layer() + "/upper";
  }

  // What code inside does.
  void Inside(const std::string& path, const std::string& text) const {
    WriteTo(upper_ + "/" + path, text);
  }
  void Whiteout(const std::string& path) const {
    const std::string place = upper_ + "/" + path;
    std::filesystem::create_directories(std::filesystem::path(place).parent_path());
    ASSERT_EQ(::mknod(place.c_str(), S_IFCHR, makedev(0, 0)), 0);
  }
  void Mark(const std::string& path, const std::string& name) const {
    ASSERT_EQ(::setxattr((upper_ + "/" + path).c_str(), name.c_str(), "y", 1, 0), 0);
  }

  Contents Open() const {
    auto held = Find(name_);
    EXPECT_TRUE(held) << held.error().what;
    auto contents = Contents::Open(held->set);
    EXPECT_TRUE(contents) << contents.error().what;
    return *std::move(contents);
  }
  static ChangeList Read(const Contents& contents) {
    auto list = ReadChanges(contents);
    EXPECT_TRUE(list) << list.error().what;
    return list ? *std::move(list) : ChangeList{};
  }
  /// "M a" and so on.
  std::vector<std::string> Letters() const {
    const Contents contents = Open();
    std::vector<std::string> out;
    for (const Change& each : Read(contents).changes) {
      out.push_back(std::string(Letter(each.kind)) + " " +
                    (each.from.empty() ? "" : each.from + " -> ") + each.path);
    }
    return out;
  }
  Outcome ApplyAll(const Choice& choice = {}) const {
    const Contents contents = Open();
    auto outcome = Apply(contents, Read(contents), choice);
    EXPECT_TRUE(outcome) << outcome.error().what;
    return outcome ? *std::move(outcome) : Outcome{};
  }
  /// Names in the project's top directory.
  std::vector<std::string> TopNames() const {
    std::vector<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator(project_)) {
      names.push_back(each.path().filename());
    }
    return names;
  }

  TempDir directory_ = TempDir::Make("/tmp").value();
  std::string project_ = directory_.path() + "/project";
  std::string name_ = "work";
  std::string upper_ = {};

 private:
  std::optional<std::string> state_before_ = {};
};

}  // namespace igloo::service::changes::testing

#include "config/schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "config/decode.h"
#include "sandbox/policy.h"

namespace igloo::config {
namespace {

TEST(SchemaTest, EveryKeyHasASectionWordsAndAnExample) {
  std::set<std::string_view> sections;
  for (const Section& section : Sections()) sections.insert(section.path);
  EXPECT_EQ(sections.size(), Sections().size()) << "no section twice";
  for (const Key& key : Keys()) {
    EXPECT_TRUE(sections.contains(SectionOf(key))) << key.path;
    EXPECT_FALSE(key.description.empty()) << key.path;
    EXPECT_FALSE(key.example.empty() && key.fallback.empty()) << key.path;
    EXPECT_FALSE(Expected(key).empty()) << key.path;
  }
}

TEST(SchemaTest, NoKeyStandsTwice) {
  std::set<std::string_view> paths;
  for (const Key& key : Keys()) EXPECT_TRUE(paths.insert(key.path).second) << key.path;
}

TEST(SchemaTest, WhatIsServedHasAPlaceToGo) {
  for (const Key& key : Keys()) {
    if (key.served == Served::kNow) {
      EXPECT_NE(key.store, nullptr) << key.path;
    }
  }
}

TEST(SchemaTest, NumbersHaveBoundsAndChoicesWords) {
  for (const Key& key : Keys()) {
    const Kind kind = key.shape.kind;
    if (kind == Kind::kCount || kind == Kind::kSeconds || kind == Kind::kMegabytes) {
      EXPECT_LT(key.shape.least, key.shape.most) << key.path;
    }
    const auto words = Words(key.shape.choices);
    EXPECT_EQ(kind == Kind::kChoice, !words.empty()) << key.path;
    for (const std::string_view later : Words(key.shape.later)) {
      EXPECT_NE(std::ranges::find(words, later), words.end()) << key.path;
    }
  }
}

TEST(SchemaTest, DefaultsAreThoseOfASandbox) {
  const Limits limits = DefaultLimits();
  const sandbox::Limits built_in;
  EXPECT_EQ(limits.time_ms, built_in.time_ms);
  EXPECT_EQ(limits.memory_bytes, built_in.memory_bytes);
  EXPECT_EQ(limits.processes, built_in.processes);
  EXPECT_EQ(limits.open_files, built_in.open_files);
  EXPECT_EQ(limits.file_bytes, built_in.file_bytes);
  const environment::Room room;
  EXPECT_EQ(limits.disk_bytes, room.disk_bytes);
  EXPECT_EQ(limits.disk_files, room.disk_files);
  EXPECT_EQ(limits.output_bytes, room.output_bytes);
  EXPECT_EQ(limits.cpu_ms, std::nullopt);
}

TEST(SchemaTest, SaysWhatIsRight) {
  const auto expected = [](std::string_view path) {
    return Expected(*std::ranges::find(Keys(), path, &Key::path));
  };
  EXPECT_EQ(expected("project.mode"), "\"readonly\", \"overlay\" or \"readwrite\"");
  EXPECT_EQ(expected("limits.processes"), "a whole number from 1 to 1000000");
  EXPECT_EQ(expected("defaults.timeout_seconds"), "seconds above 0 and up to 86400");
  EXPECT_EQ(expected("defaults.memory_mb"), "whole megabytes from 16 to 1048576");
}

}  // namespace
}  // namespace igloo::config

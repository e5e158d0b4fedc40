#include "audit/grant_log.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "base/temp_dir.h"

namespace igloo::audit {
namespace {

GrantUse Use(std::string event) {
  return {.time = Time(std::chrono::milliseconds(1'763'000'000'123)),
          .box = "claude-app",
          .grant = "--with-ssh",
          .event = std::move(event),
          .what = "SHA256:x \x1b[2J"};
}

TEST(GrantLog, AUseIsReadAsItWasWrittenButForControlCharacters) {
  const auto use = DecodeGrantUse(EncodeGrantUse(Use("signed")));
  ASSERT_TRUE(use) << use.error().what;
  EXPECT_EQ(use->box, "claude-app");
  EXPECT_EQ(use->time, Use("signed").time);
  EXPECT_EQ(use->what, "SHA256:x \\x1b[2J");
  EXPECT_FALSE(DecodeGrantUse("{\"time\":1}"));
}

TEST(GrantLog, RefusalsCannotPushSignaturesOut) {
  const TempDir place = *TempDir::Make(::testing::TempDir());
  GrantLog log({.directory = place.path()}, [](const Error& error) { FAIL() << error.what; });
  for (unsigned i = 0; i < 3 * GrantLog::kMostRefusals; ++i) log.Add(Use("refused"));
  log.Add(Use("signed"));
  const std::string text =
      ReadFile(place.path() + "/" + std::string(kGrantFile), 1U << 20).value_or("");
  EXPECT_EQ(std::ranges::count(text, '\n'), GrantLog::kMostRefusals + 1);
  EXPECT_NE(text.find("\"signed\""), std::string::npos);
}

}  // namespace
}  // namespace igloo::audit

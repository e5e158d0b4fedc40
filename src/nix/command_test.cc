#include "nix/command.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/replace_file.h"
#include "base/temp_dir.h"
#include "nix/closure.h"
#include "support/igloo.h"

namespace igloo::nix {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(LastLinesTest, BeginAtTheLastError) {
  EXPECT_EQ(LastLines("warning: x\nbuilding y\nerror: builder failed\n  last line\n\n"),
            "error: builder failed\n  last line");
  EXPECT_EQ(LastLines("just this\r\n"), "just this");
  EXPECT_EQ(LastLines(""), "");
}

TEST(LastLinesTest, AreFewAndKeepTheFirst) {
  std::string text = "error: it\n";
  for (int i = 0; i < 50; ++i) text += "line " + std::to_string(i) + "\n";
  const std::string last = LastLines(text);
  EXPECT_THAT(last, AllOf(HasSubstr("error: it\n...\n"), HasSubstr("\nline 49"),
                          Not(HasSubstr("line 30\n"))));
}

/// A stand-in for Nix: a script.
class CallTest : public ::testing::Test {
 protected:
  Settings Script(const std::string& name, const std::string& text) {
    const std::string path = dir_.path() + "/" + name;
    EXPECT_TRUE(ReplaceFile(path, "#!/bin/sh\n" + text, {.mode = 0755}));
    return {.program = dir_.path() + "/nix", .variables = {"HOME=/h", "NIX_CONFIG=cores = 1"}};
  }
  TempDir dir_ = TempDir::Make(testing::TempParent()).value();
};

TEST_F(CallTest, TellsEveryLineAndGivesTheOutput) {
  std::vector<std::string> lines;
  const auto out = Call(
      Script("nix", "echo one >&2; echo two >&2; printf '%s,' \"$@\"\n"),
      {.args = {"a", "b c"}, .progress = [&](std::string_view line) { lines.emplace_back(line); }});
  EXPECT_EQ(out.value(), "a,b c,");
  EXPECT_THAT(lines, ElementsAre("one", "two"));
}

TEST_F(CallTest, NothingElseOfTheCallerGetsToNix) {
  ::setenv("IGLOO_TEST_LEAK", "1", 1);
  const auto out = Call(Script("nix", "env; cat\n"), {});
  EXPECT_THAT(out.value(), AllOf(HasSubstr("HOME=/h\n"), HasSubstr("cores = 1\n"),
                                 HasSubstr("accept-flake-config = false\n"),
                                 HasSubstr("allow-import-from-derivation = false\n"),
                                 HasSubstr("sandbox = true\nsandbox-fallback = false\n"),
                                 Not(HasSubstr("IGLOO_TEST_LEAK"))));
}

TEST_F(CallTest, AStoreOfOnesOwnIsNamedLast) {
  Settings settings = Script("nix", "printf '%s,' \"$@\"\n");
  settings.store = "/s";
  EXPECT_EQ(Call(settings, {.args = {"build"}}).value(), "build,--store,/s,");
}

TEST_F(CallTest, AFailureIsToldInNixsWords) {
  const auto failed = Call(Script("nix", "echo 'error: no such thing' >&2; exit 1\n"), {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().what, "Nix says: error: no such thing");
}

TEST_F(CallTest, SaysHowToGetNix) {
  const auto failed = Call({}, {.args = {"build"}});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().what, "Nix is not installed");
}

TEST_F(CallTest, AClosureIsAListOfStorePaths) {
  const std::string path = "/nix/store/" + std::string(32, 'b') + "-x";
  const Settings settings = Script("nix-store", "echo " + path + "\n");
  EXPECT_THAT(Closure(settings, path).value(), ElementsAre(path));
  EXPECT_FALSE(Closure(settings, "/etc/passwd"));
  EXPECT_FALSE(Closure(settings, "--help"));
}

TEST_F(CallTest, RelativeEntriesOfPathAreNoPlaceForNix) {
  Script("nix", "true\n");
  const auto found = [&](const std::string& path) {
    return FindNix([&](const char*) { return path; });
  };
  EXPECT_EQ(found("/nonexistent:" + dir_.path()), dir_.path() + "/nix");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(dir_.path());
  EXPECT_NE(found("."), "./nix");
  EXPECT_NE(found(":"), "nix");
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace igloo::nix

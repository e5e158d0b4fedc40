#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>

#include "service/changes/testing.h"

namespace igloo::service::changes {
namespace {

using testing::ChangesTest;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class UpperTest : public ChangesTest {};

TEST_F(UpperTest, TellsWhatWasAddedChangedAndDeleted) {
  Host("changed", "one\n");
  Host("deleted", "two, which is something else\n");
  Host("dir/inner", "3");
  Host("same", "4");
  BeginSet();
  Inside("changed", "ONE\n");
  Inside("added", "new");
  Inside("same", "4");
  Whiteout("deleted");
  Whiteout("dir");
  EXPECT_THAT(Letters(), ElementsAre("A added", "M changed", "D deleted", "D dir", "D dir/inner"));
}

TEST_F(UpperTest, TellsModesLinksAndDirectories) {
  Host("script", "#!/bin/sh\n");
  Host("file", "x");
  BeginSet();
  Inside("script", "#!/bin/sh\n");
  ::chmod((upper_ + "/script").c_str(), 0755);
  ASSERT_EQ(::symlink("/etc/passwd", (upper_ + "/link").c_str()), 0);
  std::filesystem::create_directory(upper_ + "/empty");
  ASSERT_EQ(::symlink("elsewhere", (upper_ + "/file").c_str()), 0);
  EXPECT_THAT(Letters(), ElementsAre("A empty", "M file", "A link", "M script"));
}

TEST_F(UpperTest, AnOpaqueDirectoryHidesAllThatWasThere) {
  Host("dir/a", "one thing");
  Host("dir/b", "b");
  Host("dir/sub/c", "another thing, longer");
  BeginSet();
  std::filesystem::create_directory(upper_ + "/dir");
  Mark("dir", "user.overlay.opaque");
  Inside("dir/b", "b");
  EXPECT_THAT(Letters(), ElementsAre("D dir/a", "D dir/sub", "D dir/sub/c"));
}

TEST_F(UpperTest, AFileThatBecameADirectoryAndTheOtherWayRound) {
  Host("a", "file");
  Host("b/c", "in a directory, and quite long");
  BeginSet();
  Inside("a/x", "y");
  Inside("b", "now a file");
  EXPECT_THAT(Letters(), ElementsAre("M a", "A a/x", "M b", "D b/c"));
}

TEST_F(UpperTest, FindsRenamesByContent) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "line " + std::to_string(i) + "\n";
  Host("exact", text);
  Host("nearly", text + "of the second\n");
  BeginSet();
  Whiteout("exact");
  Whiteout("nearly");
  Inside("there/exact", text);
  Inside("there/nearly", "begin\n" + text + "of the second\n");
  EXPECT_THAT(Letters(),
              ElementsAre("A there", "R exact -> there/exact", "R nearly -> there/nearly"));
}

TEST_F(UpperTest, WhatIsNoFileIsRefused) {
  BeginSet();
  ASSERT_EQ(::mkfifo((upper_ + "/pipe").c_str(), 0644), 0);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string place = upper_ + "/socket";
  ASSERT_LT(place.size(), sizeof address.sun_path);
  place.copy(address.sun_path, place.size());
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
  Inside("elsewhere", "x");
  Mark("elsewhere", "user.overlay.metacopy");
  std::filesystem::create_directory(upper_ + "/moved");
  Mark("moved", "user.overlay.redirect");
  const Contents contents = Open();
  std::vector<std::string> refused;
  for (const Change& each : Read(contents).changes) {
    if (!each.refused.empty()) refused.push_back(each.path);
  }
  EXPECT_THAT(refused, ElementsAre("elsewhere", "moved", "pipe", "socket"));
  const Outcome outcome = ApplyAll();
  EXPECT_EQ(outcome.refused.size(), 4U);
  EXPECT_THAT(TopNames(), IsEmpty());
}

/// The base is what it was when the changes began, so a host edit is never taken for it.
TEST_F(UpperTest, WhatTheHostChangedSinceIsNoChangeOfTheSandbox) {
  Host("file", "one");
  BeginSet();
  Host("file", "two, on the host");
  Host("new", "on the host");
  EXPECT_THAT(Letters(), IsEmpty());
}

TEST_F(UpperTest, NamesMayBeAnything) {
  BeginSet();
  const std::vector<std::string> names = {"new\nline", "\xff\xfe", "quote\"", "-dash", "..."};
  for (const std::string& name : names) Inside(name, "x");
  EXPECT_EQ(ApplyAll().applied.size(), names.size());
  EXPECT_THAT(TopNames(), UnorderedElementsAre(names[0], names[1], names[2], names[3], names[4]));
}

}  // namespace
}  // namespace igloo::service::changes

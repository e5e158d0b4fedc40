// What a virtual machine that somebody has taken can say to the relay beside its emulator. A script
// stands in for the emulator: it has the same descriptors, and says what it likes.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "base/file.h"
#include "base/spawn.h"
#include "machine/launch.h"
#include "support/igloo.h"

namespace igloo::testing {
namespace {

using machine::Event;
using machine::EventKind;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

/// For the scripts: what a machine's first process says, and pieces of a stream. 31 is the console,
/// 32 the port of the launch, 33 that of igloo-init, 35 and 36 those of output and errors.
constexpr const char* kWords = R"sh(
event() { printf "\\x$1\\0\\0\\0"; head -c 500 /dev/zero; }
piece() { printf "\\0\\0\\0\\x$1%s" "$2"; }
end() { printf '\0\0\0\0'; }
all_end() { end >&33; end >&35; end >&36; }
)sh";

/// What came of one.
struct Seen {
  int status = -1;
  std::string output = {}, error = {}, control = {};
  std::vector<Event> events = {};
  /// The one that says how a machine ended; null: none came.
  const Event* Loss() const {
    for (const Event& each : events) {
      if (each.kind == EventKind::kLost) return &each;
    }
    return nullptr;
  }
  std::string Text() const {
    const Event* const loss = Loss();
    return loss == nullptr ? "" : std::string(loss->text, loss->text_size);
  }
};

std::string ReadToEnd(UniqueFd fd) { return ReadAll(fd.get(), 64U << 20).value_or("too much"); }

Seen RelayFor(const std::string& script) {
  FdPair launch = MakeSocketPair(SOCK_STREAM).value();
  FdPair control = MakeSocketPair(SOCK_STREAM).value();
  FdPair out = MakePipe().value();
  FdPair err = MakePipe().value();
  SpawnOptions options{.program = BinDirectory() + "/igloo-machine",
                       .argv = {"igloo-machine", "0", "/bin/bash", "-c", kWords + script},
                       .env = {"PATH=/usr/bin:/bin"},
                       .fds = {{out.second.get(), 1},
                               {err.second.get(), 2},
                               {launch.second.get(), machine::kRelayLaunchFd},
                               {control.second.get(), machine::kRelayControlFd}}};
  Child relay = Spawn(options).value();
  for (FdPair* each : {&launch, &control, &out, &err}) each->second.Reset();
  Seen seen{.output = ReadToEnd(std::move(out.first)),
            .error = ReadToEnd(std::move(err.first)),
            .control = ReadToEnd(std::move(control.first))};
  const std::string said = ReadToEnd(std::move(launch.first));
  EXPECT_EQ(said.size() % sizeof(Event), 0U) << "whole events";
  for (std::size_t at = 0; at + sizeof(Event) <= said.size(); at += sizeof(Event)) {
    std::memcpy(&seen.events.emplace_back(), said.data() + at, sizeof(Event));
  }
  const int status = relay.Wait().value();
  seen.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return seen;
}

/// The control of all others: what a machine may say arrives.
TEST(HostileMachine, OneThatSaysWhatItMayIsHeard) {
  const Seen seen = RelayFor(
      "event 01 >&32; event 02 >&32; event 03 >&32\n"
      "piece 03 out >&35; piece 03 err >&36; piece 06 report >&33; all_end; sleep 1000");
  EXPECT_EQ(seen.status, 0) << seen.Text();
  EXPECT_EQ(seen.output, "out");
  EXPECT_EQ(seen.error, "err");
  EXPECT_EQ(seen.control, "report");
  ASSERT_GE(seen.events.size(), 2U);
  EXPECT_EQ(seen.events.back().kind, EventKind::kLaunched);
  EXPECT_EQ(seen.Loss(), nullptr) << "the relay ends it once everything has arrived";
}

TEST(HostileMachine, ItsConsoleMayFloodAndOnlyItsEndIsKept) {
  const Seen seen = RelayFor(
      "event 01 >&32; head -c 20000000 /dev/zero | tr '\\0' x >&31\n"
      "echo 'Kernel panic - not syncing: test' >&31; exit 3");
  EXPECT_EQ(seen.status, 2);
  ASSERT_NE(seen.Loss(), nullptr);
  EXPECT_EQ(seen.Loss()->sys_errno, 3);
  EXPECT_LE(seen.Loss()->text_size, sizeof(Event::text));
  EXPECT_THAT(seen.Text(), ::testing::EndsWith("Kernel panic - not syncing: test\n"));
}

TEST(HostileMachine, ItDoesNotSpeakForTheRelay) {
  for (const char* kind : {"00", "05", "06", "07", "08", "ff"}) {
    const Seen seen =
        RelayFor("event 01 >&32; event " + std::string(kind) + " >&32; all_end; sleep 1000");
    EXPECT_EQ(seen.status, 2) << kind;
    ASSERT_NE(seen.Loss(), nullptr) << kind;
    EXPECT_EQ(seen.Loss(), &seen.events.back()) << "the relay's own";
    EXPECT_NE(seen.Loss()->sys_errno, 0) << "and it ended the machine";
  }
}

TEST(HostileMachine, AnEventThatLiesAboutItsSizeEndsIt) {
  const Seen seen = RelayFor(
      "event 01 >&32; printf '\\x04\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\xff\\xff\\xff\\xff' >&32\n"
      "head -c 488 /dev/zero >&32; sleep 1000");
  EXPECT_EQ(seen.status, 2);
  ASSERT_NE(seen.Loss(), nullptr);
}

TEST(HostileMachine, APieceThatIsTooLongEndsItAndNothingOfItIsPassedOn) {
  const Seen seen = RelayFor(
      "event 01 >&32; printf '\\x7f\\xff\\xff\\xff' >&35; head -c 100000 /dev/zero >&35\n"
      "all_end; sleep 1000");
  EXPECT_EQ(seen.status, 2);
  EXPECT_EQ(seen.output, "");
}

TEST(HostileMachine, OneThatNeverComesUpAndEndsIsALossWithItsWords) {
  const Seen seen = RelayFor("echo 'no such device' >&2; exit 1");
  EXPECT_EQ(seen.status, 2);
  EXPECT_THAT(seen.Text(), HasSubstr("no such device"));
}

TEST(HostileMachine, TheEmulatorHasItsPortsAndNothingOfIgloos) {
  // The one that bash lists them with is closed by the time it is looked at.
  const Seen seen = RelayFor(
      "event 01 >&32; for each in /proc/$$/fd/*; do [ -e $each ] && list+=\"${each##*/} \"; done\n"
      "piece $(printf %02x ${#list}) \"$list\" >&35; all_end; sleep 1000");
  EXPECT_EQ(seen.output, "0 1 2 31 32 33 34 35 36 ");
}

}  // namespace
}  // namespace igloo::testing

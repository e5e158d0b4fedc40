#include "agent/sockets/nix_trust.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/file.h"

namespace igloo::agent {
namespace {

std::string Numbers(std::initializer_list<std::uint64_t> numbers) {
  std::string bytes;
  for (const std::uint64_t number : numbers) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  return bytes;
}

/// What a client makes of a daemon that says this and goes away.
Result<NixTrust> Heard(const std::string& words) {
  const FdPair ends = MakeSocketPair(SOCK_STREAM).value();
  EXPECT_TRUE(WriteAll(ends.second.get(), words));
  ::shutdown(ends.second.get(), SHUT_WR);
  return AskNixTrust(ends.first.get(), ends.first.get());
}

constexpr std::uint64_t kMagic = 0x6478696f;
std::string Version(std::uint64_t minor) { return Numbers({kMagic, 1 << 8 | minor}); }
std::string Told(std::uint64_t trust) {
  return Numbers({6}) + "2.34.8" + std::string(2, '\0') + Numbers({trust});
}

TEST(AskNixTrust, UnderstandsWhatADaemonTells) {
  EXPECT_EQ(Heard(Version(38) + Told(2)), NixTrust::kUntrusted);
  EXPECT_EQ(Heard(Version(35) + Told(1)), NixTrust::kTrusted);
  EXPECT_EQ(Heard(Version(38) + Told(0)), NixTrust::kUnknown);
  EXPECT_EQ(Heard(Version(38) + Told(7)), NixTrust::kUnknown);
}

TEST(AskNixTrust, KnowsNothingFromADaemonThatDoesNotTell) {
  EXPECT_EQ(Heard(Version(34)), NixTrust::kUnknown);
}

TEST(AskNixTrust, FailsWhereNoDaemonIs) {
  EXPECT_FALSE(Heard(""));
  EXPECT_FALSE(Heard(Numbers({1, 2})));
  EXPECT_FALSE(Heard(Version(38)));
  EXPECT_FALSE(Heard(Version(38) + Numbers({1ULL << 40}))) << "a version of a terabyte";
}

}  // namespace
}  // namespace igloo::agent

#include "copy/restore_calls.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cstring>

namespace igloo::copy {
namespace {

constexpr std::uint64_t kPlace = 0x2000'0000'0000;

checkpoint::Header HeaderOf(const std::string& window) {
  checkpoint::Header header;
  std::memcpy(&header, window.data() + checkpoint::kPage, sizeof header);
  return header;
}

checkpoint::Call CallOf(const std::string& window, std::size_t number) {
  checkpoint::Call call;
  std::memcpy(&call, window.data() + checkpoint::kFirstCall + number * sizeof call, sizeof call);
  return call;
}

/// What lies at an address of the process that is being restored.
const char* At(const std::string& window, std::uint64_t address) {
  EXPECT_GE(address, kPlace);
  EXPECT_LT(address, kPlace + window.size());
  return window.data() + (address - kPlace);
}

TEST(RestoreCalls, StandInTheirOrderAndEnd) {
  RestoreCalls calls(kPlace);
  calls.Add(SYS_munmap, {1, 2});
  calls.Add(SYS_mmap, {3, 4, 5, 6, 7, 8}, 3);
  const std::string window = std::move(calls).Finish({}, "registers").value();
  EXPECT_EQ(CallOf(window, 0).number, static_cast<std::uint64_t>(SYS_munmap));
  EXPECT_EQ(CallOf(window, 1).arguments[5], 8U);
  EXPECT_EQ(CallOf(window, 1).answer, 3U);
  EXPECT_EQ(CallOf(window, 2).number, checkpoint::kEnd);
}

TEST(RestoreCalls, DataIsFoundWhereItWillLie) {
  RestoreCalls calls(kPlace);
  calls.AddWithData(SYS_openat, {1, 0, 2}, 1, std::string_view("/one\0", 5), 6);
  const std::uint64_t structure[2] = {7, 0};
  calls.AddWithData(SYS_prctl, {1, 2, 0}, 2,
                    {reinterpret_cast<const char*>(structure), sizeof structure});
  calls.PointTo(8, "inner");
  const std::string window = std::move(calls).Finish({}, "").value();
  EXPECT_STREQ(At(window, CallOf(window, 0).arguments[1]), "/one");
  std::uint64_t found[2];
  std::memcpy(found, At(window, CallOf(window, 1).arguments[2]), sizeof found);
  EXPECT_EQ(found[0], 7U);
  EXPECT_EQ(std::string_view(At(window, found[1]), 5), "inner");
}

TEST(RestoreCalls, TheHeaderSaysWhereThingsAre) {
  checkpoint::Header header{.pid = 2, .descriptor = 5, .vdso = 1, .kernel_parts = 1};
  header.program[0] = '/';
  RestoreCalls calls(kPlace);
  const std::string window = std::move(calls).Finish(header, "registers").value();
  const checkpoint::Header made = HeaderOf(window);
  EXPECT_TRUE(checkpoint::IsSound(made));
  EXPECT_EQ(made.window, window.size());
  EXPECT_EQ(window.substr(made.extended_at, made.extended_size), "registers");
}

TEST(RestoreCalls, AHeaderThatIsNotSoundIsNotUsed) {
  checkpoint::Header header{.pid = 2, .descriptor = 5, .vdso = 1, .kernel_parts = 1};
  header.program[0] = '/';
  const checkpoint::Header good = HeaderOf(RestoreCalls(kPlace).Finish(header, "").value());
  const auto spoilt = [&](auto spoil) {
    checkpoint::Header bad = good;
    spoil(bad);
    return checkpoint::IsSound(bad);
  };
  EXPECT_FALSE(spoilt([](auto& h) { h.magic = 1; }));
  EXPECT_FALSE(spoilt([](auto& h) { h.place += 1; }));
  EXPECT_FALSE(spoilt([](auto& h) { h.window = ~0ULL << 12; }));
  EXPECT_FALSE(spoilt([](auto& h) { h.kernel_parts = 5; }));
  EXPECT_FALSE(spoilt([](auto& h) { h.extended_size = ~0U; }));
  EXPECT_FALSE(spoilt([](auto& h) { h.extended_at = ~0ULL; }));
  EXPECT_FALSE(spoilt([](auto& h) { h.program[0] = 'x'; }));
  EXPECT_FALSE(spoilt([](auto& h) { h.descriptor = 0; }));
}

TEST(RestoreCalls, TooManyAreRefused) {
  RestoreCalls calls(kPlace);
  for (std::size_t i = 0; i < RestoreCalls::kMostBytes / sizeof(checkpoint::Call); ++i) {
    calls.Add(SYS_getpid, {});
  }
  EXPECT_FALSE(std::move(calls).Finish({}, ""));
}

}  // namespace
}  // namespace igloo::copy

// Filters whose calls igloo-init hears of answer as the plain ones do: igloo-init says EPERM where
// the plain filter says it, and lets be made what that allows.
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <set>
#include <string>

#include "guest/seccomp_testing.h"

namespace igloo::guest {
namespace {

constexpr uint32_t kAsked = SECCOMP_RET_USER_NOTIF;

bool IsPathCall(uint64_t number) {
  return std::ranges::find(kPathCalls, number, &PathCall::number) != std::end(kPathCalls);
}

/// What code gets in the end. This is what AnswerObserved does.
uint32_t AnswerOf(const Filter& filter, const Call& call, bool files) {
  const uint32_t verdict = Evaluate(filter, call).value_or(0);
  if (verdict != kAsked) return verdict;
  return files && IsPathCall(call.number) ? kAllow : Denied(EPERM);
}

/// Arguments that one rule or another looks at, and what it must not be misled by.
std::vector<Call> CallsOf(uint64_t number) {
  std::vector<Call> calls;
  const uint64_t values[] = {0,          1,           2,       3,       kTiocsti, kSetLease,
                             O_CREAT,    O_TMPFILE,   04755,   02000,   0x20000,  CLONE_NEWUSER,
                             SOCK_RAW,   AF_PACKET,   AF_INET, S_IFCHR, 0x40000,  SO_SNDBUF,
                             0xFFFFFFFF, ~uint64_t{0}};
  for (const uint64_t a : values) {
    for (const uint64_t b : values) {
      calls.push_back({.number = number, .args = {a, b, a, b}});
      calls.push_back({.number = number, .args = {a | kGarbage, b | kGarbage, b | kGarbage, a}});
      calls.push_back({.number = number, .args = {a, b, 0, a | kGarbage}});
      calls.push_back({.number = number, .args = {a, b, 6}});
    }
  }
  return calls;
}

class ToldCallTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(ToldCallTest, AnswersAsThePlainFilterWhateverTheArguments) {
  for (const ToldFilters& told : kAllTold) {
    for (const Call& call : CallsOf(GetParam())) {
      const auto plain = Evaluate(told.plain, call);
      ASSERT_TRUE(plain && *plain != kAsked) << "a plain filter asks nobody";
      ASSERT_EQ(AnswerOf(told.calls, call, false), *plain) << call.args[0] << " " << call.args[1];
      ASSERT_EQ(AnswerOf(told.files, call, true), *plain) << call.args[0] << " " << call.args[1];
    }
  }
}

/// Every number that the filters know, and some behind.
std::vector<uint32_t> Numbers() {
  std::vector<uint32_t> numbers(kLastKnownCall + 10);
  for (uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  return numbers;
}
INSTANTIATE_TEST_SUITE_P(Seccomp, ToldCallTest, ::testing::ValuesIn(Numbers()));

TEST(ToldFilterTest, OtherArchitecturesHaveNoCallsToHearOf) {
  for (const ToldFilters& told : kAllTold) {
    for (uint32_t number = 0; number <= kLastKnownCall; ++number) {
      for (const Filter* filter : {&told.calls, &told.files}) {
        EXPECT_EQ(Evaluate(*filter, {.number = number, .arch = AUDIT_ARCH_I386}), Denied(ENOSYS));
        EXPECT_EQ(Evaluate(*filter, {.number = number | 0x40000000}), Denied(ENOSYS));
      }
    }
  }
}

TEST(ToldFilterTest, HearsOfExactlyTheCallsOfTheLists) {
  std::set<uint32_t> told(std::begin(kToldCalls), std::end(kToldCalls));
  std::set<uint32_t> files = told;
  for (const PathCall& call : kPathCalls) files.insert(call.number);
  for (uint32_t number = 0; number <= kLastKnownCall; ++number) {
    const Call call{.number = number};
    EXPECT_EQ(Evaluate(kAllTold[0].calls, call) == kAsked, told.contains(number)) << number;
    EXPECT_EQ(Evaluate(kAllTold[0].files, call) == kAsked, files.contains(number)) << number;
  }
  const Call clone{.number = SYS_clone, .args = {CLONE_NEWUSER}};
  const Call raw{.number = SYS_socket, .args = {AF_INET, SOCK_RAW, 1}};
  for (const Call& call : {clone, raw}) EXPECT_EQ(Evaluate(kAllTold[0].calls, call), kAsked);
  EXPECT_EQ(Evaluate(kAllTold[1].calls, raw), kAllow) << "where it is a right";
}

TEST(ToldFilterTest, NoCallIsRefusedAndShownAsAPathAtOnce) {
  for (const PathCall& call : kPathCalls) {
    EXPECT_EQ(std::ranges::count(kToldCalls, call.number), 0);
    EXPECT_EQ(std::ranges::count(kDeniedCalls, call.number, &DeniedCall::number), 0);
  }
}

}  // namespace
}  // namespace igloo::guest

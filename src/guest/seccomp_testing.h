#pragma once

// Runs filters as the kernel would.

#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "guest/seccomp.h"

namespace igloo::guest {

inline constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
inline constexpr uint32_t Denied(int error) {
  return SECCOMP_RET_ERRNO | static_cast<uint32_t>(error);
}
/// In the half of an argument that the kernel does not read.
inline constexpr uint64_t kGarbage = 0xDEADBEEF00000000;

struct Call {
  uint64_t number = 0;
  uint64_t args[6] = {};
  uint32_t arch = kNativeArch;
};

/// Runs the filter as the kernel would; no value where the kernel would refuse or fall off the end.
inline std::optional<uint32_t> Evaluate(const Filter& filter, const Call& call) {
  seccomp_data data{
      .nr = static_cast<int>(call.number), .arch = call.arch, .instruction_pointer = 0, .args = {}};
  for (int i = 0; i < 6; ++i) data.args[i] = call.args[i];
  uint32_t a = 0;
  for (size_t at = 0; at < filter.size; ++at) {
    const sock_filter& op = filter.code[at];
    bool jump = false;
    switch (op.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (op.k % 4 != 0 || op.k + 4 > sizeof data) return std::nullopt;
        std::memcpy(&a, reinterpret_cast<const char*>(&data) + op.k, 4);
        continue;
      case BPF_ALU | BPF_AND | BPF_K:
        a &= op.k;
        continue;
      case BPF_RET | BPF_K:
        return op.k;
      case BPF_JMP | BPF_JA:
        at += op.k;
        continue;
      case BPF_JMP | BPF_JEQ | BPF_K:
        jump = a == op.k;
        break;
      case BPF_JMP | BPF_JGT | BPF_K:
        jump = a > op.k;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        jump = a >= op.k;
        break;
      case BPF_JMP | BPF_JSET | BPF_K:
        jump = (a & op.k) != 0;
        break;
      default:
        return std::nullopt;
    }
    at += jump ? op.jt : op.jf;
  }
  return std::nullopt;
}

inline constexpr ToldFilters kAllTold[] = {kToldFilters<false, false>, kToldFilters<false, true>,
                                           kToldFilters<true, false>, kToldFilters<true, true>};
inline constexpr const Filter* kAllFilters[] = {
    &kDebugFilter,      &kCountedDebugFilter, &kAllTold[0].plain, &kAllTold[0].calls,
    &kAllTold[0].files, &kAllTold[1].plain,   &kAllTold[1].calls, &kAllTold[1].files,
    &kAllTold[2].plain, &kAllTold[2].calls,   &kAllTold[2].files, &kAllTold[3].plain,
    &kAllTold[3].calls, &kAllTold[3].files};

/// The verdict of both profiles, which must agree.
inline uint32_t Verdict(const Call& call) {
  const auto verdict = Evaluate(kDefaultFilter, call);
  EXPECT_TRUE(verdict) << "the filter has no answer for " << call.number;
  EXPECT_EQ(verdict, Evaluate(kDebugFilter, call)) << call.number;
  return verdict.value_or(0);
}

}  // namespace igloo::guest

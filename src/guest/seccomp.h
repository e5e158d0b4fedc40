#pragma once

// Compiles the rules of guest/filter_rules.h to BPF, in the compiler itself: nothing is built or
// linked for it at run time.

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "guest/filter_rules.h"

namespace igloo::guest {

inline constexpr uint32_t kNewNamespaceFlags =
    0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000;
inline constexpr uint32_t kTiocsti = 0x5412, kTioclinux = 0x541C, kTiocsetd = 0x5423;
inline constexpr uint32_t kSetLease = 1024, kNotify = 1026, kSetPipeSize = 1031;  // fcntl's F_*
inline constexpr uint32_t kSetIdBits = S_ISUID | S_ISGID;
inline constexpr uint32_t kCreatingFlags = 0100 /* O_CREAT */ | 020000000 /* of O_TMPFILE */;
inline constexpr uint32_t kMapHuge = 0x40000, kMemoryFileHuge = 4, kSharedMemoryHuge = 04000;

#if defined(__x86_64__)
inline constexpr uint32_t kNativeArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
inline constexpr uint32_t kNativeArch = AUDIT_ARCH_AARCH64;
#else
#error "igloo supports x86_64 and aarch64"
#endif

inline constexpr size_t kMaxFilter = 512;

/// A finished filter.
struct Filter {
  sock_filter code[kMaxFilter] = {};
  uint16_t size = 0;
  bool valid = true;  ///< every jump is short enough for BPF
};

/// In what filters differ.
struct FilterRights {
  bool debug = false;    ///< what debuggers need
  bool counted = false;  ///< a cgroup counts memory that no process has mapped; see guest/memory.h
  bool raw_sockets = false;
  // SECURITY: with these igloo-init answers what the filter would; see guest/observer.h.
  bool told = false;   ///< of some refused calls
  bool files = false;  ///< of files that are asked for, too
};

/// A binary search for the call's number, then the code of its rule. The kernel evaluates the
/// filter once for every number when it is installed, so the depth of the search is what costs.
class FilterBuilder {
 public:
  constexpr Filter Build(const FilterRights& rights) {
    Load(offsetof(seccomp_data, arch));
    JumpIfEqual(kNativeArch, 1, 0);  // SECURITY: also closes int 0x80 on x86_64
    ReturnErrno(ENOSYS);
    Load(offsetof(seccomp_data, nr));
    Emit(BPF_JMP | BPF_JGT | BPF_K, kLastKnownCall, 0, 1);  // x32 numbers are far above, too
    ReturnErrno(ENOSYS);
    refused_ = rights.told ? SECCOMP_RET_USER_NOTIF : Errno(EPERM);
    opened_ = rights.files ? SECCOMP_RET_USER_NOTIF : kAllow;
    FindRanges(rights);
    EmitSearch(0, ranges_ - 1);
    for (uint32_t i = 0; i < static_cast<uint32_t>(Rule::kCount); ++i) {
      EmitRule(static_cast<Rule>(i), rights);
    }
    return filter_;
  }

 private:
  static constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
  static constexpr uint32_t kInit = 1;  ///< igloo-init's process number

  constexpr void Emit(uint16_t code, uint32_t k, uint8_t jt = 0, uint8_t jf = 0) {
    filter_.code[filter_.size++] = {code, jt, jf, k};
  }
  constexpr void Load(uint32_t offset) { Emit(BPF_LD | BPF_W | BPF_ABS, offset); }
  /// SECURITY: the low half only: the kernel reads 32 bits of these arguments, and a filter that
  /// compares 64 is passed by garbage in the high half.
  constexpr void LoadArgument(uint32_t index) {
    Load(static_cast<uint32_t>(offsetof(seccomp_data, args)) + index * 8);
  }
  constexpr void JumpIfEqual(uint32_t k, uint8_t jt, uint8_t jf) {
    Emit(BPF_JMP | BPF_JEQ | BPF_K, k, jt, jf);
  }
  constexpr void JumpIfAnyBit(uint32_t bits, uint8_t jt, uint8_t jf) {
    Emit(BPF_JMP | BPF_JSET | BPF_K, bits, jt, jf);
  }
  constexpr void Return(uint32_t action) { Emit(BPF_RET | BPF_K, action); }
  static constexpr uint32_t Errno(uint32_t error) { return SECCOMP_RET_ERRNO | error; }
  constexpr void ReturnErrno(uint32_t error) { Return(Errno(error)); }

  struct Range {
    uint32_t first;
    Rule rule;
  };
  /// Runs of numbers that have the same rule.
  constexpr void FindRanges(const FilterRights& rights) {
    Rule rules[kLastKnownCall + 1] = {};
    for (const DeniedCall& call : kDeniedCalls) {
      if (call.always || !rights.debug) rules[call.number] = Rule::kEperm;
    }
    for (const RuledCall& call : kRuledCalls) {
      const bool uncounted = call.rule == Rule::kMemoryFile || call.rule == Rule::kSharedMemory;
      rules[call.number] = uncounted && !rights.counted ? Rule::kMissing : call.rule;
    }
    for (const uint32_t call : kToldCalls) {
      if (rights.told && rules[call] == Rule::kEperm) rules[call] = Rule::kAsked;
    }
    for (const PathCall& call : kPathCalls) {
      if (rights.files && rules[call.number] == Rule::kAllow) rules[call.number] = Rule::kAsked;
    }
    for (uint32_t number = 0; number <= kLastKnownCall; ++number) {
      if (ranges_ == 0 || range_[ranges_ - 1].rule != rules[number]) {
        range_[ranges_++] = {number, rules[number]};
      }
    }
  }
  constexpr void EmitSearch(size_t low, size_t high) {
    if (low == high) {
      EmitAnswer(range_[low].rule);
      return;
    }
    const size_t middle = (low + high + 1) / 2;
    const uint16_t at = filter_.size;
    Emit(BPF_JMP | BPF_JGE | BPF_K, range_[middle].first);
    EmitSearch(low, middle - 1);
    const int distance = filter_.size - at - 1;
    filter_.valid = filter_.valid && distance <= UINT8_MAX;
    filter_.code[at].jt = static_cast<uint8_t>(distance);
    EmitSearch(middle, high);
  }
  constexpr void EmitAnswer(Rule rule) {
    if (rule == Rule::kAllow) return Return(kAllow);
    if (rule == Rule::kEperm) return ReturnErrno(EPERM);
    if (rule == Rule::kMissing) return ReturnErrno(ENOSYS);
    if (rule == Rule::kAsked) return Return(SECCOMP_RET_USER_NOTIF);
    waiting_[waiting_count_++] = {filter_.size, rule};
    Emit(BPF_JMP | BPF_JA, 0);  // EmitRule says where to
  }

  /// The code of one rule, if any call has it: always up to a return.
  constexpr void EmitRule(Rule rule, const FilterRights& rights) {
    bool used = false;
    for (size_t i = 0; i < waiting_count_; ++i) {
      if (waiting_[i].rule != rule) continue;
      used = true;
      filter_.code[waiting_[i].at].k = static_cast<uint32_t>(filter_.size - waiting_[i].at - 1);
    }
    if (used) EmitBody(rule, rights);
  }
  constexpr void EmitBody(Rule rule, const FilterRights& rights) {
    switch (rule) {
      case Rule::kAllow:
      case Rule::kEperm:
      case Rule::kMissing:
      case Rule::kAsked:
      case Rule::kCount:
        return;
      case Rule::kClone:
        return RefuseBits(0, kNewNamespaceFlags, refused_);
      case Rule::kIoctl:
        return RefuseValues(1, {3, {kTiocsti, kTioclinux, kTiocsetd}}, EPERM);
      case Rule::kFcntl:
        // Leases hold up whoever opens a shared file on the host, F_NOTIFY is older than inotify
        // and not counted like it, and larger pipes use up what all processes of an id share.
        return RefuseValues(1, {3, {kSetLease, kNotify, kSetPipeSize}}, EPERM);
      case Rule::kSocket:
        RawSocketRule(rights.raw_sockets ? kAllow : refused_);
        return SocketRule();
      case Rule::kSocketPair:
        return AllowValues(0, {1, {AF_UNIX}}, EAFNOSUPPORT);
      case Rule::kSocketOption:
        return SocketOptionRule();
      case Rule::kMode1:
        return RefuseBits(1, kSetIdBits, Errno(EPERM));
      case Rule::kMode2:
        return RefuseBits(2, kSetIdBits, Errno(EPERM));
      case Rule::kOpen2:
        return OpenRule(2);
      case Rule::kOpen3:
        return OpenRule(3);
      case Rule::kNode1:
        return NodeRule(1);
      case Rule::kNode2:
        return NodeRule(2);
      case Rule::kPersonality:
        return AllowValues(0, {2, {0, 0xFFFFFFFF}}, EPERM);  // the last one asks, and sets nothing
      case Rule::kNotInit:
        // SECURITY: igloo-init has the payload's own id, so the kernel would let the payload take
        // its descriptors or its processor away, and an init that cannot poll hears neither igloo
        // nor the end of a child.
        return RefuseValues(0, {1, {kInit}}, EPERM);
      case Rule::kProcessPriority:
        return PriorityRule(0 /* PRIO_PROCESS */, 2 /* PRIO_USER */);
      case Rule::kIoPriority:
        return PriorityRule(1 /* IOPRIO_WHO_PROCESS */, 3 /* IOPRIO_WHO_USER */);
      // No limit counts huge pages. ENOMEM is what a kernel says that has none left.
      case Rule::kMap:
        return RefuseBits(3, kMapHuge, Errno(ENOMEM));
      // Chromium asks with every flag set whether the call is there, and ends itself over any
      // answer but this one.
      case Rule::kMemoryFile:
        return RefuseBits(1, kMemoryFileHuge, Errno(EINVAL));
      case Rule::kSharedMemory:
        return RefuseBits(2, kSharedMemoryHuge, Errno(ENOMEM));
    }
  }

  constexpr void RefuseBits(uint32_t argument, uint32_t bits, uint32_t refusal) {
    LoadArgument(argument);
    JumpIfAnyBit(bits, 0, 1);
    Return(refusal);
    Return(kAllow);
  }
  struct Values {
    uint32_t count;
    uint32_t value[3];
  };
  constexpr void RefuseValues(uint32_t argument, const Values& values, uint32_t error) {
    LoadArgument(argument);
    for (uint32_t i = 0; i < values.count; ++i) {
      const auto left = static_cast<uint8_t>(values.count - i - 1);
      // Each of them jumps to the error; behind the last one, everything else jumps over it.
      JumpIfEqual(values.value[i], left, left == 0 ? 1 : 0);
    }
    ReturnErrno(error);
    Return(kAllow);
  }
  constexpr void AllowValues(uint32_t argument, const Values& values, uint32_t error) {
    LoadArgument(argument);
    for (uint32_t i = 0; i < values.count; ++i) {
      JumpIfEqual(values.value[i], static_cast<uint8_t>(values.count - i), 0);
    }
    ReturnErrno(error);
    Return(kAllow);
  }
  /// SECURITY: in a project that is mounted read-write, a set-uid file would carry the id of the
  /// project's owner on the host. The mode counts only where a file is made.
  constexpr void OpenRule(uint32_t mode_argument) {
    LoadArgument(mode_argument - 1);
    JumpIfAnyBit(kCreatingFlags, 0, 3);
    LoadArgument(mode_argument);
    JumpIfAnyBit(kSetIdBits, 0, 1);
    ReturnErrno(EPERM);
    Return(opened_);
  }
  /// No set-uid files, no devices, not even the 0:0 that overlayfs takes for a whiteout.
  constexpr void NodeRule(uint32_t mode_argument) {
    LoadArgument(mode_argument);
    JumpIfAnyBit(kSetIdBits, 3, 0);
    Emit(BPF_ALU | BPF_AND | BPF_K, S_IFMT);
    JumpIfEqual(S_IFCHR, 1, 0);
    JumpIfEqual(S_IFBLK, 0, 1);
    ReturnErrno(EPERM);
    Return(kAllow);
  }
  /// Sizes of buffers stay as they are, and the call says that it worked: the kernel, too, answers
  /// so and takes less than was asked for. A refusal would stop programs that only wanted speed.
  constexpr void SocketOptionRule() {
    LoadArgument(1);
    JumpIfEqual(SOL_SOCKET, 0, 4);
    LoadArgument(2);
    JumpIfEqual(SO_SNDBUF, 1, 0);
    JumpIfEqual(SO_RCVBUF, 0, 1);
    ReturnErrno(0);
    Return(kAllow);
  }
  /// Packets of code's own making, and all that come. Who may not is told so in the words of the
  /// right that is missing; what else this family of calls has is judged by the rule that follows.
  constexpr void RawSocketRule(uint32_t verdict) {
    LoadArgument(0);
    JumpIfEqual(AF_PACKET, 5, 0);
    JumpIfEqual(AF_INET, 1, 0);
    JumpIfEqual(AF_INET6, 0, 4);
    LoadArgument(1);
    Emit(BPF_ALU | BPF_AND | BPF_K, 0xF);  // without SOCK_CLOEXEC and SOCK_NONBLOCK
    JumpIfEqual(SOCK_RAW, 0, 1);
    Return(verdict);
  }
  /// Unix; Internet streams and datagrams of the everyday protocols; netlink routing.
  constexpr void SocketRule() {
    LoadArgument(0);
    JumpIfEqual(AF_UNIX, 16, 0);
    JumpIfEqual(AF_INET, 4, 0);
    JumpIfEqual(AF_INET6, 3, 0);
    JumpIfEqual(AF_NETLINK, 0, 12);
    LoadArgument(2);
    Emit(BPF_JMP | BPF_JEQ | BPF_K, 0 /* NETLINK_ROUTE */, 11, 10);
    LoadArgument(1);
    Emit(BPF_ALU | BPF_AND | BPF_K, 0xF);  // without SOCK_CLOEXEC and SOCK_NONBLOCK
    JumpIfEqual(SOCK_STREAM, 1, 0);
    JumpIfEqual(SOCK_DGRAM, 0, 6);
    LoadArgument(2);
    JumpIfEqual(0, 5, 0);
    JumpIfEqual(6 /* TCP */, 4, 0);
    JumpIfEqual(17 /* UDP */, 3, 0);
    JumpIfEqual(1 /* ICMP */, 2, 0);
    JumpIfEqual(58 /* ICMPv6 */, 1, 0);
    ReturnErrno(EAFNOSUPPORT);
    Return(kAllow);
  }
  /// The first argument says what the second one is: refused are igloo-init itself, and all
  /// processes of its user.
  constexpr void PriorityRule(uint32_t process, uint32_t user) {
    LoadArgument(0);
    JumpIfEqual(user, 3, 0);
    JumpIfEqual(process, 0, 3);
    LoadArgument(1);
    JumpIfEqual(kInit, 0, 1);
    ReturnErrno(EPERM);
    Return(kAllow);
  }

  Filter filter_ = {};
  Range range_[2 * (kDeniedCount + kRuledCount) + 2] = {};
  size_t ranges_ = 0;
  struct Waiting {
    uint16_t at;
    Rule rule;
  };
  Waiting waiting_[kRuledCount] = {};  ///< jumps whose rule has no code yet
  size_t waiting_count_ = 0;
  uint32_t refused_ = 0;  ///< what a refused call that may be told answers
  uint32_t opened_ = 0;   ///< what an open that is allowed answers
};

/// The filter with these rights, made by the compiler.
template <FilterRights kRights>
inline constexpr Filter kFilterOf = [] {
  constexpr Filter kFilter = FilterBuilder().Build(kRights);
  static_assert(kFilter.valid);
  return kFilter;
}();

inline constexpr const Filter& kDefaultFilter = kFilterOf<FilterRights{}>;
inline constexpr const Filter& kDebugFilter = kFilterOf<FilterRights{.debug = true}>;
inline constexpr const Filter& kCountedDebugFilter =
    kFilterOf<FilterRights{.debug = true, .counted = true}>;

/// A filter for what igloo-init is told: nothing, refused calls, or files as well.
struct ToldFilters {
  const Filter& plain;
  const Filter& calls;
  const Filter& files;
};
template <bool kCounted, bool kRaw>
inline constexpr ToldFilters kToldFilters = {
    kFilterOf<FilterRights{.counted = kCounted, .raw_sockets = kRaw}>,
    kFilterOf<FilterRights{.counted = kCounted, .raw_sockets = kRaw, .told = true}>,
    kFilterOf<FilterRights{.counted = kCounted, .raw_sockets = kRaw, .told = true, .files = true}>};

}  // namespace igloo::guest

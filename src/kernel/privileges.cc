#include "kernel/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace igloo::kernel {
namespace {

/// KEEP_CAPS is not among them: it keeps what is held and gives nothing, and `ping` insists on it.
constexpr unsigned long kLocked = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                  SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                                  SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

/// The capabilities of this process, 32 in each half.
struct Sets {
  __user_cap_data_struct half[2] = {};

  bool Read() { return Call(SYS_capget); }
  bool Write() { return Call(SYS_capset); }

 private:
  bool Call(long number) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    return syscall(number, &header, half) == 0;
  }
};

}  // namespace

bool BoundPrivileges() {
  // The kernel answers EINVAL past its last capability.
  for (unsigned long capability = 0; capability < 64; ++capability) {
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) {
      if (errno != EINVAL) return false;
      break;
    }
  }
  return prctl(PR_SET_SECUREBITS, kLocked, 0, 0, 0) == 0 &&
         prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

bool RaiseForPrograms(unsigned capability) {
  Sets sets;
  if (!sets.Read()) return false;
  sets.half[capability / 32].inheritable |= 1U << capability % 32;
  return sets.Write() && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) == 0;
}

bool DropPrivileges(unsigned long kept) {
  if (kept == 0 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return false;
  // What is not held cannot be kept: the kernel refuses.
  const auto low = static_cast<uint32_t>(kept), high = static_cast<uint32_t>(kept >> 32);
  return Sets{{{low, low, low}, {high, high, high}}}.Write();
}

bool LockPrivileges() {
  Sets sets;
  if (!sets.Read()) return false;
  if ((sets.half[0].effective & 1U << CAP_SETPCAP) == 0) return true;
  return prctl(PR_SET_SECUREBITS, kLocked, 0, 0, 0) == 0 &&
         prctl(PR_CAPBSET_DROP, CAP_SETPCAP, 0, 0, 0) == 0 && DropPrivileges(0);
}

bool HasNoPrivilegesBut(unsigned granted) {
  Sets sets;
  if (!sets.Read()) return false;
  for (const auto& half : sets.half) {
    const uint32_t expected = &half == sets.half ? granted : 0;
    if (half.effective != expected || half.permitted != expected || half.inheritable != expected) {
      return false;
    }
  }
  // The bounding set is one call for each: ask for those that would matter most.
  constexpr unsigned long kWorst[] = {CAP_SYS_ADMIN, CAP_SETUID, CAP_DAC_OVERRIDE, CAP_SETPCAP};
  for (const unsigned long capability : kWorst) {
    if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) != 0) return false;
  }
  const int bits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
  return bits >= 0 && (static_cast<unsigned long>(bits) & kLocked) == kLocked &&
         prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

}  // namespace igloo::kernel

#include "guest/privileges.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace igloo::guest {
namespace {

/// As igloo-jail locks them. KEEP_CAPS is not among them: it keeps what is held and gives nothing.
constexpr unsigned long kLocked = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                  SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                                  SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

bool Read(__user_cap_data_struct (&sets)[2]) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  return syscall(SYS_capget, &header, sets) == 0;
}

}  // namespace

bool LockPrivileges() {
  __user_cap_data_struct sets[2] = {};
  if (!Read(sets)) return false;
  if ((sets[0].effective & 1U << CAP_SETPCAP) == 0) return true;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  for (auto& set : sets) set = {};
  return prctl(PR_SET_SECUREBITS, kLocked, 0, 0, 0) == 0 &&
         prctl(PR_CAPBSET_DROP, CAP_SETPCAP, 0, 0, 0) == 0 &&
         prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 &&
         syscall(SYS_capset, &header, sets) == 0;
}

bool HasNoPrivilegesBut(uint32_t granted) {
  __user_cap_data_struct sets[2] = {};
  if (!Read(sets)) return false;
  for (const auto& set : sets) {
    const uint32_t expected = &set == sets ? granted : 0;
    if (set.effective != expected || set.permitted != expected || set.inheritable != expected) {
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

}  // namespace igloo::guest

#include "jail/privileges.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>

#include "jail/sys.h"

namespace igloo::jail {

bool BoundPrivileges() {
  // The kernel answers EINVAL past its last capability.
  for (unsigned long capability = 0; capability < 64; ++capability) {
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) {
      if (errno != EINVAL) return false;
      break;
    }
  }
  // KEEP_CAPS is not locked: it keeps what is held and gives nothing, and `ping` insists on it.
  constexpr unsigned long kLocked = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                    SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                                    SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  return prctl(PR_SET_SECUREBITS, kLocked, 0, 0, 0) == 0 &&
         prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

bool RaiseForPrograms(unsigned capability) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  if (syscall(SYS_capget, &header, sets) != 0) return false;
  sets[capability / 32].inheritable |= 1U << capability % 32;
  return syscall(SYS_capset, &header, sets) == 0 &&
         prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) == 0;
}

bool DropPrivileges(unsigned long kept) {
  if (kept == 0 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return false;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  for (unsigned i = 0; i < 2; ++i) {
    const auto part = static_cast<uint32_t>(kept >> 32 * i);
    // What is not held cannot be kept: the kernel refuses.
    sets[i].effective = sets[i].permitted = sets[i].inheritable = part;
  }
  return syscall(SYS_capset, &header, sets) == 0;
}

}  // namespace igloo::jail

#include "service/changes/git_confine.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <thread>

#include "base/unique_fd.h"

namespace igloo::service::changes {
namespace {

// Rights that the headers of an older kernel lack: moving between directories, truncating.
constexpr std::uint64_t kRefer = 1ULL << 13, kTruncate = 1ULL << 14;
constexpr std::uint64_t kWrite = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                 LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                 LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;

bool Allow(int ruleset, int fd, std::uint64_t rights) {
  const landlock_path_beneath_attr rule{rights, fd};
  return ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

std::unexpected<Error> Cannot() {
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot keep git out of other directories");
}

/// A set of rules without the thread being restricted yet; -1: this kernel has none.
Result<UniqueFd> MakeRules(std::span<const int> directories) {
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version <= 0) return UniqueFd();
  const std::uint64_t rights =
      kWrite | (version >= 2 ? kRefer : 0) | (version >= 3 ? kTruncate : 0);
  const landlock_ruleset_attr attr{rights};
  UniqueFd rules(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0)));
  if (!rules) return Cannot();
  const UniqueFd null(::open("/dev/null", O_PATH | O_CLOEXEC));
  if (!Allow(rules.get(), null.get(), rights & (LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate))) {
    return Cannot();
  }
  for (const int directory : directories) {
    if (!Allow(rules.get(), directory, rights)) return Cannot();
  }
  return rules;
}

}  // namespace

Result<void> WithWritesBeneath(std::span<const int> directories,
                               const std::function<Result<void>()>& work) {
  IGLOO_ASSIGN(const UniqueFd rules, MakeRules(directories));
  if (!rules) return work();
  Result<void> result;
  // What a thread gives up it never gets back, so this one ends with the work.
  std::thread([&] {
    const bool restricted = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                            ::syscall(SYS_landlock_restrict_self, rules.get(), 0) == 0;
    if (restricted) {
      result = work();
    } else {
      result = Cannot();
    }
  }).join();
  return result;
}

}  // namespace igloo::service::changes

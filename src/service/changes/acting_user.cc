#include "service/changes/acting_user.h"

#include <grp.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/text.h"

namespace igloo::service::changes {
namespace {

/// Owns nothing on any system.
constexpr gid_t kNobody = 65534;
constexpr std::size_t kLongestTable = 16U << 20;

/// SECURITY: not the group of the directory: root may have given it one that its owner is not in.
gid_t GroupOf(uid_t user) {
  const std::string table = ReadFile("/etc/passwd", kLongestTable).value_or("");
  const std::string wanted = std::to_string(user);
  for (std::string_view rest = table; !rest.empty();) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    // name:password:user:group:...
    std::string_view fields[4];
    for (std::string_view& field : fields) {
      field = line.substr(0, line.find(':'));
      line.remove_prefix(std::min(line.size(), field.size() + 1));
    }
    gid_t group = kNobody;
    const std::string_view number = fields[3];
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), group);
    const bool whole = error == std::errc() && end == number.data() + number.size();
    if (fields[2] == wanted && whole) return group;
  }
  return kNobody;
}

/// Of this thread alone: the C library's function changes all threads.
bool SetGroups(const std::vector<gid_t>& groups) {
  return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

}  // namespace

Result<ActingUser> ActingUser::ForDirectory(int directory) {
  struct stat info{};
  if (::fstat(directory, &info) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot look at a directory");
  }
  ActingUser user;
  user.user_ = ::geteuid();
  user.group_ = ::getegid();
  if (user.user_ != 0 || info.st_uid == 0) return user;
  user.other_ = true;
  user.user_ = info.st_uid;
  user.group_ = GroupOf(info.st_uid);
  return user;
}

Result<ActingUser::Rights> ActingUser::TakeRights() const {
  Rights rights;
  if (!other_) return rights;
  const int count = ::getgroups(0, nullptr);
  rights.groups_.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  const bool known =
      count >= 0 && ::getgroups(count, rights.groups_.data()) == count && SetGroups({});
  if (!known) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot give up root's groups");
  }
  rights.active_ = true;
  rights.group_ = static_cast<gid_t>(::setfsgid(group_));
  rights.user_ = static_cast<uid_t>(::setfsuid(user_));
  // The calls themselves do not say whether they worked.
  const bool group = static_cast<gid_t>(::setfsgid(static_cast<gid_t>(-1))) == group_;
  const bool user = static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1))) == user_;
  if (group && user) return rights;
  return Fail(Errc::kPermissionDenied,
              "cannot act as user " + std::to_string(user_) + ", who owns the project",
              "run igloo as that user");
}

ActingUser::Rights::~Rights() {
  if (!active_) return;
  ::setfsuid(user_);
  ::setfsgid(group_);
  SetGroups(groups_);
}

}  // namespace igloo::service::changes

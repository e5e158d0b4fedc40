#include "base/error.h"

#include <cerrno>
#include <cstring>

namespace igloo {
namespace {

Errc CodeOf(int errno_value) {
  switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
      return Errc::kNotFound;
    case EACCES:
    case EPERM:
      return Errc::kPermissionDenied;
    case EINVAL:
    case ENAMETOOLONG:
      return Errc::kInvalidArgument;
    case ENOSPC:
    case EMFILE:
    case ENFILE:
    case EAGAIN:
    case ENOMEM:
      return Errc::kExhausted;
    default:
      return Errc::kFailedPrecondition;
  }
}

}  // namespace

std::string ErrnoText(int errno_value) {
  const char* text = ::strerrordesc_np(errno_value);
  return text != nullptr ? text : "error " + std::to_string(errno_value);
}

std::unexpected<Error> Fail(Errc code, std::string what, std::string hint) {
  return std::unexpected(Error{.code = code, .what = std::move(what), .hint = std::move(hint)});
}

std::unexpected<Error> FailSys(int saved_errno, std::string what, std::string hint) {
  if (saved_errno == EMFILE) hint = kRaiseOpenFiles;
  return std::unexpected(Error{.code = CodeOf(saved_errno),
                               .what = std::move(what) + ": " + ErrnoText(saved_errno),
                               .hint = std::move(hint),
                               .sys_errno = saved_errno});
}

std::unexpected<Error> Wrap(const std::string& context, Error error) {
  error.what = context + ": " + error.what;
  return std::unexpected(std::move(error));
}

}  // namespace igloo

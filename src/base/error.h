#pragma once

#include <expected>
#include <string>
#include <utility>

namespace igloo {

/// What kind of failure this is. Callers branch on it, never on the text.
enum class Errc {
  kInternal,            ///< a bug of ours
  kInvalidArgument,     ///< the caller's words are wrong
  kNotFound,            ///< something named does not exist
  kFailedPrecondition,  ///< the machine or the state does not allow it
  kPermissionDenied,
  kTimeout,
  kExhausted,      ///< a limit of ours was reached
  kProtocol,       ///< the other side of a channel said something impossible
  kNoProgram,      ///< the program to run does not exist in the sandbox
  kNotExecutable,  ///< it is there but cannot be started
};

/// A failure as a value: what failed and why, and what to do next.
struct Error {
  Errc code = Errc::kInternal;
  std::string what = {};  ///< lower case, names in '', no full stop; ends with the system's reason
  std::string hint = {};  ///< an action, or empty when there is no honest advice
  int sys_errno = 0;

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;

[[nodiscard]] std::unexpected<Error> Fail(Errc code, std::string what, std::string hint = {});

/// The cure for EMFILE, whatever was under way.
inline constexpr const char* kRaiseOpenFiles = "raise the limit on open files: ulimit -n 1024";

/// `saved_errno` is a copy made before anything else ran: building the strings may touch errno.
/// EMFILE has a hint of its own.
[[nodiscard]] std::unexpected<Error> FailSys(int saved_errno, std::string what,
                                             std::string hint = {});

/// Adds one layer of context in front of an error ("starting sandbox: ...").
[[nodiscard]] std::unexpected<Error> Wrap(const std::string& context, Error error);

/// "Permission denied" and friends, without the locale machinery.
std::string ErrnoText(int errno_value);

}  // namespace igloo

#define IGLOO_CAT_(a, b) a##b
#define IGLOO_CAT(a, b) IGLOO_CAT_(a, b)

/// Returns the error of `expr` from the enclosing function, if it has one.
#define IGLOO_TRY(expr)                                        \
  do {                                                         \
    if (auto igloo_result = (expr); !igloo_result)             \
      return std::unexpected(std::move(igloo_result).error()); \
  } while (false)

/// `IGLOO_ASSIGN(auto fd, Open(path));` declares `fd` or returns the error.
#define IGLOO_ASSIGN(decl, expr) IGLOO_ASSIGN_(IGLOO_CAT(igloo_result_, __LINE__), decl, expr)
#define IGLOO_ASSIGN_(tmp, decl, expr)                      \
  auto tmp = (expr);                                        \
  if (!tmp) return std::unexpected(std::move(tmp).error()); \
  decl = *std::move(tmp)

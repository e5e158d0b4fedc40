// Other directories of the user's.

#include <algorithm>
#include <array>
#include <filesystem>

#include "agent/grants/grant.h"
#include "base/text.h"
#include "sandbox/path.h"

namespace igloo::agent {
namespace {

/// What the kernel and the system's services show there is no directory of the user's.
constexpr std::array<const char*, 5> kSystem = {"/proc", "/sys", "/dev", "/run", "/var/run"};

struct Wanted {
  std::string path = {};
  sandbox::Access access = sandbox::Access::kReadOnly;
};

Wanted Split(const std::string& text) {
  if (text.ends_with(":rw")) {
    return {text.substr(0, text.size() - 3), sandbox::Access::kReadWrite};
  }
  if (text.ends_with(":ro")) return {text.substr(0, text.size() - 3)};
  return {text};
}

std::unexpected<Error> Refused(const std::string& path, const std::string& why,
                               const std::string& hint) {
  return Fail(Errc::kInvalidArgument,
              "'--mount' cannot show '" + Printable(Quoted(path)) + "': " + why, hint);
}

/// The directory itself, as it is really called.
Result<std::string> Check(const GrantContext& context, const std::string& given) {
  constexpr const char* kSmaller = "name a smaller directory, with its own path";
  namespace fs = std::filesystem;
  fs::path whole =
      given.starts_with('/') ? fs::path(given) : fs::path(context.places.working) / given;
  std::string path = whole.lexically_normal().string();
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::string real = given.empty() ? std::string() : RealPathOf(path);
  if (TypeAt(real) != FileType::kDirectory) {
    return Refused(given, "it is no directory", "create it, or name another one");
  }
  // SECURITY: a link there could lead to what nobody named.
  if (real != path) {
    return Refused(given, "a link leads from there to '" + Printable(real) + "'",
                   "name that directory itself, if you mean it");
  }
  if (real == "/" || sandbox::IsWithin(context.caller.owner.home, real)) {
    return Refused(given, "your home directory is in it", kSmaller);
  }
  if (sandbox::IsWithin(context.box.project, real)) {
    return Refused(given, "the project is in it", kSmaller);
  }
  const std::string state = RealPathOf(context.places.state);
  if (!state.empty() && (sandbox::IsWithin(state, real) || sandbox::IsWithin(real, state))) {
    return Refused(given, "igloo's own state is there", kSmaller);
  }
  for (const char* each : kSystem) {
    if (sandbox::IsWithin(real, each)) {
      return Refused(given, "the system's devices and services are there",
                     "'igloo agent --help' has options for displays, sound and agents");
    }
  }
  return real;
}

}  // namespace

Result<void> GrantMounts(const GrantContext& context) {
  for (const std::string& each : context.request.mounts) {
    const Wanted wanted = Split(each);
    IGLOO_ASSIGN(const std::string path, Check(context, wanted.path));
    const bool write = wanted.access == sandbox::Access::kReadWrite;
    if (write || !context.caller.views) {
      context.AddTree(path, path, wanted.access, "you named it (--mount)");
    } else {
      // A view: sockets in it are names and nothing more, and its use cannot be watched.
      context.Add(sandbox::OverlayTree{.source = path,
                                       .target = path,
                                       .access = sandbox::Access::kReadOnly,
                                       .covering = sandbox::Covering::kIntended},
                  "you named it (--mount)");
    }
    if (!write && !context.caller.views) {
      context.Remark("--mount: this wall has no views, so sockets in '" + Printable(path) +
                     "' answer, and code can watch how the host uses it");
    }
    context.Show(Grant::kMount,
                 path + (write ? ", to read and write; sockets in it answer" : ", to read"));
  }
  return {};
}

}  // namespace igloo::agent

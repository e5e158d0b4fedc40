// Other directories of the user's.

#include <filesystem>

#include "agent/grants/grant.h"
#include "agent/shown_places.h"
#include "base/text.h"

namespace igloo::agent {
namespace {

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

constexpr const char* kCannotShow = "'--mount' cannot show";

std::unexpected<Error> Refused(const std::string& path, const std::string& why,
                               const std::string& hint) {
  return Fail(Errc::kInvalidArgument,
              std::string(kCannotShow) + " '" + Printable(Quoted(path)) + "': " + why, hint);
}

/// The directory itself, as it is really called.
Result<std::string> Check(const GrantContext& context, const std::string& given) {
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
  IGLOO_TRY(CheckShown(real,
                       {.home = context.caller.owner.home,
                        .project = context.box.project,
                        .state = context.caller.owner.state},
                       kCannotShow));
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
                                       .links = sandbox::Links::kRefused,
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

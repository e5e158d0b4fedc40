// Files of the caller's own that claude-sandbox shows, read-only: settings of git and gh, ~/.ssh.

#include "agent/grants/grant.h"
#include "agent/shown_places.h"

namespace igloo::agent {
namespace {

/// Shows a file or a directory of the home directory at its own place, if it is there. A directory
/// is a view: a socket in it (ssh's ControlMaster, say) is a name and nothing more.
bool ShowOwn(const GrantContext& context, std::string_view name) {
  const std::string& home = context.caller.owner.home;
  const std::string target = home + "/" + std::string(name);
  const std::string real = RealPathOf(target);
  const FileType type = TypeAt(real);
  // SECURITY: a link there may lead to all of home, or to igloo's own state.
  const ShownPlaces places{
      .home = home, .project = context.box.project, .state = context.places.state};
  if (real.empty() || !CheckShown(real, places, "a sandbox cannot show")) return false;
  if (type == FileType::kDirectory && context.caller.views) {
    context.Add(sandbox::OverlayTree{.source = real,
                                     .target = target,
                                     .access = sandbox::Access::kReadOnly,
                                     .links = sandbox::Links::kRefused,
                                     .covering = sandbox::Covering::kIntended},
                "yours, read-only");
    return true;
  }
  if (type != FileType::kDirectory && type != FileType::kFile) return false;
  context.AddTree(real, target, sandbox::Access::kReadOnly, "yours, read-only");
  return true;
}

Result<void> ShowAny(const GrantContext& context, Grant grant,
                     std::initializer_list<std::string_view> names) {
  std::string shown, wanted;
  for (const std::string_view name : names) {
    wanted += (wanted.empty() ? "~/" : " or ~/") + std::string(name);
    if (ShowOwn(context, name)) shown += (shown.empty() ? "~/" : ", ~/") + std::string(name);
  }
  if (shown.empty()) return Fail(Errc::kNotFound, "there is no " + wanted);
  context.Show(grant, shown + ", read-only");
  return {};
}

}  // namespace

Result<void> GrantGitFiles(const GrantContext& context) {
  return ShowAny(context, Grant::kGitFiles, {".gitconfig", ".config/git"});
}

Result<void> GrantGitHubFiles(const GrantContext& context) {
  return ShowAny(context, Grant::kGitHubFiles, {".config/gh"});
}

Result<void> GrantSshFiles(const GrantContext& context) {
  return ShowAny(context, Grant::kSshFiles, {".ssh"});
}

}  // namespace igloo::agent

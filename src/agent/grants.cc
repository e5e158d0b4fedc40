#include "agent/grants.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "agent/grants/grant.h"
#include "sandbox/entry.h"

namespace igloo::agent {
namespace {

constexpr std::array<GrantRow, 15> kGrants = {{
    // The first three before the keys: what is in these directories is not shown once more.
    {Grant::kGitFiles, "git settings", "the user's own git settings",
     "code can read your git settings, and tokens that stand in them"},
    {Grant::kGitHubFiles, "gh settings", "the settings of `gh`, with its token",
     "code can do all that the token of your gh may, and keep it"},
    {Grant::kSshFiles, "~/.ssh", "`~/.ssh`, with its keys",
     "code can read every private key in it that has no passphrase, and keep it"},
    {Grant::kSshAgent, "--with-ssh", "signatures with keys of the user's ssh-agent",
     "code can log in with these keys wherever you can, while the box runs"},
    {Grant::kSshKey, "--ssh-key", "a private key in `~/.ssh`",
     "code can read this key and keep it; --with-ssh leaves it outside"},
    {Grant::kGitHubToken, "--gh-token", "`GH_TOKEN`",
     "code can do all that the token may, and keep it"},
    {Grant::kGpg, "--with-gpg", "signatures by the user's gpg-agent",
     "code can sign anything in your name, while the box runs"},
    {Grant::kX11, "--x11", "an X11 display",
     "most X servers let every program read what is typed into other windows, and type there"},
    {Grant::kWayland, "--wayland", "a Wayland display",
     "code can open windows; some compositors let it see the screen and the clipboard"},
    {Grant::kAudio, "--audio", "sound", "code can play sound, and record it: the microphone, too"},
    {Grant::kGpu, "--gpu", "GPUs", "code reaches the GPU's driver in the kernel"},
    {Grant::kSystemBus, "--dbus-system", "the system's D-Bus",
     "code can ask system services for what they do for you without a password"},
    {Grant::kBrowser, "--browser", "`chromium`",
     "Chromium's own sandbox is off, because it needs namespaces: a page that takes Chromium over "
     "has what the box has"},
    {Grant::kNix, "--nix", "Nix, with the host's store and daemon",
     "code can read the whole store; the daemon builds and downloads for it, outside of the box"},
    {Grant::kMount, "--mount", "other directories of the user's",
     "code can read what is in it, and with :rw change it"},
}};

using Apply = Result<void> (*)(const GrantContext&);

Apply FunctionOf(Grant grant) {
  switch (grant) {
    case Grant::kSshAgent:
      return GrantSsh;
    case Grant::kSshKey:
      return GrantSshKeys;
    case Grant::kGitHubToken:
      return GrantGitHubToken;
    case Grant::kGpg:
      return GrantGpg;
    case Grant::kX11:
      return GrantX11;
    case Grant::kWayland:
      return GrantWayland;
    case Grant::kAudio:
      return GrantAudio;
    case Grant::kGpu:
      return GrantGpu;
    case Grant::kSystemBus:
      return GrantSystemBus;
    case Grant::kBrowser:
      return GrantBrowser;
    case Grant::kNix:
      return GrantNix;
    case Grant::kMount:
      return GrantMounts;
    case Grant::kGitFiles:
      return GrantGitFiles;
    case Grant::kGitHubFiles:
      return GrantGitHubFiles;
    case Grant::kSshFiles:
      return GrantSshFiles;
  }
  return nullptr;
}

/// A right that the box also does without.
void ApplyIfThere(Grant grant, const GrantContext& context) {
  Box before = context.box;
  auto applied = FunctionOf(grant)(context);
  if (applied) return;
  context.box = std::move(before);
  context.Miss(grant, std::move(applied).error());
}

}  // namespace

std::span<const GrantRow> AllGrants() { return kGrants; }

const GrantRow& RowOf(Grant grant) { return *std::ranges::find(kGrants, grant, &GrantRow::grant); }

Result<void> ApplyGrants(const GrantRequest& request, const GrantPlaces& places,
                         const GrantCaller& caller, Box& box) {
  if (!request.ssh_key_filters.empty() && !request.asked.contains(Grant::kSshAgent)) {
    return Fail(Errc::kInvalidArgument, "'--ssh-key-filter' has nothing to choose from",
                "add --with-ssh");
  }
  const GrantContext context{request, places, caller, box};
  for (const GrantRow& row : kGrants) {
    if (request.asked.contains(row.grant)) {
      IGLOO_TRY(FunctionOf(row.grant)(context));
    } else if (request.usual.contains(row.grant)) {
      ApplyIfThere(row.grant, context);
    }
  }
  return {};
}

std::string GrantContext::Variable(const std::string& name) const {
  return caller.lookup(name).value_or("");
}

void GrantContext::Show(Grant grant, std::string what) const {
  box.granted.push_back({grant, std::move(what)});
}

void GrantContext::Miss(Grant grant, Error why) const {
  box.not_granted.push_back({grant, std::move(why)});
}

bool GrantContext::Shows(const std::string& target) const {
  return std::ranges::any_of(box.mounts, [&](const Mount& each) {
    const bool tree = std::holds_alternative<sandbox::HostTree>(each.entry) ||
                      std::holds_alternative<sandbox::OverlayTree>(each.entry);
    return tree && sandbox::TargetOf(each.entry) == target;
  });
}

void GrantContext::Remark(std::string sentence) const {
  box.remarks.push_back(std::move(sentence));
}

void GrantContext::Set(std::string name, std::string value) const {
  std::erase_if(box.variables, [&](const agent::Variable& each) { return each.name == name; });
  box.variables.push_back({std::move(name), std::move(value), Origin::kGranted});
}

void GrantContext::PrependPath(const std::string& directory) const {
  const auto path = std::ranges::find(box.variables, "PATH", &agent::Variable::name);
  if (path != box.variables.end()) path->value = directory + ":" + path->value;
}

void GrantContext::Add(sandbox::Entry entry, std::string reason) const {
  box.mounts.push_back({std::move(entry), std::move(reason)});
}

void GrantContext::AddTree(const std::string& source, const std::string& target,
                           sandbox::Access access, std::string reason) const {
  Add(sandbox::HostTree{.source = source,
                        .target = target,
                        .access = access,
                        .map_owner = true,
                        .covering = sandbox::Covering::kIntended},
      std::move(reason));
}

void GrantContext::AddSocket(Grant grant, const std::string& source,
                             const std::string& target) const {
  sandbox::HostNode node(source, target, std::string(RowOf(grant).risk));
  struct stat info{};
  // One that everybody may use needs nobody's owner mapped, which not every file system can.
  node.map_owner = ::stat(source.c_str(), &info) == 0 && (info.st_mode & S_IWOTH) == 0;
  Add(std::move(node), std::string(RowOf(grant).option));
}

std::string InsidePath(std::string_view name) { return "/run/igloo/" + std::string(name); }

FileType TypeAt(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return FileType::kNone;
  if (S_ISREG(info.st_mode)) return FileType::kFile;
  if (S_ISDIR(info.st_mode)) return FileType::kDirectory;
  if (S_ISSOCK(info.st_mode)) return FileType::kSocket;
  return S_ISCHR(info.st_mode) ? FileType::kDevice : FileType::kOther;
}

std::string RealPathOf(const std::string& path) { return TheHost().real_path(path); }

}  // namespace igloo::agent

#pragma once

// What the families of grants share.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/box.h"
#include "agent/grants.h"
#include "base/error.h"
#include "base/spawn.h"

namespace igloo::agent {

/// Where grants find and put things. Tests bring their own.
struct GrantPlaces {
  /// A private directory of this box's: sockets that igloo serves, files that it writes for it.
  std::string own = {};
  std::string state = {};    ///< igloo's state, of which nothing is shown
  std::string working = {};  ///< where igloo was started
  std::string x11 = "/tmp/.X11-unix";
  std::string devices = "/dev";
  std::string device_facts = "/sys/dev/char";
  std::string system_bus = "/run/dbus/system_bus_socket";
  std::string nix_store = "/nix/store";
  std::string nix_socket = "/nix/var/nix/daemon-socket/socket";
  std::string nix_settings = "/etc/nix/nix.conf";
};

/// Who asks.
struct GrantCaller {
  Owner owner = {};
  Lookup lookup = {};  ///< of variables
  /// A program on PATH; empty: there is none.
  std::function<std::string(std::string_view name)> find = igloo::FindInPath;
  bool root = false;
  /// Whether values of secrets may be read; otherwise only their names are shown.
  bool values = true;
  bool views = true;  ///< whether the box's wall can show a directory as a view
};

/// A grant being applied.
struct GrantContext {
  const GrantRequest& request;
  const GrantPlaces& places;
  const GrantCaller& caller;
  Box& box;

  /// A variable of the caller's; empty if it is not set.
  std::string Variable(const std::string& name) const;
  void Show(Grant grant, std::string what) const;
  void Remark(std::string sentence) const;
  /// Says that the box does not get something, and why.
  void Miss(Grant grant, Error why) const;
  /// Whether the box has a file or directory of the host's at this place.
  bool Shows(const std::string& target) const;
  void Set(std::string name, std::string value) const;
  void PrependPath(const std::string& directory) const;
  /// Adds an entry; `reason` is for the summary.
  void Add(sandbox::Entry entry, std::string reason) const;
  /// A file or a directory of the caller's, at its own path unless another one is named.
  void AddTree(const std::string& source, const std::string& target, sandbox::Access access,
               std::string reason) const;
  /// A socket of the host's.
  void AddSocket(Grant grant, const std::string& source, const std::string& target) const;
};

/// Where sockets and files of grants are inside, in a directory that code cannot change.
std::string InsidePath(std::string_view name);

enum class FileType { kNone, kFile, kDirectory, kSocket, kDevice, kOther };
/// What is at a path, behind links.
FileType TypeAt(const std::string& path);
/// The path behind all links; empty: it is not there.
std::string RealPathOf(const std::string& path);

Result<void> GrantSsh(const GrantContext& context);
Result<void> GrantSshKeys(const GrantContext& context);
Result<void> GrantGitHubToken(const GrantContext& context);
Result<void> GrantGpg(const GrantContext& context);
Result<void> GrantX11(const GrantContext& context);
Result<void> GrantWayland(const GrantContext& context);
Result<void> GrantAudio(const GrantContext& context);
Result<void> GrantGpu(const GrantContext& context);
Result<void> GrantSystemBus(const GrantContext& context);
Result<void> GrantBrowser(const GrantContext& context);
Result<void> GrantNix(const GrantContext& context);
Result<void> GrantMounts(const GrantContext& context);
Result<void> GrantGitFiles(const GrantContext& context);
Result<void> GrantGitHubFiles(const GrantContext& context);
Result<void> GrantSshFiles(const GrantContext& context);

}  // namespace igloo::agent

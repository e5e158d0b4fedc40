#include "backend/bubblewrap/render.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/overloaded.h"
#include "base/text.h"
#include "sandbox/path.h"

namespace igloo::backend::bubblewrap {
namespace {

namespace step = sandbox::step;

std::unexpected<Error> Cannot(const std::string& what) {
  return Fail(Errc::kFailedPrecondition, "bubblewrap 0.8 cannot " + what,
              "use --backend jail, or leave it out");
}

class Renderer {
 public:
  Renderer(const std::string& init_path, const std::set<std::string>& absent)
      : init_path_(init_path), absent_(absent) {}

  Result<Command> Render(const sandbox::Plan& plan) {
    Add({"--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup",
         "--die-with-parent", "--new-session", "--clearenv", "--as-pid-1"});
    Add({"--uid", std::to_string(plan.identity.uid), "--gid", std::to_string(plan.identity.gid)});
    for (const auto* steps : {&plan.environment, &plan.fresh, &plan.run}) {
      for (const sandbox::Step& each : *steps) {
        IGLOO_TRY(std::visit([&](const auto& s) { return Put(s); }, each));
      }
    }
    Add({"--perms", "0555", "--file", NewFile({.host_path = init_path_}), "/.igloo/init"});
    // Last: everything above still had to be created in it.
    if (seal_) Add({"--remount-ro", "/"});
    Add({"--", "/.igloo/init"});
    return std::move(command_);
  }

 private:
  void Add(std::initializer_list<std::string> words) {
    command_.argv.insert(command_.argv.end(), words);
  }
  std::string NewFile(Command::File file) {
    command_.files.push_back(std::move(file));
    return std::to_string(kFirstFile + static_cast<int>(command_.files.size()) - 1);
  }
  static std::string Mode(std::uint32_t mode) { return fmt::format("{:04o}", mode); }

  /// SECURITY: bwrap makes missing mount points itself and follows links on the way, so nothing is
  /// ever mounted below a tree of the host.
  Result<void> CheckNotInHostTree(const std::string& target) const {
    for (const std::string& tree : host_trees_) {
      if (sandbox::IsWithin(target, tree)) {
        return Cannot(fmt::format("mount '{}' below '{}'", target, tree));
      }
    }
    return {};
  }

  Result<void> Put(const step::Root&) { return {}; }
  Result<void> Put(const step::Directory& s) {
    Add({"--perms", Mode(s.mode), "--dir", s.path});
    return {};
  }
  Result<void> Put(const step::Symlink& s) {
    Add({"--symlink", s.points_to, s.path});
    return {};
  }
  Result<void> Put(const step::File& s) {
    Add({"--perms", Mode(s.mode), "--file", NewFile({.content = s.content}), s.path});
    if (sandbox::IsWithin(s.path, "/.igloo") && s.mode != 0) own_files_[s.path] = s.content;
    return {};
  }
  Result<void> Put(const step::NamedPipe&) { return Cannot("make a named pipe"); }
  Result<void> Put(const step::Bind& s) {
    IGLOO_TRY(CheckNotInHostTree(s.target));
    const char* flag = s.device                                 ? "--dev-bind"
                       : s.access == sandbox::Access::kReadOnly ? "--ro-bind"
                                                                : "--bind";
    Add({flag, s.source, s.target});
    if (!s.device) host_trees_.push_back(s.target);
    if (s.access == sandbox::Access::kReadWrite) writable_trees_.insert(s.target);
    return {};
  }
  Result<void> Put(const step::Tmpfs& s) {
    IGLOO_TRY(CheckNotInHostTree(s.target));
    if (s.capacity.inodes) return Cannot("limit the number of files in '" + s.target + "'");
    if (s.execution == sandbox::Execution::kForbidden) {
      return Cannot("forbid programs in '" + s.target + "'");
    }
    Add({"--perms", Mode(s.mode), "--size", std::to_string(s.capacity.bytes), "--tmpfs", s.target});
    return {};
  }
  Result<void> Put(const step::Overlay& s) {
    return Cannot("show '" + s.source + "' copy-on-write");
  }
  Result<void> Put(const step::Base& s) {
    return Cannot("show '" + s.source + "' in inodes of its own");
  }
  Result<void> Put(const step::FromBase& s) {
    return Cannot("show '" + s.path + "' in inodes of its own");
  }
  Result<void> Put(const step::Copy& s) { return Cannot("copy '" + s.source + "'"); }
  /// bwrap freezes /proc/sys itself.
  Result<void> Put(const step::Proc& s) {
    Add({"--proc", s.target});
    return {};
  }
  Result<void> Put(const step::Mask& s) {
    if (absent_.contains(s.target)) return {};
    if (s.directory) {
      Add({"--perms", "0555", "--size", "4096", "--tmpfs", s.target, "--remount-ro", s.target});
    } else {
      Add({"--ro-bind", "/dev/null", s.target});
    }
    return {};
  }
  /// SECURITY: bwrap would make a name that has gone meanwhile, and in a read-only tree cannot.
  Result<void> Put(const step::Hide& s) {
    if (writable_trees_.contains(s.tree)) {
      return Cannot("hide '" + s.target + "' in a directory that code can write to");
    }
    const auto copy = own_files_.find(s.cover);
    if (copy != own_files_.end()) {
      Add({"--perms", "0444", "--ro-bind-data", NewFile({.content = copy->second}), s.target});
    } else if (s.fact.type == S_IFDIR) {
      Add({"--perms", "0000", "--size", "4096", "--tmpfs", s.target, "--remount-ro", s.target});
    } else {
      // A device that cannot be opened there: one descriptor less than an empty file of bwrap's.
      Add({"--ro-bind", "/dev/null", s.target});
    }
    return {};
  }
  Result<void> Put(const step::ReadOnly& s) {
    if (s.target != "/proc/sys") Add({"--remount-ro", s.target});
    return {};
  }
  Result<void> Put(const step::EnterRoot&) { return {}; }
  Result<void> Put(const step::SealRoot&) {
    seal_ = true;
    return {};
  }
  Result<void> Put(const step::PrivateNetwork&) {
    Add({"--unshare-net"});
    return {};
  }
  Result<void> Put(const step::Edge&) { return Cannot("give a sandbox a device"); }
  Result<void> Put(const step::Closed&) { return Cannot("close networks"); }
  Result<void> Put(const step::Resolver&) { return Cannot("open a resolver"); }
  Result<void> Put(const step::Hostname& s) {
    Add({"--hostname", s.name});
    return {};
  }
  Result<void> Put(const step::NoMoreNamespaces&) {
    Add({"--disable-userns"});
    return {};
  }
  Result<void> Put(const step::HandOut& s) { return Cannot("hand '" + s.path + "' out"); }
  Result<void> Put(const step::Listen&) { return Cannot("hand out a listening socket"); }
  Result<void> Put(const step::Sockets&) { return Cannot("hand out sockets"); }
  /// bwrap always sets no_new_privs, and igloo-init locks securebits with the one right that it
  /// keeps for that (kernel/privileges.cc).
  Result<void> Put(const step::BoundPrivileges&) { return {}; }
  Result<void> Put(const step::DropPrivileges&) {
    Add({"--cap-drop", "ALL", "--cap-add", "CAP_SETPCAP"});
    return {};
  }
  Result<void> Put(const step::StartInit&) { return {}; }

  const std::string& init_path_;
  const std::set<std::string>& absent_;
  Command command_ = {};
  std::vector<std::string> host_trees_ = {};
  std::set<std::string> writable_trees_ = {};
  std::map<std::string, std::string> own_files_ = {};  ///< that can be read, by path
  bool seal_ = false;
};

}  // namespace

Result<Command> Render(const sandbox::Plan& plan, const std::string& init_path,
                       const std::set<std::string>& absent) {
  return Renderer(init_path, absent).Render(plan);
}

std::string ToShell(const Command& command) {
  std::string out = "bwrap";
  for (const std::string& word : command.argv) {
    out += word.starts_with("--") ? " \\\n  " : " ";
    out += ShellQuote(word);
  }
  for (std::size_t i = 0; i < command.files.size(); ++i) {
    const Command::File& file = command.files[i];
    const int fd = kFirstFile + static_cast<int>(i);
    out += file.host_path.empty()
               ? fmt::format(" \\\n  {}< <(printf %s {})", fd, ShellQuote(file.content))
               : fmt::format(" \\\n  {}< {}", fd, ShellQuote(file.host_path));
  }
  // igloo-init takes its orders from igloo on descriptor 3; by hand there is nobody to give them.
  return out + " \\\n  3<>CONTROL 4<STDIN 5>STDOUT 6>STDERR\n";
}

}  // namespace igloo::backend::bubblewrap

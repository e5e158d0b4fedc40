#include "backend/microvm/division.h"

#include <sys/stat.h>

#include <algorithm>
#include <concepts>

#include "base/overloaded.h"
#include "sandbox/path.h"

namespace igloo::backend::microvm {
namespace {

namespace step = sandbox::step;
using sandbox::Access;
using sandbox::HostTree;

constexpr std::uint64_t kMegabyte = 1ULL << 20;
/// For the machine's kernel, its first processes and what they keep of files.
constexpr std::uint64_t kOverhead = 256 * kMegabyte;
/// A machine for which nobody chose.
constexpr std::uint64_t kUsualMemory = 4096 * kMegabyte;
constexpr unsigned kUsualProcessors = 4;
/// Of memory for files, so much is there at once, whatever a plan allows in all its places.
constexpr std::uint64_t kMostFiles = 1024 * kMegabyte;

std::unexpected<Error> Cannot(const std::string& what) {
  return Fail(Errc::kFailedPrecondition, "a virtual machine of igloo's cannot " + what,
              "use --backend jail, or leave it out");
}

template <class T, class... Others>
concept OneOf = (std::same_as<T, Others> || ...);

/// Steps that touch nothing of the host: the launcher in the machine does them as they are. A kind
/// of step that is in no list here does not compile: somebody has to say what it is in a machine.
template <class T>
concept SameInMachine =
    OneOf<T, step::Root, step::Directory, step::Symlink, step::NamedPipe, step::Proc, step::Mask,
          step::ReadOnly, step::EnterRoot, step::SealRoot, step::PrivateNetwork, step::Hostname,
          step::NoMoreNamespaces, step::BoundPrivileges, step::DropPrivileges, step::StartInit>;

class Divider {
 public:
  explicit Divider(const sandbox::Plan& plan) : plan_(plan) {}

  Result<Division> Divide() {
    if (!std::holds_alternative<sandbox::NoNetwork>(plan_.network)) {
      return Cannot("have a network");
    }
    if (plan_.payload.terminal == sandbox::Terminal::kOwn) return Cannot("have a terminal");
    Division& made = division_;
    made.inside.identity = plan_.identity;
    made.inside.payload = plan_.payload;
    IGLOO_TRY(Take(plan_.environment, made.inside.environment));
    IGLOO_TRY(Take(plan_.fresh, made.inside.fresh));
    of_run_ = true;
    IGLOO_TRY(Take(plan_.run, made.inside.run));
    const std::uint64_t memory =
        plan_.payload.memory_bytes == 0 ? kUsualMemory : plan_.payload.memory_bytes;
    made.memory_bytes = memory + kOverhead + std::min(files_, kMostFiles);
    made.processors = plan_.payload.millicpus == 0
                          ? kUsualProcessors
                          : static_cast<unsigned>((plan_.payload.millicpus + 999) / 1000);
    if (has_host_place_) {
      made.shares.insert(made.shares.begin(), Share{.tag = "host", .directory = kHostPlace});
    }
    return std::move(division_);
  }

 private:
  Result<void> Take(const std::vector<sandbox::Step>& steps, std::vector<sandbox::Step>& to) {
    for (const sandbox::Step& each : steps) {
      IGLOO_TRY(std::visit([&](const auto& s) { return Put(s, to); }, each));
    }
    return {};
  }

  /// Shows a tree in the jail by its own path, once; the place in the machine.
  std::string ShowAsItIs(const std::string& source, const sandbox::PathFact& fact) {
    const std::string place = kHostPlace + source;
    has_host_place_ = true;
    const bool known = std::ranges::any_of(
        shown_, [&](const std::string& tree) { return sandbox::IsWithin(source, tree); });
    if (known) return place;
    shown_.push_back(source);
    division_.facts[source] = fact;
    division_.outside.emplace_back(HostTree{.source = source, .target = place});
    return place;
  }

  /// Shows a directory of a run in a place of its own, which is not the environment's.
  std::string ShowAsShare(const std::string& source, const sandbox::PathFact& fact, Access access,
                          bool map_owner) {
    const std::string number = std::to_string(shares_++);
    const Share share{.tag = "share" + number,
                      .directory = std::string(kSharesPlace) + "/" + number,
                      .writable = access == Access::kReadWrite};
    division_.facts[source] = fact;
    last_share_ = division_.outside.size();
    division_.outside.emplace_back(HostTree{
        .source = source, .target = share.directory, .access = access, .map_owner = map_owner});
    division_.shares.push_back(share);
    return share.directory;
  }

  Result<std::string> Show(const std::string& source, const sandbox::PathFact& fact, Access access,
                           bool map_owner) {
    if (fact.type != S_IFDIR && fact.type != S_IFREG) {
      return Cannot("show '" + source + "', which is neither a file nor a directory");
    }
    const bool shared = access == Access::kReadWrite || (of_run_ && fact.type == S_IFDIR);
    if (!shared) return ShowAsItIs(source, fact);
    if (fact.type != S_IFDIR) return Cannot("write to the file '" + source + "'");
    return ShowAsShare(source, fact, access, map_owner);
  }

  template <SameInMachine T>
  Result<void> Put(const T& s, std::vector<sandbox::Step>& to) {
    to.emplace_back(s);
    return {};
  }

  Result<void> Put(const step::Bind& s, std::vector<sandbox::Step>& to) {
    if (!s.granted.empty()) return Cannot("reach '" + s.source + "' of the host");
    if (s.target == sandbox::kChangesPlace) return Cannot("keep changes to '" + s.source + "'");
    step::Bind inside = s;
    // The harmless devices are the machine's own.
    if (!s.device) {
      IGLOO_ASSIGN(inside.source, Show(s.source, s.fact, s.access, s.map_owner));
      inside.map_owner = false;  // the share has done it
      inside.host_inodes = false;
      trees_.push_back({s.target, last_share_});
    }
    to.emplace_back(std::move(inside));
    return {};
  }

  /// A read-only view gives a tree inodes of its own; those of a machine are its own already.
  Result<void> Put(const step::Overlay& s, std::vector<sandbox::Step>& to) {
    IGLOO_ASSIGN(std::string place, Show(s.source, s.fact, Access::kReadOnly, s.map_owner));
    trees_.push_back({s.target, last_share_});
    if (s.access == Access::kReadOnly) {
      to.emplace_back(step::Bind{.source = std::move(place), .target = s.target, .fact = s.fact});
      return {};
    }
    files_ += s.capacity.bytes;
    step::Overlay inside = s;
    inside.source = std::move(place);
    inside.map_owner = false;
    to.emplace_back(std::move(inside));
    return {};
  }

  Result<void> Put(const step::Base& s, std::vector<sandbox::Step>&) {
    base_ = s.source;
    return {};
  }
  Result<void> Put(const step::FromBase& s, std::vector<sandbox::Step>& to) {
    IGLOO_ASSIGN(std::string place, Show(base_ + "/" + s.path, s.fact, Access::kReadOnly, false));
    to.emplace_back(step::Bind{.source = std::move(place), .target = s.target, .fact = s.fact});
    return {};
  }
  Result<void> Put(const step::Copy& s, std::vector<sandbox::Step>& to) {
    to.emplace_back(step::Copy{ShowAsItIs(s.source, s.fact), s.target, s.fact});
    return {};
  }

  Result<void> Put(const step::File& s, std::vector<sandbox::Step>& to) {
    contents_[s.path] = &s.content;
    to.emplace_back(s);
    return {};
  }
  Result<void> Put(const step::Tmpfs& s, std::vector<sandbox::Step>& to) {
    files_ += s.capacity.bytes;
    to.emplace_back(s);
    return {};
  }

  /// SECURITY: done outside, where the launcher compares what is hidden: the machine, whoever has
  /// taken it, holds nothing that could be uncovered.
  Result<void> Put(const step::Hide& s, std::vector<sandbox::Step>&) {
    const auto tree = std::ranges::find(trees_, s.tree, &Tree::target);
    if (tree == trees_.end()) return Cannot("hide '" + s.target + "'");
    sandbox::Hidden hidden{
        .path = s.target.substr(s.tree.size() + 1), .fact = s.fact, .why = s.why};
    const auto instead = contents_.find(s.cover);
    const bool closed = s.cover == "/.igloo/hidden" || s.cover == "/.igloo/closed";
    if (!closed && instead == contents_.end()) return Cannot("hide '" + s.target + "'");
    if (!closed) hidden.instead = *instead->second;
    auto& share = std::get<HostTree>(division_.outside[tree->share]);
    share.hidden.push_back(std::move(hidden));
    return {};
  }

  Result<void> Put(const step::Listen&, std::vector<sandbox::Step>&) {
    return Cannot("hand out a listening socket");
  }
  Result<void> Put(const step::Sockets&, std::vector<sandbox::Step>&) {
    return Cannot("hand out sockets");
  }
  template <OneOf<step::Edge, step::Closed, step::Resolver> T>
  Result<void> Put(const T&, std::vector<sandbox::Step>&) {
    return Cannot("have a network device");
  }
  Result<void> Put(const step::HandOut& s, std::vector<sandbox::Step>&) {
    return Cannot("hand '" + s.path + "' out");
  }

  struct Tree {
    std::string target = {};
    std::size_t share = 0;  ///< place among `outside`
  };

  const sandbox::Plan& plan_;
  Division division_ = {};
  std::vector<std::string> shown_ = {};
  std::vector<Tree> trees_ = {};
  std::map<std::string, const std::string*> contents_ = {};
  std::string base_ = {};
  std::size_t last_share_ = 0;
  unsigned shares_ = 0;
  std::uint64_t files_ = 0;
  bool of_run_ = false, has_host_place_ = false;
};

}  // namespace

Result<Division> Divide(const sandbox::Plan& plan) { return Divider(plan).Divide(); }

}  // namespace igloo::backend::microvm

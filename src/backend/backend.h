#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "sandbox/plan.h"
#include "wire/host.h"

namespace igloo::backend {

/// The sandbox's ends of everything that connects it with igloo.
struct Channels {
  UniqueFd control = {};  ///< igloo-init's, never the payload's
  UniqueFd standard_input = {}, standard_output = {}, standard_error = {};
  std::vector<UniqueFd> extra = {};
  /// Borrowed, or -1: a cgroup's file to write 0 to, or with `born_into` its directory.
  int group = -1;
  bool born_into = false;
  /// Borrowed, or -1: the cgroup.procs of a second cgroup, which limits processors.
  int cpu_group = -1;
};

/// Sockets that were made inside.
struct Sockets {
  std::vector<UniqueFd> listeners = {};    ///< in the order of the plan's Listen steps
  std::vector<UniqueFd> unconnected = {};  ///< of its Sockets step
};

/// Where a start-up spent its time, in CLOCK_MONOTONIC µs; 0 where a backend cannot tell.
struct Timeline {
  std::uint64_t launcher = 0, namespaces = 0, root = 0, exec = 0;
};

/// One running instance. Dropping it ends everything inside.
class Sandbox {
 public:
  virtual ~Sandbox() = default;

  /// Readable when there is news about the set-up; -1 once the set-up is over.
  virtual int setup_fd() const = 0;
  /// Takes the news without blocking. A failed set-up is the error that the caller reports.
  virtual Result<void> ReadSetup() = 0;
  virtual void Kill() = 0;
  /// Why the sandbox ended without a word from igloo-init, when the backend knows.
  virtual Error WhyGone() = 0;

  // What only some walls can do (wall::Capabilities). The others keep these.

  /// Whether the wall has said that there is a sandbox.
  virtual bool made() const { return false; }
  /// Becomes readable when every process of it has ended; none: the wall cannot tell.
  virtual UniqueFd WhenEnded() const { return {}; }
  /// Brings igloo-init to the cgroup whose open cgroup.procs this is.
  virtual Result<void> EnterCpuGroup(int procs);
  /// A pidfd of igloo-init, borrowed, for igloo-copy, which works from inside.
  virtual Result<int> InitForCopier() const;
  /// What came of its sockets since the last call.
  virtual Result<Sockets> TakeSockets();
  /// The network namespace that its device leads to.
  virtual Result<UniqueFd> TakeEdge();
  /// Directories that the plan hands out, in its order, as far as they came; borrowed.
  virtual std::span<const UniqueFd> handed_out() const { return {}; }
  virtual std::vector<UniqueFd> TakeHandedOut() { return {}; }
  virtual Timeline timeline() const { return {}; }
};

/// Where igloo's helper programs are.
struct Programs {
  std::string jail = {};
  std::string init = {};
  std::string proxy = {};    ///< igloo-proxy, for sandboxes with a network
  std::string copier = {};   ///< igloo-copy, for checkpoints and forks of sessions
  std::string machine = {};  ///< igloo-machine, for virtual machines
  std::string kernel = {};   ///< that they start with; empty: one of the host's
  /// The directory in which processes agree on who has which subordinate ids, or why there is none.
  /// Empty: such ids are not asked for.
  Result<std::string> leases = std::string();
};

/// What a backend is made for.
enum class Mode {
  kCold,      ///< single runs: each sandbox is built from nothing
  kPrepared,  ///< a server: what environments have in common is built once, where a wall can
};

/// Consecutive ids of the host.
struct IdRange {
  std::uint32_t first = 0, count = 0;
  bool operator==(const IdRange&) const = default;
};

/// Whose ids the sandboxes of a backend have outside.
struct HostIds {
  enum class Kind {
    kStarters,     ///< that of the user who started igloo
    kOwn,          ///< started by root: each has one of its own
    kSubordinate,  ///< each that can has a subordinate id of that user's, of its own
  };
  Kind kind = Kind::kStarters;
  Error why = {};      ///< kStarters: what is missing
  IdRange users = {};  ///< kSubordinate: which ids
};

/// How strong the wall is. Renders a plan and decides nothing.
class Backend {
 public:
  virtual ~Backend() = default;
  /// Starts what can get ready beside the planning of the first run.
  virtual Result<void> Warm() { return {}; }
  /// Whose ids its sandboxes have outside, as far as this can be seen without starting anything.
  virtual HostIds expected_ids() const;
  /// The same for certain: starts what it needs to know.
  virtual Result<HostIds> host_ids() { return expected_ids(); }
  /// Whether what it starts enters Channels::cpu_group by itself. Otherwise whoever has it started
  /// brings igloo-init there before that is told to start anything.
  virtual bool EntersCpuGroup() const { return false; }
  /// Whether memory and processes of what it starts are bounded without a cgroup: one of the host's
  /// would count what is around the sandbox instead.
  virtual bool CountsMemory() const { return false; }
  /// How long a sandbox may take to be made, where that is no part of its program's time; 0: it is.
  virtual std::uint64_t MakingMs() const { return 0; }
  /// `plan` must outlive the sandbox.
  virtual Result<std::unique_ptr<Sandbox>> Start(const sandbox::Plan& plan, Channels channels) = 0;
};

/// What igloo-init is told about the payload of a plan: the same for every backend.
wire::Start StartMessage(const sandbox::Payload& payload, const wire::Nonce& nonce);

/// The error that igloo-init's refusal stands for.
Error ExplainRefusal(const wire::Refused& refused, const sandbox::Payload& payload);

}  // namespace igloo::backend

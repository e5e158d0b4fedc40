#pragma once

#include <cstdint>
#include <memory>
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
  /// A pidfd of igloo-init, borrowed; -1 while there is none, or when a backend cannot tell.
  virtual int init_pidfd() const { return -1; }
  /// Why the sandbox ended without a word from igloo-init, when the backend knows.
  virtual Error WhyGone() = 0;

  /// Sockets that listen inside, in the order of the plan's Listen steps.
  std::vector<UniqueFd> listeners = {};
  /// Sockets of its Sockets step, made inside and not connected.
  std::vector<UniqueFd> sockets = {};
  /// The network namespace that its device leads to; none: it has no device.
  UniqueFd edge = {};
  /// Directories that the plan hands out, in its order.
  std::vector<UniqueFd> handed_out = {};
  Timeline timeline = {};
};

/// How strong the wall is. Renders a plan and decides nothing.
class Backend {
 public:
  virtual ~Backend() = default;
  /// Whether what it starts enters Channels::cpu_group by itself. Otherwise whoever has it started
  /// brings igloo-init there before that is told to start anything.
  virtual bool EntersCpuGroup() const { return false; }
  /// `plan` must outlive the sandbox.
  virtual Result<std::unique_ptr<Sandbox>> Start(const sandbox::Plan& plan, Channels channels) = 0;
};

/// What igloo-init is told about the payload of a plan: the same for every backend.
wire::Start StartMessage(const sandbox::Payload& payload, const wire::Nonce& nonce);

/// The error that igloo-init's refusal stands for.
Error ExplainRefusal(const wire::Refused& refused, const sandbox::Payload& payload);

}  // namespace igloo::backend

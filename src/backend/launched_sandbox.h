#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/launcher.h"
#include "base/error.h"
#include "base/file.h"
#include "base/unique_fd.h"
#include "ops/ops.h"
#include "sandbox/plan.h"

namespace igloo::backend {

/// The request for one sandbox, with its descriptors as the protocol orders them (ops::FdSlot).
struct StartRequest {
  ops::Request request = {};
  std::vector<int> fds = {};  ///< borrowed
  UniqueFd entrance = {};     ///< what one of them is, when it is not the caller's
};

/// `reply`: the launcher's end. `other_id`: what it starts is another user than the one who made
/// the sandbox's cgroup, or cannot be born into it.
Result<StartRequest> MakeStartRequest(const sandbox::Plan& plan, ops::Kind kind,
                                      const Channels& channels, int reply, bool other_id);

/// A sandbox that a launcher was asked for, as its replies tell of it.
class LaunchedSandbox : public Sandbox {
 public:
  LaunchedSandbox(UniqueFd reply, const sandbox::Plan& plan)
      : reply_(std::move(reply)), plan_(plan) {}
  ~LaunchedSandbox() override { LaunchedSandbox::Kill(); }

  int setup_fd() const override { return reply_.get(); }
  Result<void> ReadSetup() override;
  /// Killing PID 1 of the sandbox ends everything in it.
  void Kill() override;
  Error WhyGone() override;

  bool made() const override { return static_cast<bool>(pidfd_); }
  UniqueFd WhenEnded() const override { return Duplicate(pidfd_.get()); }
  Result<void> EnterCpuGroup(int procs) override;
  Result<int> InitForCopier() const override { return pidfd_.get(); }
  Result<Sockets> TakeSockets() override { return std::exchange(sockets_, {}); }
  Result<UniqueFd> TakeEdge() override { return std::move(edge_); }
  std::span<const UniqueFd> handed_out() const override { return handed_out_; }
  std::vector<UniqueFd> TakeHandedOut() override { return std::exchange(handed_out_, {}); }
  Timeline timeline() const override { return timeline_; }

 protected:
  /// The error for a reply that the sandbox could not be built.
  virtual Error OnFailure(const ops::Reply& reply);

 private:
  Result<void> Take(ReceivedReply received);

  UniqueFd reply_;
  UniqueFd pidfd_ = {};
  const sandbox::Plan& plan_;  // the caller keeps it: it may hold 64 MB of code
  Sockets sockets_ = {};
  UniqueFd edge_ = {};
  std::vector<UniqueFd> handed_out_ = {};
  Timeline timeline_ = {};
};

}  // namespace igloo::backend

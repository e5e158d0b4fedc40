#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "backend/microvm/orders.h"
#include "base/log.h"
#include "ops/ops.h"

namespace igloo::backend::microvm {

/// A virtual machine with a sandbox in it: the relay and the emulator in a jail. Its igloo-init is
/// reached through the relay; here is what the jail's own igloo-init, the relay and the machine say
/// until that runs.
class MachineSandbox : public Sandbox {
 public:
  /// `explain`: words for an answer of the machine's launcher, about `inside`.
  MachineSandbox(sandbox::Plan outside, sandbox::Plan inside, std::string orders,
                 Error (*explain)(const ops::Reply&, const sandbox::Plan&), Log::Line note)
      : outside_(std::move(outside)),
        inside_(std::move(inside)),
        orders_(std::move(orders)),
        explain_(explain),
        note_(std::move(note)) {}
  ~MachineSandbox() override { MachineSandbox::Kill(); }

  Result<void> Start(Backend& around, Channels channels);

  int setup_fd() const override { return over_ ? -1 : news_.get(); }
  Result<void> ReadSetup() override;
  void Kill() override {
    if (jail_) jail_->Kill();
  }
  bool made() const override { return jail_ && jail_->made(); }
  UniqueFd WhenEnded() const override { return jail_->WhenEnded(); }
  Error WhyGone() override;

 private:
  Result<void> ReadJail();
  Result<void> TellInit();
  Result<void> SendOrders();
  Result<void> ReadEvents();
  Result<void> Take(const machine::Event& event);
  Result<void> ReadReport();

  sandbox::Plan outside_, inside_;  // the jail refers to the first one
  std::string orders_;
  std::size_t sent_ = 0;
  Error (*explain_)(const ops::Reply&, const sandbox::Plan&);
  Log::Line note_;
  std::unique_ptr<Sandbox> jail_ = {};
  UniqueFd news_ = {};     ///< an epoll of the next three
  UniqueFd launch_ = {};   ///< to the relay
  UniqueFd control_ = {};  ///< to the jail's igloo-init
  UniqueFd cpu_group_ = {};
  wire::Nonce nonce_ = wire::NewNonce();
  wire::FrameBuffer frames_{4096};
  Events events_ = {};
  std::optional<Error> trouble_ = {};
  bool told_ = false, over_ = false, ended_ = false;
};

}  // namespace igloo::backend::microvm

#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/error.h"
#include "base/unique_fd.h"
#include "cgroup/groups.h"
#include "sandbox/plan.h"

namespace igloo::session {

class Connection;

/// The memory of an interpreter that has loaded everything, from which others are restored: that
/// costs a tenth of a start, and what none of them changes is in memory once.
/// SECURITY: the interpreter that it is made of is started in a sandbox of its own, behind the same
/// walls as every other, and ends when the checkpoint is made. So it may run whatever the
/// environment has: nothing of it ever runs outside of a sandbox.
/// Made with Make; one thread.
class Checkpoint : public std::enable_shared_from_this<Checkpoint> {
 public:
  struct Options {
    std::string copier = {};                ///< igloo-copy
    std::vector<std::string> preload = {};  ///< modules to load ahead
    std::optional<cgroup::Lease> group = {};
    std::shared_ptr<Connection> connection = {};
  };
  /// Begins to make one. `plan`: of the sandboxes that interpreters are restored in.
  static std::shared_ptr<Checkpoint> Make(boost::asio::io_context& loop, backend::Backend& backend,
                                          const sandbox::Plan& plan, Options options);

  /// Waits until it is made; its file, which stays this one's.
  boost::asio::awaitable<Result<int>> File(std::chrono::milliseconds limit);

  bool ready() const { return static_cast<bool>(file_); }
  /// Whether it is made, or may be yet.
  bool usable() const { return !failure_; }
  /// What could not be loaded, a sentence each; told once.
  std::vector<std::string> TakeComplaints() { return std::exchange(complaints_, {}); }

 private:
  Checkpoint(boost::asio::io_context& loop, backend::Backend& backend, const sandbox::Plan& plan,
             Options options);
  boost::asio::awaitable<void> Run();
  boost::asio::awaitable<Result<UniqueFd>> Write();

  boost::asio::io_context& loop_;
  backend::Backend& backend_;
  sandbox::Plan plan_;
  Options options_;
  boost::asio::steady_timer changed_;  ///< cancelled when it is made, or cannot be
  UniqueFd file_ = {};
  std::optional<Error> failure_ = {};
  std::vector<std::string> complaints_ = {};
};

}  // namespace igloo::session

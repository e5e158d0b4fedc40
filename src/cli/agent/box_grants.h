#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "agent/box.h"
#include "agent/grants/grant.h"
#include "agent/leftovers.h"
#include "agent/sockets/served_sockets.h"
#include "base/log.h"
#include "base/temp_dir.h"
#include "base/unique_fd.h"
#include "config/config.h"

namespace igloo::cli {

/// The grants of one box, for as long as it is there: its private directory, and the sockets in it
/// that igloo answers.
class BoxGrants {
 public:
  /// Adds to the box what was asked for. Null: that is nothing.
  static Result<std::unique_ptr<BoxGrants>> Apply(const agent::GrantRequest& request,
                                                  const agent::GrantCaller& caller,
                                                  agent::Box& box);

  /// What killed boxes left.
  static Result<std::vector<agent::Leftover>> CollectDead(agent::Collect collect);

  using Refused = std::function<void(std::string_view grant, std::string_view what)>;
  /// Answers the sockets on the loop of the box's run, and writes down what is done with them.
  /// `refused` hears what was asked for in vain.
  std::function<void(boost::asio::io_context&)> Server(const std::string& box,
                                                       const config::AuditConfig& audit,
                                                       Log::Line say, Refused refused);

 private:
  BoxGrants(TempDir place, UniqueFd lock) : place_(std::move(place)), lock_(std::move(lock)) {}

  TempDir place_;
  UniqueFd lock_;  ///< as long as it is held, nobody takes the directory for a dead one's
  std::unique_ptr<agent::ServedSockets> sockets_ = {};
};

}  // namespace igloo::cli

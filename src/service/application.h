#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "audit/network_log.h"
#include "base/log.h"
#include "service/builder.h"
#include "service/call_log.h"
#include "service/live_setup.h"
#include "service/making.h"
#include "service/principal.h"
#include "service/runner.h"
#include "service/secret_reader.h"
#include "service/trace.h"

namespace igloo::service {

/// A configuration as it was read.
struct ReadConfiguration {
  config::Config config = {};
  config::SandboxScan sandboxes = {};
  std::set<std::string> remarks = {};  ///< about it, for its user
};

/// Everything that a server does for its clients, whoever they are and however they reach it: the
/// catalogue with its reloads, builds and secrets, the runner, each principal's sessions and kept
/// output, the decisions about networks, the records of calls. Knows no protocol and prints
/// nothing. One thread.
class Application {
 public:
  struct Options {
    backend::Programs programs = {};
    std::vector<std::string> principals = {};  ///< their labels; empty: there is only one
    std::function<Result<ReadConfiguration>()> read = {};
    Setup::ReadCatalogue catalogue = {};
    /// What an igloo that builds environments is told about the configuration.
    std::vector<std::string> build_flags = {};
    Log log = {};
    /// What was built may be usable now: the configuration is to be read again.
    std::function<void()> built = {};
    /// Sessions or decisions exist that the server's user can change from outside.
    std::function<void()> reachable = {};
  };
  explicit Application(Options options);
  Application(const Application&) = delete;

  boost::asio::io_context& loop() { return loop_; }
  Runner& runner() { return *runner_; }
  LiveSetup& setup() { return setup_; }
  /// At least one.
  const std::vector<std::unique_ptr<Principal>>& principals() const { return principals_; }
  /// How calls wait for what is built or read beside them.
  Making making();

  /// Begins to build what the configuration names and nobody has built yet.
  void BuildMissing();
  /// Builds that failed are tried again with the next configuration.
  void ForgetBuilds() { builder_->Forget(); }

  /// Writes a call of `owner` down. What a client calls itself comes after the label, which is what
  /// its token proves.
  void Record(const Owner& owner, Trace trace);

  /// Nobody waits any more: the event loop has ended, and what ran on it is being destroyed.
  void Close();

 private:
  Result<std::shared_ptr<const Setup>> Load();
  void Apply(const config::Config& config);
  /// Says what was not said about the configuration before.
  void Remark(std::set<std::string> remarks);
  /// Clients see only what can be used: whoever asked for something else hears why, and when that
  /// is over. What is being built may well become usable.
  void TellUnusable(const Setup& setup);

  Options options_;
  Log::Line warn_, inform_, detail_;
  std::set<std::string> remarks_ = {};                ///< about the configuration, as said
  std::map<std::string, std::string> unusable_ = {};  ///< why, as it was said; empty: it is built
  CallLog calls_;
  std::optional<audit::NetworkLog> decisions_ = {};
  LiveSetup setup_;
  // The order matters: what runs on the loop refers to what stands above it.
  std::unique_ptr<Runner> runner_ = {};
  std::vector<std::unique_ptr<Principal>> principals_ = {};
  boost::asio::io_context loop_{1};
  SecretReader secret_reader_;
  std::optional<Builder> builder_ = {};
};

}  // namespace igloo::service

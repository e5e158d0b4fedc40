#include "cli/agent/box_grants.h"

#include <chrono>
#include <filesystem>
#include <thread>

#include "audit/grant_log.h"
#include "base/private_directory.h"
#include "service/places.h"

namespace igloo::cli {
namespace {

/// Between its name and its lock, a new place looks like a dead one's. Nobody holds this for longer
/// than it takes to make one.
Result<UniqueFd> LockPlaces(const std::string& directory) {
  for (int tries = 0;; ++tries) {
    auto lock = LockPrivateFile(directory + "/lock");
    if (lock || lock.error().code != Errc::kFailedPrecondition || tries == 200) return lock;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::string WorkingDirectory() {
  std::error_code ignored;
  return std::filesystem::current_path(ignored).string();
}

audit::Time Now() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

agent::Grant GrantOf(agent::ServedSocket::Protocol protocol) {
  using enum agent::ServedSocket::Protocol;
  switch (protocol) {
    case kSshAgent:
      return agent::Grant::kSshAgent;
    case kGpgAgent:
      return agent::Grant::kGpg;
    case kNixDaemon:
      return agent::Grant::kNix;
  }
  return agent::Grant::kSshAgent;
}

}  // namespace

Result<std::unique_ptr<BoxGrants>> BoxGrants::Apply(const agent::GrantRequest& request,
                                                    const agent::GrantCaller& caller,
                                                    agent::Box& box) {
  const bool none = request.asked.empty() && request.usual.empty();
  if (none && request.ssh_key_filters.empty()) return nullptr;
  IGLOO_ASSIGN(const std::string state, service::StatePlace());
  const std::string directory = state + "/grants";
  IGLOO_TRY(OpenPrivateDirectory(directory, OwnLevels::kTwo));
  IGLOO_ASSIGN(const UniqueFd starting, LockPlaces(directory));
  // Of boxes that did not end by themselves. Their igloo held a lock.
  (void)agent::CollectGrants(directory, agent::Collect::kRemove);
  IGLOO_ASSIGN(TempDir place, TempDir::Make(directory));
  IGLOO_ASSIGN(UniqueFd lock, LockPrivateFile(place.path() + "/lock"));
  std::unique_ptr<BoxGrants> grants(new BoxGrants(std::move(place), std::move(lock)));
  const agent::GrantPlaces places{
      .own = grants->place_.path(), .state = state, .working = WorkingDirectory()};
  IGLOO_TRY(agent::ApplyGrants(request, places, caller, box));
  IGLOO_ASSIGN(grants->sockets_, agent::ServedSockets::Open(box.served));
  return grants;
}

Result<std::vector<agent::Leftover>> BoxGrants::CollectDead(agent::Collect collect) {
  IGLOO_ASSIGN(const std::string state, service::StatePlace());
  const std::string directory = state + "/grants";
  IGLOO_TRY(OpenPrivateDirectory(directory, OwnLevels::kTwo));
  IGLOO_ASSIGN(const UniqueFd starting, LockPlaces(directory));
  return agent::CollectGrants(directory, collect);
}

std::function<void(boost::asio::io_context&)> BoxGrants::Server(const std::string& box,
                                                                const config::AuditConfig& audit,
                                                                Log::Line say, Refused refused) {
  std::shared_ptr<audit::GrantLog> log;
  const auto place = service::StatePlace();
  if (audit.enabled && place) {
    log = std::make_shared<audit::GrantLog>(
        audit::JournalOptions{
            .directory = *place, .rotate_bytes = audit.rotate_bytes, .keep = audit.keep},
        [say = std::move(say)](const Error& error) {
          say("what the box signs is not written down: " + error.what);
        });
  }
  return [this, log, box, refused](boost::asio::io_context& loop) {
    sockets_->Serve(loop, [log, box, refused](agent::ServedSocket::Protocol protocol,
                                              std::string_view event, std::string_view what) {
      const std::string_view grant = agent::RowOf(GrantOf(protocol)).option;
      if (event == "refused") refused(grant, what);
      if (!log) return;
      log->Add({.time = Now(),
                .box = box,
                .grant = std::string(grant),
                .event = std::string(event),
                .what = std::string(what)});
    });
  };
}

}  // namespace igloo::cli

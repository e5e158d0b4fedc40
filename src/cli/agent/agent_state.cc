#include "cli/agent/agent_state.h"

#include <fmt/format.h>

#include <ctime>

#include "agent/home.h"
#include "base/error_text.h"
#include "base/private_directory.h"
#include "base/text.h"
#include "service/places.h"

namespace igloo::cli {
namespace {

void Say(const agent::WriteBack& done, Console& console) {
  for (const agent::FileProblem& each : done.problems) {
    console.Note(
        fmt::format("'~/{}' stayed as it was: {}; the box's version is kept and tried "
                    "again with the next box",
                    Printable(each.file), InOneLine(each.error)));
  }
  if (done.proposals.empty()) return;
  console.Note(
      fmt::format("the box made {} to your settings that could run programs or give "
                  "rights; look at them: igloo agent proposals",
                  done.proposals.size() == 1 ? std::string("a change")
                                             : fmt::format("{} changes", done.proposals.size())));
}

}  // namespace

Result<agent::StateStore> AgentStore() {
  IGLOO_ASSIGN(const std::string state, service::StatePlace());
  const std::string place = state + "/agents";
  IGLOO_TRY(OpenPrivateDirectory(place, OwnLevels::kTwo));
  return agent::StateStore{.directory = place};
}

Result<void> FinishInterruptedBoxes(Console& console) {
  IGLOO_ASSIGN(const agent::StateStore store, AgentStore());
  IGLOO_ASSIGN(const auto interrupted, agent::FinishInterrupted(store));
  for (const agent::WriteBack& each : interrupted) Say(each, console);
  return {};
}

Result<std::unique_ptr<AgentState>> AgentState::Begin(const std::string& box,
                                                      const agent::Profile* profile,
                                                      const std::string& home,
                                                      const std::string& project,
                                                      Console& console) {
  const agent::AgentFiles* files =
      profile == nullptr ? nullptr : agent::FindAgentFiles(profile->files_of);
  if (files == nullptr) return nullptr;
  IGLOO_ASSIGN(const agent::StateStore store, AgentStore());
  IGLOO_TRY(FinishInterruptedBoxes(console));
  agent::BoxOrder order{.box = box,
                        .agent = std::string(profile->files_of),
                        .home = home,
                        .started = std::time(nullptr)};
  IGLOO_ASSIGN(agent::BoxState state, agent::BoxState::Begin(store, order));
  for (const agent::FileProblem& each : state.problems()) {
    console.Note(fmt::format("the box goes without your '~/{}': {}", Printable(each.file),
                             InOneLine(each.error)));
  }
  std::unique_ptr<AgentState> made(new AgentState(order, std::move(state)));
  std::optional<agent::History> history;
  if (!profile->history.empty()) {
    IGLOO_ASSIGN(history,
                 agent::OpenHistory(*profile, store.directory + "/histories", home, project));
  }
  made->mounts_ = agent::MountsOfState(*files, order, home, history);
  if (history) made->history_lock_ = std::move(history->lock);
  return made;
}

void AgentState::ShowIn(const std::string& home, agent::Box& box) {
  const agent::AgentFiles* files =
      box.profile == nullptr ? nullptr : agent::FindAgentFiles(box.profile->files_of);
  if (files == nullptr) return;
  const auto mounts = agent::MountsOfState(*files, {.home = home}, home, std::nullopt);
  box.mounts.insert(box.mounts.end(), mounts.begin(), mounts.end());
  box.remarks.push_back("its home gets copies of your settings and sign-in of " +
                        std::string(box.profile->title) + " when it starts");
}

AgentState::~AgentState() {
  if (!finished_) (void)state_.Finish();
}

Result<void> AgentState::AddTo(agent::Box& box) const {
  box.home_source = state_.home();
  box.mounts.insert(box.mounts.end(), mounts_.begin(), mounts_.end());
  return agent::FillHome(state_.home(), box);
}

void AgentState::Sync() { (void)state_.Sync(); }

void AgentState::Finish(Console& console) {
  finished_ = true;
  const auto done = state_.Finish();
  if (!done) return console.Report(done.error());
  Say(*done, console);
}

}  // namespace igloo::cli

#include "cli/agent/agent_state.h"

#include <fmt/format.h>
#include <unistd.h>

#include <ctime>

#include "agent/home.h"
#include "agent/state/projects.h"
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
                                                      const StateChoice& choice, Console& console) {
  const agent::AgentFiles* files =
      profile == nullptr ? nullptr : agent::FindAgentFiles(profile->files_of);
  if (files == nullptr) return nullptr;
  IGLOO_ASSIGN(const agent::StateStore store, AgentStore());
  IGLOO_TRY(FinishInterruptedBoxes(console));
  agent::BoxOrder order{.box = box,
                        .agent = std::string(profile->files_of),
                        .home = home,
                        .places = choice.places,
                        .started = std::time(nullptr)};
  IGLOO_ASSIGN(agent::BoxState state, agent::BoxState::Begin(store, order));
  for (const agent::FileProblem& each : state.problems()) {
    console.Note(fmt::format("the box goes without your '~/{}': {}", Printable(each.file),
                             InOneLine(each.error)));
  }
  std::unique_ptr<AgentState> made(new AgentState(order, std::move(state)));
  std::optional<agent::History> history;
  if (choice.own_conversations) {
    IGLOO_ASSIGN(made->conversations_,
                 agent::Conversations::Open(home, project, store.directory + "/conversations"));
    history = agent::History{.path = made->conversations_->path(),
                             .source = made->conversations_->source()};
  } else if (!profile->history.empty()) {
    const std::string usual = store.directory + "/histories/" + std::string(profile->name);
    IGLOO_ASSIGN(history,
                 agent::OpenHistory(*profile, choice.histories.empty() ? usual : choice.histories,
                                    home, project));
  }
  IGLOO_ASSIGN(
      agent::History sessions,
      agent::OpenSessions(*files, store.directory + "/sessions/" + order.agent, project));
  made->mounts_ = agent::MountsOfState(*files, order, home, sessions.source, history);
  made->sessions_lock_ = std::move(sessions.lock);
  if (history) made->history_lock_ = std::move(history->lock);
  return made;
}

void AgentState::ShowIn(const std::string& home, const StateChoice& choice, agent::Box& box) {
  const agent::AgentFiles* files =
      box.profile == nullptr ? nullptr : agent::FindAgentFiles(box.profile->files_of);
  if (files == nullptr) return;
  std::optional<agent::History> history;
  if (const std::string_view path = box.profile->history; !path.empty()) {
    history = agent::History{.path = std::string(path), .source = {}};
    const std::string& place = choice.histories;
    if (const auto root = agent::FindProjectRoot(box.project); root && !place.empty()) {
      history->source = place + "/" + agent::ProjectKey(root->path);
    }
    if (::access(history->source.c_str(), F_OK) != 0) history->source.clear();
  }
  const auto mounts =
      agent::MountsOfState(*files, {.home = home, .places = choice.places}, home, "", history);
  box.mounts.insert(box.mounts.end(), mounts.begin(), mounts.end());
  box.remarks.push_back("its home gets copies of your settings and sign-in of " +
                        std::string(box.profile->title) +
                        ", and a directory for conversations of this project, when it starts");
}

AgentState::~AgentState() {
  if (finished_) return;
  (void)state_.Finish();
  if (conversations_) (void)conversations_->Publish();
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
  if (done) {
    Say(*done, console);
  } else {
    console.Report(done.error());
  }
  if (!conversations_) return;
  if (const auto published = conversations_->Publish(); !published) {
    console.Report(published.error());
  }
}

}  // namespace igloo::cli

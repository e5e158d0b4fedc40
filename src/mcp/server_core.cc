#include "mcp/server_core.h"

#include "mcp/dispatcher.h"
#include "mcp/pch.h"
#include "mcp/tasks.h"

namespace igloo::mcp {

ServerCore::ServerCore(boost::asio::any_io_executor executor, Service& service,
                       ServerOptions options)
    : executor_(std::move(executor)),
      service_(service),
      options_(options),
      backlog_(std::make_shared<Backlog>(executor_, options_.most_answer_bytes)),
      tasks_(std::make_shared<TaskStore>(*this)) {}

std::shared_ptr<Dispatcher> ServerCore::Connect(std::shared_ptr<Channel> channel) {
  return Connect(std::move(channel), std::make_shared<ClientState>(), Hears::kChangesToo);
}

std::shared_ptr<Dispatcher> ServerCore::Connect(std::shared_ptr<Channel> channel,
                                                std::shared_ptr<ClientState> state, Hears hears) {
  dispatchers_.remove_if([](const auto& one) { return one.expired(); });
  auto dispatcher =
      std::make_shared<Dispatcher>(shared_from_this(), std::move(channel), std::move(state), hears);
  dispatchers_.push_back(dispatcher);
  return dispatcher;
}

const std::string* ServerCore::KeptTools(const std::string& version) const {
  const auto found = kept_tools_.find(version);
  return found != kept_tools_.end() ? &found->second : nullptr;
}

void ServerCore::Announce(const Change& change) {
  if (std::holds_alternative<change::Tools>(change)) kept_tools_.clear();
  const bool list = std::holds_alternative<change::Tools>(change) ||
                    std::holds_alternative<change::Prompts>(change) ||
                    std::holds_alternative<change::Resources>(change);
  // Clients were told not to expect it.
  if (list && !service_.Offers().list_changes) return;
  for (auto at = dispatchers_.begin(); at != dispatchers_.end();) {
    if (const auto dispatcher = at->lock()) {
      dispatcher->Tell(change);
      ++at;
    } else {
      at = dispatchers_.erase(at);
    }
  }
}

bool ServerCore::Admit(std::size_t bytes) {
  // One large request is always taken, whatever the limit.
  const bool room = calls_ == 0 || call_bytes_ + bytes <= options_.most_call_bytes;
  if (calls_ >= options_.most_calls || !room) return false;
  ++calls_;
  call_bytes_ += bytes;
  return true;
}

void ServerCore::Release(std::size_t bytes) {
  --calls_;
  call_bytes_ -= bytes;
}

}  // namespace igloo::mcp

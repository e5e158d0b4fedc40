#include "mcp/call.h"

#include "mcp/pch.h"
#include "mcp/questions.h"

namespace igloo::mcp {

namespace json = boost::json;

namespace {

constexpr std::string_view kLevels[] = {"debug", "info",     "notice", "warning",
                                        "error", "critical", "alert",  "emergency"};

}  // namespace

std::string_view Name(LogLevel level) { return kLevels[static_cast<std::size_t>(level)]; }

std::optional<LogLevel> ToLogLevel(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kLevels); ++i) {
    if (kLevels[i] == name) return static_cast<LogLevel>(i);
  }
  return {};
}

Call::Call(CallFacts call_facts, std::shared_ptr<Channel> channel,
           std::shared_ptr<Questions> questions, std::chrono::milliseconds progress_interval)
    : facts_(std::move(call_facts)),
      channel_(std::move(channel)),
      questions_(std::move(questions)),
      interval_(progress_interval) {}

void Call::Progress(double progress, std::optional<double> total, std::string_view message) {
  if (!facts_.progress_token || finished_ || cancellation_.requested()) return;
  const auto now = std::chrono::steady_clock::now();
  const bool grows = !last_progress_ || progress > *last_progress_;
  if (!grows || now < next_progress_ || channel_->congested()) return;
  last_progress_ = progress;
  next_progress_ = now + interval_;
  JsonObject params{{"progressToken", *facts_.progress_token}, {"progress", progress}};
  if (total) params["total"] = *total;
  // The first revision has no text here.
  if (!message.empty() && facts_.dialect.version >= "2025-03-26") params["message"] = message;
  channel_->Send(Pack(NotificationMessage("notifications/progress", std::move(params))));
}

void Call::Log(LogLevel level, std::string_view logger, Json data) {
  if (!facts_.log_level || level < *facts_.log_level || finished_) return;
  if (cancellation_.requested() || channel_->congested()) return;
  JsonObject params{{"level", Name(level)}, {"data", std::move(data)}};
  if (!logger.empty()) params["logger"] = logger;
  channel_->Send(Pack(NotificationMessage("notifications/message", std::move(params))));
}

bool Call::ClientHas(std::string_view capability) const {
  return facts_.client_capabilities.contains(capability);
}

bool Call::ClientHasExtension(std::string_view extension) const {
  const json::value* all = facts_.client_capabilities.if_contains("extensions");
  return all != nullptr && all->is_object() && all->get_object().contains(extension);
}

boost::asio::awaitable<Answer<Json>> Call::AskClient(std::string method, JsonObject params) {
  if (facts_.dialect.era == Era::kModern || questions_ == nullptr) {
    co_return Refuse(RpcCode::kInternalError,
                     "this client takes no requests; answer with what is needed instead");
  }
  auto answer = co_await questions_->Ask(*channel_, cancellation_, method, params);
  co_return answer;
}

std::unexpected<RpcError> MissingCapability(JsonObject required) {
  RpcError error{
      RpcCode::kMissingCapability,
      "this needs a capability that the client did not declare: " + json::serialize(required),
      JsonObject{{"requiredCapabilities", std::move(required)}}};
  return std::unexpected(std::move(error));
}

}  // namespace igloo::mcp

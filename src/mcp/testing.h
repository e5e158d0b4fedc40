#pragma once

// A service, a channel and a conversation for this room's tests.

#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "mcp/dispatcher.h"
#include "mcp/methods.h"
#include "mcp/service.h"

namespace igloo::mcp::testing {

/// Offers a bit of everything. `wait` runs until it is let go or cancelled.
class FakeService : public Service {
 public:
  ServerInfo Info() const override {
    return {.name = "fake", .version = "1", .title = "Fake", .instructions = "Be kind."};
  }
  Features Offers() const override { return features; }

  std::vector<Tool> Tools() override {
    std::vector<Tool> tools;
    for (const char* name : {"echo", "wait", "steps", "throw", "big", "bytes", "ask", "fail"}) {
      tools.push_back({.name = name, .description = "d", .hints = {.read_only = true}});
      tools.back().background = background;
    }
    for (const std::string& name : more_tools) tools.push_back({.name = name});
    return tools;
  }

  boost::asio::awaitable<Answer<Outcome<ToolResult>>> Run(Call& call, ToolCall request) override {
    ToolResult result;
    last_facts = call.facts();
    if (request.name == "throw") throw std::runtime_error("thrown");
    if (request.name == "fail") co_return ToolFailure("it failed; try again");
    if (request.name == "ask" && !call.facts().input_responses.contains("q")) {
      co_return InputRequired{{{"q", JsonObject{{"method", "roots/list"}}}}, "s1"};
    }
    if (request.name == "steps") {
      for (const double at : {1.0, 2.0, 2.0, 1.5, 3.0}) call.Progress(at, 3.0, "step");
      call.Log(LogLevel::kDebug, "l", "quiet");
      call.Log(LogLevel::kWarning, "l", "loud");
    }
    if (request.name == "wait") co_await Wait(call);
    std::string text = request.name;
    if (const Json* given = request.arguments.if_contains("text")) {
      text = std::string(given->as_string());
    }
    if (request.name == "big") text.assign(300'000, 'x');
    if (request.name == "bytes") text = "a\xff\n";
    result.content.emplace_back(content::Text{text});
    result.structured = JsonObject{{"text", text}};
    co_return result;
  }

  boost::asio::awaitable<void> Wait(Call& call) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    timer.expires_at(boost::asio::steady_timer::time_point::max());
    const auto hook = call.cancellation().OnRequest([&] {
      ++cancelled;
      timer.cancel();
    });
    waiting.push_back(&timer);
    boost::system::error_code ignored;
    auto token = boost::asio::redirect_error(boost::asio::use_awaitable, ignored);
    if (!call.cancellation().requested()) co_await timer.async_wait(token);
    std::erase(waiting, &timer);
    ++ended;
  }
  /// Lets the n-th waiting call go.
  void LetGo(std::size_t index) { waiting.at(index)->cancel(); }

  std::vector<Resource> Resources() override {
    ++listed;
    return resources;
  }
  std::vector<ResourceTemplate> ResourceTemplates() override { return {{"t://{id}", "t"}}; }
  boost::asio::awaitable<Answer<Outcome<std::vector<ResourceContents>>>> Read(
      Call&, ReadResource request) override {
    std::vector<ResourceContents> contents;
    if (request.uri == "r://blob") {
      contents.push_back({request.uri, "image/png", Blob{"\x01\x02"}});
    }
    if (request.uri == "r://text") contents.push_back({request.uri, "", "hello"});
    if (contents.empty()) co_return ResourceNotFound(request.uri);
    co_return contents;
  }
  std::vector<Prompt> Prompts() override {
    return {{.name = "p", .arguments = {{.name = "a", .required = true}}}};
  }
  boost::asio::awaitable<Answer<Outcome<PromptResult>>> Prepare(Call&, GetPrompt get) override {
    PromptResult result;
    result.messages.push_back({Role::kUser, content::Text{get.arguments.at("a")}});
    co_return result;
  }
  const Method* OwnMethod(std::string_view name) const override {
    static constexpr Method kOwn{.name = "own/method", .now = [](Context& context) {
                                   return Answer<JsonObject>(context.params);
                                 }};
    return name == kOwn.name ? &kOwn : nullptr;
  }

  Features features = {.resources = true,
                       .prompts = true,
                       .logging = true,
                       .subscriptions = true,
                       .others = {{"own", JsonObject{}}}};
  Background background = Background::kNever;  ///< of all its tools
  std::vector<std::string> more_tools = {};
  std::vector<Resource> resources = {};
  std::vector<boost::asio::steady_timer*> waiting = {};
  int cancelled = 0, ended = 0, listed = 0;
  CallFacts last_facts = {};
};

class FakeChannel : public Channel {
 public:
  void Send(Outgoing message) override {
    sent.push_back(std::move(message.text));
    if (!reads) unread.push_back(std::move(message.share));
  }
  bool congested() const override { return full; }

  std::vector<std::string> sent = {};
  bool full = false;
  bool reads = true;
  std::vector<Backlog::Share> unread = {};
};

/// A client and a server without anything in between.
struct Conversation {
  explicit Conversation(ServerOptions options = {.progress_interval = std::chrono::seconds(0)})
      : core(std::make_shared<ServerCore>(loop.get_executor(), service, options)),
        dispatcher(core->Connect(channel)) {}

  /// What the server says until it has nothing more to say.
  std::vector<std::string> Say(std::string_view message) {
    dispatcher->Receive(message);
    return Listen();
  }
  std::vector<std::string> Listen() {
    loop.restart();
    loop.poll();
    return std::exchange(channel->sent, {});
  }

  FakeService service = {};
  boost::asio::io_context loop = {};
  std::shared_ptr<FakeChannel> channel = std::make_shared<FakeChannel>();
  std::shared_ptr<ServerCore> core;
  std::shared_ptr<Dispatcher> dispatcher;
};

inline std::string Legacy(std::string_view id, std::string_view method,
                          std::string_view params = "{}") {
  return "{\"jsonrpc\":\"2.0\",\"id\":" + std::string(id) + ",\"method\":\"" + std::string(method) +
         "\",\"params\":" + std::string(params) + "}";
}

/// `more` are further members of the parameters: `"name":"echo"`.
inline std::string Modern(std::string_view id, std::string_view method, std::string_view more = "",
                          std::string_view capabilities = "{}") {
  return Legacy(id, method,
                "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                "\"io.modelcontextprotocol/clientCapabilities\":" +
                    std::string(capabilities) + ",\"progressToken\":\"p\"}" +
                    (more.empty() ? "" : ",") + std::string(more) + "}");
}

}  // namespace igloo::mcp::testing

#include "tools/session_control.h"

#include <gmock/gmock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/serialize.hpp>

#include "mcp/pch.h"

namespace igloo::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SessionControlTest : public ::testing::Test {
 protected:
  /// The last answer to a request, as text.
  std::string Ask(std::string request, service::AllowRule allow) {
    SessionControl control(sessions_, [] { return service::Setup::Nothing(); }, std::move(allow));
    std::string last;
    boost::asio::co_spawn(loop_,
                          control.Handle(std::move(request), {},
                                         [&](const mcp::JsonObject& answer) {
                                           last = boost::json::serialize(answer);
                                         }),
                          boost::asio::detached);
    loop_.restart();
    loop_.run();
    return last;
  }
  service::AllowRule Note() {
    return [this](std::string sandbox, std::string rule,
                  service::Lasting lasting) -> boost::asio::awaitable<Result<std::string>> {
      allowed_.push_back(sandbox + " " + rule +
                         (lasting == service::Lasting::kOnce ? " once" : ""));
      co_return "noted";
    };
  }

  boost::asio::io_context loop_ = {};
  service::Runner runner_{loop_, {}, {}};
  service::Sessions sessions_{loop_, runner_, {}};
  std::vector<std::string> allowed_ = {};
};

TEST_F(SessionControlTest, ARuleGoesToTheSandbox) {
  EXPECT_EQ(
      Ask(R"({"do":"net-allow","sandbox":"data","rule":"Example.ORG","for":"session"})", Note()),
      R"({"ok":true,"rule":"example.org","said":"noted"})");
  EXPECT_THAT(
      Ask(R"({"do":"net-allow","sandbox":"data","rule":"a.example:*","for":"once"})", Note()),
      HasSubstr(R"("ok":true)"));
  EXPECT_THAT(allowed_, ElementsAre("data example.org", "data a.example:* once"));
}

TEST_F(SessionControlTest, WhatIsNoRuleOpensNothing) {
  for (const char* request :
       {R"({"do":"net-allow","sandbox":"data","rule":"","for":"once"})",
        R"({"do":"net-allow","sandbox":"data","rule":"a.example/x","for":"once"})",
        R"({"do":"net-allow","sandbox":"data","rule":"a.example","for":"ever"})",
        R"({"do":"net-allow","sandbox":"data","rule":"a.example"})",
        R"({"do":"net-allow","rule":"a.example","for":"once"})",
        R"({"do":"net-allow","sandbox":7,"rule":"a.example","for":"once"})"}) {
    EXPECT_THAT(Ask(request, Note()), HasSubstr(R"("error")")) << request;
  }
  EXPECT_THAT(allowed_, IsEmpty());
}

TEST_F(SessionControlTest, ASandboxWithoutANetworkStaysSo) {
  const char* request = R"({"do":"net-allow","sandbox":"data","rule":"a.example","for":"once"})";
  EXPECT_THAT(Ask(request, {}), HasSubstr("no sandbox 'data' has a network"));
  EXPECT_THAT(Ask(request,
                  [](std::string, std::string,
                     service::Lasting) -> boost::asio::awaitable<Result<std::string>> {
                    co_return Fail(Errc::kNotFound, "there is no such sandbox", "look for it");
                  }),
              HasSubstr(R"("what":"there is no such sandbox","hint":"look for it")"));
}

}  // namespace
}  // namespace igloo::tools

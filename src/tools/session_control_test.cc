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
    service::SessionControl control(
        sessions_, [] { return service::Setup::Nothing(); }, std::move(allow));
    std::string last;
    const auto emit = [&](const mcp::JsonObject& answer) { last = boost::json::serialize(answer); };
    boost::asio::co_spawn(loop_, Serve(control, std::move(request), {}, emit),
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

TEST_F(SessionControlTest, ARequestThatIsNoneIsToldSo) {
  EXPECT_THAT(Ask("[]", {}), HasSubstr("a request is a JSON object"));
  EXPECT_THAT(Ask(R"({"session":"a"})", {}), HasSubstr("the request has no 'do'"));
  EXPECT_THAT(Ask(R"({"do":"close"})", {}), HasSubstr("the request has no 'session'"));
  EXPECT_THAT(Ask(R"({"do":"dance","session":"a"})", {}), HasSubstr("this server cannot 'dance'"));
  EXPECT_THAT(Ask(R"({"do":"run","session":"a"})", {}), HasSubstr("the request has no 'code'"));
  EXPECT_THAT(Ask(R"({"do":"run","session":"a","code":"1"})", {}),
              HasSubstr("there is no session 'a'"));
}

namespace control = service::control;

std::string Text(const mcp::JsonObject& object) { return boost::json::serialize(object); }

TEST(SessionControlMessageTest, EveryRequestComesOutAsItWasPutIn) {
  const control::Run run{.session = "s",
                         .code = "1\n",
                         .environment = "python",
                         .echo = true,
                         .if_idle = true,
                         .time_ms = 7};
  for (const control::Request& request :
       {control::Request(control::List{}), control::Request(control::Close{"s"}),
        control::Request(control::Interrupt{"s"}),
        control::Request(control::Allow{"s", "a.example", service::Lasting::kSession}),
        control::Request(run), control::Request(control::Run{.session = "s", .code = "1"})}) {
    const std::string json = Text(Encode(request));
    const auto decoded = DecodeRequest(json);
    ASSERT_TRUE(decoded) << json;
    EXPECT_EQ(decoded->index(), request.index());
    EXPECT_EQ(Text(Encode(*decoded)), json);
  }
}

TEST(SessionControlMessageTest, AnswersAreKnownByWhatTheyHold) {
  const auto answer = [](std::string_view json) {
    return std::get<control::Answer>(DecodeMessage(json).value());
  };
  const auto listed = answer(
      R"({"ok":true,"pid":1,"sessions":[{"id":"a","env":"python","age_ms":5,"busy":true},7]})");
  const auto& rows = std::get<control::Listed>(listed).sessions;
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].id, "a");
  EXPECT_EQ(rows[0].age.count(), 5);
  EXPECT_TRUE(rows[0].busy);
  EXPECT_EQ(std::get<control::Closed>(answer(R"({"ok":true,"env":"python"})")).environment,
            "python");
  EXPECT_TRUE(std::get<control::Interrupted>(answer(R"({"ok":true,"ran":true})")).ran);
  const auto ran = answer(
      R"({"ok":true,"session":"a","verdict":"exit","exit_code":3,"duration_ms":1,"value":"7",)"
      R"("notes":["n"],"parts":[{"type":"image/png","size":9}],"files":[{"path":"f","size":2}]})");
  const auto& result = std::get<control::Ran>(ran);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.value, "7");
  EXPECT_THAT(result.notes, ElementsAre("n"));
  EXPECT_EQ(result.parts.at(0).size, 9);
  EXPECT_EQ(result.files.at(0).path, "f");
}

TEST(SessionControlMessageTest, OutputAndErrorsComeThrough) {
  const auto output = DecodeMessage(R"({"output":"aGk="})");
  EXPECT_EQ(std::get<control::Output>(std::get<control::Progress>(*output)).bytes, "hi");
  const auto failed = DecodeMessage(R"({"error":{"what":"no\u001b","hint":"do"}})");
  EXPECT_EQ(failed.error().what, "no\\x1b") << "another process's words go to a terminal";
  EXPECT_EQ(failed.error().hint, "do");
  for (const char* nonsense : {"", "[]", "{}", R"({"error":1})", R"({"ok":true})"}) {
    EXPECT_EQ(DecodeMessage(nonsense).error().code, Errc::kProtocol) << nonsense;
  }
}

}  // namespace
}  // namespace igloo::tools

#include "mcp/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "mcp/testing.h"

namespace igloo::mcp {
namespace {

using testing::Conversation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Legacy;
using testing::Modern;

constexpr char kCancelOne[] =
    R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})";

JsonObject ResultOf(const std::vector<std::string>& said) {
  if (said.size() != 1) return {{"messages", said.size()}};
  const Json message = boost::json::parse(said[0]);
  const Json* result = message.as_object().if_contains("result");
  return result != nullptr ? result->as_object() : JsonObject{{"no result in", said[0]}};
}

std::int64_t CodeOf(const std::vector<std::string>& said) {
  if (said.size() != 1) return 0;
  const Json message = boost::json::parse(said[0]);
  const Json* error = message.as_object().if_contains("error");
  return error != nullptr ? error->as_object().at("code").as_int64() : 1;
}

JsonObject Initialized(Conversation& talk, const std::string& version) {
  return ResultOf(talk.Say(Legacy(
      "0", "initialize",
      R"({"protocolVersion":")" + version + R"(","capabilities":{},"clientInfo":{"name":"c"}})")));
}

TEST(LegacyEra, EveryKnownVersionIsSpokenAndOthersGetTheNewest) {
  for (const char* version : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}) {
    Conversation talk;
    EXPECT_EQ(Initialized(talk, version).at("protocolVersion"), version);
  }
  for (const char* version : {"2026-07-28", "2024-10-07", "", "x"}) {
    Conversation talk;
    EXPECT_EQ(Initialized(talk, version).at("protocolVersion"), "2025-11-25") << version;
  }
}

TEST(LegacyEra, InitializeTellsWhoServesWhat) {
  Conversation talk;
  EXPECT_EQ(boost::json::serialize(Initialized(talk, "2025-06-18")),
            R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},)"
            R"("resources":{"listChanged":true,"subscribe":true},"prompts":{"listChanged":true},)"
            R"("logging":{},"own":{}},"serverInfo":{"name":"fake","version":"1",)"
            R"("title":"Fake"},"instructions":"Be kind."})");
  EXPECT_THAT(talk.Say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"), ElementsAre());
}

TEST(LegacyEra, PingAndListsAreAnsweredEvenBeforeInitialize) {
  Conversation talk;
  EXPECT_THAT(talk.Say(Legacy("\"x\"", "ping")),
              ElementsAre(R"({"jsonrpc":"2.0","id":"x","result":{}})"));
  EXPECT_EQ(ResultOf(talk.Say(Legacy("1", "tools/list"))).at("tools").as_array().size(), 8U);
}

TEST(LegacyEra, OldClientsGetNothingTheyDoNotKnow) {
  Conversation talk;
  Initialized(talk, "2024-11-05");
  const auto said = talk.Say(Legacy("1", "tools/call", R"({"name":"echo"})"));
  EXPECT_THAT(said, ElementsAre(R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text",)"
                                R"("text":"echo"}]}})"));
  EXPECT_THAT(talk.Say(Legacy("2", "tools/list"))[0], ::testing::Not(HasSubstr("annotations")));
}

TEST(ModernEra, DiscoverNeedsNothingBefore) {
  Conversation talk;
  const JsonObject result = ResultOf(talk.Say(Modern("1", "server/discover")));
  EXPECT_EQ(result.at("supportedVersions"), boost::json::array{"2026-07-28"});
  EXPECT_EQ(result.at("resultType"), "complete");
  EXPECT_EQ(result.at("ttlMs"), 0);
  EXPECT_EQ(result.at("cacheScope"), "private");
  EXPECT_EQ(result.at("instructions"), "Be kind.");
  EXPECT_EQ(result.at("_meta").at("io.modelcontextprotocol/serverInfo").at("name"), "fake");
}

TEST(ModernEra, EveryRequestCarriesItsFacts) {
  Conversation talk;
  EXPECT_EQ(CodeOf(talk.Say(Legacy("1", "server/discover"))), -32602);
  const auto with_meta = [&](std::string_view meta) {
    return CodeOf(talk.Say(Legacy("1", "tools/list", R"({"_meta":{)" + std::string(meta) + "}}")));
  };
  const std::string key = "\"io.modelcontextprotocol/";
  EXPECT_EQ(with_meta(key + R"(clientCapabilities":{})"), -32602);
  EXPECT_EQ(with_meta(key + R"(protocolVersion":"2026-07-28")"), -32602);
  EXPECT_EQ(with_meta(key + R"(protocolVersion":7,)" + key + R"(clientCapabilities":{})"), -32602);
  EXPECT_EQ(
      with_meta(key + R"(protocolVersion":"2099-01-01",)" + key + R"(clientCapabilities":{})"),
      -32022);
  EXPECT_EQ(with_meta(R"("unknown/key":1)"), 1) << "what is unknown is ignored: legacy";
}

TEST(ModernEra, AnUnknownVersionIsToldWhichOnesThereAre) {
  Conversation talk;
  std::string request = Modern("1", "tools/list");
  request.replace(request.find("2026-07-28"), 10, "2099-01-01");
  EXPECT_THAT(
      talk.Say(request),
      ElementsAre(HasSubstr(R"("data":{"supported":["2026-07-28"],"requested":"2099-01-01"})")));
}

TEST(ModernEra, MethodsOfTheOtherEraDoNotExist) {
  Conversation talk;
  for (const char* method : {"initialize", "ping", "logging/setLevel", "resources/subscribe",
                             "resources/unsubscribe", "no/such"}) {
    EXPECT_EQ(CodeOf(talk.Say(Modern("1", method))), -32601) << method;
  }
  EXPECT_EQ(CodeOf(talk.Say(Legacy("1", "no/such"))), -32601);
}

TEST(ModernEra, BothErasLiveOnOnePipe) {
  Conversation talk;
  EXPECT_TRUE(ResultOf(talk.Say(Modern("1", "server/discover"))).contains("resultType"));
  Initialized(talk, "2025-11-25");
  EXPECT_FALSE(ResultOf(talk.Say(Legacy("2", "tools/list"))).contains("resultType"));
  EXPECT_TRUE(ResultOf(talk.Say(Modern("3", "tools/list"))).contains("resultType"));
}

TEST(Dispatcher, ChangesAreAnnouncedOnlyWhereTheServiceSaysSo) {
  Conversation talk;
  talk.service.features = {.resources = true, .prompts = true, .list_changes = false};
  EXPECT_EQ(Initialized(talk, "2025-11-25").at("capabilities"),
            boost::json::parse(R"({"tools":{},"resources":{},"prompts":{}})"));
  EXPECT_EQ(CodeOf(talk.Say(Legacy("1", "resources/subscribe", R"({"uri":"r://1"})"))), -32601);
  EXPECT_THAT(talk.Say(Modern("2", "subscriptions/listen",
                              R"("notifications":{"toolsListChanged":true,)"
                              R"("resourceSubscriptions":["r://1"]})")),
              ElementsAre(HasSubstr(R"("notifications":{})")));
  for (const Change& change : {Change(change::Tools{}), Change(change::Prompts{}),
                               Change(change::Resources{}), Change(change::Updated{"r://1"})}) {
    talk.core->Announce(change);
  }
  EXPECT_THAT(talk.Listen(), ElementsAre());
}

TEST(Dispatcher, AServiceMayAnswerMethodsOfItsOwn) {
  Conversation talk;
  EXPECT_THAT(talk.Say(Legacy("1", "own/method", R"({"a":1})")),
              ElementsAre(HasSubstr(R"("result":{"a":1})")));
  EXPECT_THAT(talk.Say(Legacy("2", "own/other")), ElementsAre(HasSubstr("-32601")));
}

TEST(Dispatcher, FeaturesThatAreNotOfferedDoNotExist) {
  Conversation talk;
  talk.service.features = {.tools = true};
  for (const char* method : {"resources/list", "prompts/list", "completion/complete",
                             "logging/setLevel", "resources/subscribe"}) {
    EXPECT_EQ(CodeOf(talk.Say(Legacy("1", method))), -32601) << method;
  }
}

TEST(Dispatcher, AnswersComeInTheOrderInWhichCallsEnd) {
  Conversation talk;
  EXPECT_THAT(talk.Say(Legacy("1", "tools/call", R"({"name":"wait"})")), ElementsAre());
  EXPECT_THAT(talk.Say(Legacy("2", "tools/call", R"({"name":"wait"})")), ElementsAre());
  EXPECT_THAT(talk.Say(Legacy("3", "ping")), ElementsAre(HasSubstr("\"id\":3")));
  talk.service.LetGo(1);
  EXPECT_THAT(talk.Listen(), ElementsAre(HasSubstr("\"id\":2")));
  talk.service.LetGo(0);
  EXPECT_THAT(talk.Listen(), ElementsAre(HasSubstr("\"id\":1")));
  EXPECT_EQ(talk.core->running(), 0U);
}

TEST(Dispatcher, ACancelledCallIsEndedAndNeverAnswered) {
  Conversation talk;
  talk.Say(Legacy("1", "tools/call", R"({"name":"wait"})"));
  talk.Say(Legacy("\"1\"", "tools/call", R"({"name":"wait"})"));
  EXPECT_THAT(talk.Say(kCancelOne), ElementsAre());
  EXPECT_EQ(talk.service.cancelled, 1);
  EXPECT_EQ(talk.service.ended, 1) << "the text \"1\" is another call";
  EXPECT_THAT(talk.Say(kCancelOne), ElementsAre()) << "it is gone already";
  talk.service.LetGo(0);
  EXPECT_THAT(talk.Listen(), ElementsAre(HasSubstr("\"id\":\"1\"")));
}

TEST(Dispatcher, ACallCancelledBeforeItBeganNeverBegins) {
  Conversation talk;
  talk.service.last_facts.dialect.version.clear();
  talk.dispatcher->Receive(Legacy("1", "tools/call", R"({"name":"wait"})"));
  EXPECT_THAT(talk.Say(kCancelOne), ElementsAre());
  EXPECT_TRUE(talk.service.last_facts.dialect.version.empty()) << "the service was not asked";
  EXPECT_EQ(talk.core->running(), 0U);
}

TEST(Dispatcher, AnIdInUseIsRefusedWithoutThatId) {
  Conversation talk;
  talk.Say(Legacy("1", "tools/call", R"({"name":"wait"})"));
  const auto said = talk.Say(Legacy("1", "ping"));
  EXPECT_EQ(CodeOf(said), -32600);
  EXPECT_THAT(said, ElementsAre(::testing::Not(HasSubstr("\"id\":"))));
  talk.service.LetGo(0);
  EXPECT_THAT(talk.Listen(), ElementsAre(HasSubstr("\"result\"")));
  EXPECT_EQ(CodeOf(talk.Say(Legacy("1", "ping"))), 1) << "it is free again";
}

TEST(Dispatcher, ClosingCancelsEverythingAndWaitsForNothing) {
  Conversation talk;
  talk.Say(Legacy("1", "tools/call", R"({"name":"wait"})"));
  talk.Say(Modern("2", "subscriptions/listen", R"("notifications":{"toolsListChanged":true})"));
  EXPECT_FALSE(talk.dispatcher->idle());
  talk.dispatcher->Close();
  EXPECT_TRUE(talk.dispatcher->idle());
  EXPECT_THAT(talk.Listen(), ElementsAre());
  EXPECT_EQ(talk.service.ended, 1);
}

TEST(Dispatcher, TooManyCallsAtOnceAreRefusedAndTheRestGoesOn) {
  Conversation talk({.most_calls = 1});
  talk.Say(Legacy("1", "tools/call", R"({"name":"wait"})"));
  EXPECT_EQ(CodeOf(talk.Say(Legacy("2", "tools/call", R"({"name":"echo"})"))), -32000);
  EXPECT_EQ(CodeOf(talk.Say(Legacy("3", "tools/list"))), 1);
  talk.Say(kCancelOne);
  EXPECT_EQ(CodeOf(talk.Say(Legacy("4", "tools/call", R"({"name":"echo"})"))), 1);
}

TEST(Dispatcher, TheBytesOfRunningCallsAreBounded) {
  Conversation talk({.most_call_bytes = 300});
  const std::string large = std::string(250, 'x');
  talk.Say(Legacy("1", "tools/call", R"({"name":"wait","arguments":{"text":")" + large + "\"}}"));
  EXPECT_EQ(CodeOf(talk.Say(Legacy("2", "tools/call", R"({"name":"echo"})"))), -32000);
}

TEST(Dispatcher, AToolsFailureIsAResultAndAServicesBugIsAnError) {
  Conversation talk;
  const auto call = [&](std::string_view name) {
    return talk.Say(Legacy("1", "tools/call", R"({"name":")" + std::string(name) + "\"}"));
  };
  EXPECT_EQ(ResultOf(call("fail")).at("isError"), true);
  EXPECT_EQ(CodeOf(call("throw")), -32603);
  EXPECT_THAT(call("nope"),
              ElementsAre(HasSubstr(R"("code":-32602,"message":"Unknown tool: nope")")));
  EXPECT_EQ(CodeOf(talk.Say(Legacy("1", "tools/call"))), -32602);
  EXPECT_EQ(CodeOf(talk.Say(Legacy("1", "tools/call", R"({"name":"echo","arguments":[]})"))),
            -32602);
}

TEST(Dispatcher, AnAnswerThatIsTooLongBecomesAnError) {
  Conversation talk({.longest_answer = 300'000});
  const auto said = talk.Say(Legacy("1", "tools/call", R"({"name":"big"})"));
  EXPECT_EQ(CodeOf(said), -32603);
  EXPECT_THAT(said, ElementsAre(HasSubstr("ask for less")));
}

TEST(Dispatcher, CallsWaitForAClientThatDoesNotRead) {
  Conversation talk({.most_answer_bytes = 1'000'000});
  talk.channel->reads = false;
  for (const char* id : {"1", "2", "3"}) {
    talk.dispatcher->Receive(Legacy(id, "tools/call", R"({"name":"big"})"));
  }
  EXPECT_THAT(talk.Listen(), ElementsAre(HasSubstr(R"("id":1,"result")")));
  EXPECT_EQ(CodeOf(talk.Say(Legacy("4", "ping"))), 1);
  EXPECT_THAT(talk.Say(R"({"jsonrpc":"2.0","method":"notifications/cancelled",)"
                       R"("params":{"requestId":2}})"),
              ElementsAre());
  EXPECT_EQ(talk.core->running(), 1U) << "a cancelled call does not wait";
  talk.channel->unread.clear();
  EXPECT_THAT(talk.Listen(), ElementsAre(HasSubstr(R"("id":3,"result")")));
  talk.channel->unread.clear();
  EXPECT_EQ(talk.core->backlog().bytes(), 0U);
}

TEST(Dispatcher, AnAnswerForWhichThereIsNoRoomBecomesAnError) {
  Conversation talk({.most_answer_bytes = 1'000'000});
  talk.Say(Legacy("1", "tools/call", R"({"name":"wait"})"));
  const auto others = talk.core->backlog().Take(999'990);
  talk.service.LetGo(0);
  const auto said = talk.Listen();
  EXPECT_EQ(CodeOf(said), -32000);
  EXPECT_THAT(said, ElementsAre(HasSubstr("999990 bytes of answers wait to be read")));
}

TEST(Dispatcher, ErrorsRepeatLittleOfWhatAClientSent) {
  Conversation talk;
  talk.service.features.tasks = true;
  const std::string huge(100'000, 'x');
  const std::string text = '"' + huge + '"';
  const std::string version = R"({"_meta":{"io.modelcontextprotocol/protocolVersion":)" + text;
  const std::string uris = R"("notifications":{"resourceSubscriptions":[)" + text + ",\"a" + huge +
                           "\",\"b" + huge + "\"]}";
  const std::string messages[] = {
      Legacy("1", huge),
      Legacy(text, "ping"),
      Legacy("1", "tools/call", R"({"name":)" + text + "}"),
      Legacy("1", "resources/read", R"({"uri":)" + text + "}"),
      Legacy("1", "resources/subscribe", R"({"uri":)" + text + "}"),
      Legacy("1", "prompts/get", R"({"name":)" + text + "}"),
      Legacy("1", "prompts/get", R"({"name":"p","arguments":{)" + text + ":1}}"),
      Legacy("1", "tools/list", version + "}}"),
      Modern("1", "tasks/get", R"("taskId":)" + text,
             R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})"),
      Modern("1", "subscriptions/listen", uris),
  };
  for (const std::string& message : messages) {
    const auto said = talk.Say(message);
    EXPECT_LT(CodeOf(said), 0) << message.substr(0, 200);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_LT(said[0].size(), 1000U) << message.substr(0, 200);
  }
}

TEST(Dispatcher, AProgressTokenThatIsTooLongIsNotRepeated) {
  Conversation talk;
  const std::string token(kLongestId + 1, 'x');
  EXPECT_EQ(talk.Say(Legacy("1", "tools/call",
                            R"({"name":"steps","_meta":{"progressToken":")" + token + "\"}}"))
                .size(),
            1U);
}

TEST(Dispatcher, ProgressGrowsAndEndsBeforeTheAnswer) {
  Conversation talk;
  const auto said =
      talk.Say(Legacy("1", "tools/call", R"({"name":"steps","_meta":{"progressToken":7}})"));
  ASSERT_EQ(said.size(), 4U);
  EXPECT_EQ(said[0], R"({"jsonrpc":"2.0","method":"notifications/progress","params":)"
                     R"({"progressToken":7,"progress":1E0,"total":3E0,"message":"step"}})");
  EXPECT_THAT(said[3], HasSubstr("\"result\""));
  EXPECT_EQ(talk.Say(Legacy("1", "tools/call", R"({"name":"steps"})")).size(), 1U)
      << "nobody asked for progress";
}

TEST(Dispatcher, ProgressIsThrottledAndDroppedForASlowReader) {
  Conversation slow({.progress_interval = std::chrono::hours(1)});
  EXPECT_EQ(slow.Say(Modern("1", "tools/call", R"("name":"steps")")).size(), 2U);
  Conversation full;
  full.channel->full = true;
  EXPECT_EQ(full.Say(Modern("1", "tools/call", R"("name":"steps")")).size(), 1U);
}

TEST(Dispatcher, LogMessagesGoOnlyToThoseWhoAsked) {
  Conversation talk;
  const std::string steps = Legacy("1", "tools/call", R"({"name":"steps"})");
  EXPECT_EQ(talk.Say(steps).size(), 1U);
  EXPECT_EQ(CodeOf(talk.Say(Legacy("2", "logging/setLevel", R"({"level":"loud"})"))), -32602);
  EXPECT_EQ(CodeOf(talk.Say(Legacy("2", "logging/setLevel", R"({"level":"info"})"))), 1);
  EXPECT_THAT(talk.Say(steps)[0], HasSubstr(R"("level":"warning","data":"loud","logger":"l")"));
}

TEST(Dispatcher, AQuestionComesBackWithItsAnswers) {
  Conversation talk;
  const JsonObject asked = ResultOf(talk.Say(Modern("1", "tools/call", R"("name":"ask")")));
  EXPECT_EQ(asked.at("resultType"), "input_required");
  EXPECT_EQ(asked.at("requestState"), "s1");
  const JsonObject done = ResultOf(
      talk.Say(Modern("2", "tools/call",
                      R"("name":"ask","requestState":"s1","inputResponses":{"q":{"roots":[]}})")));
  EXPECT_EQ(done.at("resultType"), "complete");
  EXPECT_EQ(talk.service.last_facts.request_state, "s1");
  EXPECT_EQ(CodeOf(talk.Say(Legacy("3", "tools/call", R"({"name":"ask"})"))), -32603);
}

}  // namespace
}  // namespace igloo::mcp

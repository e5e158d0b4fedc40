#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "mcp/page.h"
#include "mcp/testing.h"

namespace igloo::mcp {
namespace {

using ::testing::AllOf;
using testing::Conversation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Legacy;
using testing::Modern;
using ::testing::Not;

TEST(Changes, ASubscriptionIsAcknowledgedFirstAndHearsWhatItAskedFor) {
  Conversation talk;
  EXPECT_THAT(talk.Say(Modern("\"l\"", "subscriptions/listen",
                              R"("notifications":{"toolsListChanged":true,"x":true,)"
                              R"("resourceSubscriptions":["r://a"]})")),
              ElementsAre(R"({"jsonrpc":"2.0","method":)"
                          R"("notifications/subscriptions/acknowledged","params":{"_meta":)"
                          R"({"io.modelcontextprotocol/subscriptionId":"l"},"notifications":)"
                          R"({"toolsListChanged":true,"resourceSubscriptions":["r://a"]}}})"));
  talk.core->Announce(change::Tools{});
  talk.core->Announce(change::Prompts{});
  talk.core->Announce(change::Updated{"r://a"});
  talk.core->Announce(change::Updated{"r://b"});
  EXPECT_THAT(
      talk.Listen(),
      ElementsAre(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":)"
                  R"({"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}})",
                  R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":)"
                  R"({"uri":"r://a","_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}})"));
  talk.Say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}})");
  talk.core->Announce(change::Tools{});
  EXPECT_THAT(talk.Listen(), ElementsAre());
}

TEST(Changes, ToolsAreListedAsTheyAreOnceTheChangeIsAnnounced) {
  Conversation talk;
  const std::string modern = Modern("1", "tools/list"), legacy = Legacy("\"2\"", "tools/list");
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(talk.Say(modern), ElementsAre(AllOf(HasSubstr(R"("id":1,"result":{"tools":)"),
                                                    HasSubstr("cacheScope"))));
    EXPECT_THAT(talk.Say(legacy), ElementsAre(AllOf(HasSubstr(R"("id":"2","result":{"tools":)"),
                                                    Not(HasSubstr("cacheScope")))));
  }
  EXPECT_THAT(talk.Say(Modern("1", "tools/list", R"("cursor":"x")")),
              ElementsAre(HasSubstr("-32602")));
  talk.service.more_tools = {"new"};
  talk.core->Announce(change::Tools{});
  EXPECT_THAT(talk.Say(modern), ElementsAre(HasSubstr(R"("name":"new")")));
  EXPECT_THAT(talk.Say(legacy), ElementsAre(HasSubstr(R"("name":"new")")));
}

TEST(Changes, WhatIsNotServedIsLeftOutOfTheAgreement) {
  Conversation talk;
  talk.service.features = {.tools = true};
  EXPECT_THAT(talk.Say(Modern("1", "subscriptions/listen",
                              R"("notifications":{"toolsListChanged":true,)"
                              R"("promptsListChanged":true,"resourceSubscriptions":["r://a"]})")),
              ElementsAre(HasSubstr(R"("notifications":{"toolsListChanged":true})")));
}

TEST(Changes, LegacyClientsHearOfListsAfterInitializeAndOfResourcesTheyNamed) {
  Conversation talk;
  talk.core->Announce(change::Tools{});
  EXPECT_THAT(talk.Listen(), ElementsAre()) << "it may be a modern client";
  talk.Say(Legacy("0", "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})"));
  talk.core->Announce(change::Tools{});
  talk.core->Announce(change::Updated{"r://a"});
  EXPECT_THAT(talk.Listen(),
              ElementsAre(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})"));
  talk.Say(Legacy("1", "resources/subscribe", R"({"uri":"r://a"})"));
  talk.core->Announce(change::Updated{"r://a"});
  EXPECT_THAT(talk.Listen(), ElementsAre(HasSubstr(R"("params":{"uri":"r://a"})")));
  talk.Say(Legacy("2", "resources/unsubscribe", R"({"uri":"r://a"})"));
  talk.core->Announce(change::Updated{"r://a"});
  EXPECT_THAT(talk.Listen(), ElementsAre());
}

TEST(Changes, AClientThatIsGoneIsForgotten) {
  Conversation talk;
  talk.Say(Legacy("0", "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})"));
  talk.dispatcher.reset();
  talk.core->Announce(change::Tools{});
  EXPECT_THAT(talk.Listen(), ElementsAre());
}

TEST(Pages, EveryResourceComesOnceWhateverChangesInBetween) {
  Conversation talk({.page_size = 2});
  for (const char* uri : {"r://d", "r://b", "r://a", "r://c", "r://e"}) {
    talk.service.resources.push_back({.uri = uri, .name = "n"});
  }
  std::vector<std::string> seen;
  std::string cursor;
  for (int page = 0; page < 5; ++page) {
    const auto said = talk.Say(
        Legacy("1", "resources/list", cursor.empty() ? "{}" : R"({"cursor":")" + cursor + "\"}"));
    const Json result = boost::json::parse(said.at(0)).at("result");
    for (const Json& one : result.at("resources").as_array()) {
      seen.emplace_back(one.at("uri").as_string());
    }
    const Json* next = result.as_object().if_contains("nextCursor");
    if (next == nullptr) break;
    cursor = std::string(next->as_string());
    std::erase_if(talk.service.resources, [](const Resource& r) { return r.uri == "r://b"; });
  }
  EXPECT_THAT(seen, ElementsAre("r://a", "r://b", "r://c", "r://d", "r://e"));
}

TEST(Pages, ACursorOfSomebodyElsesIsRefused) {
  Conversation talk;
  for (const char* cursor : {R"("x")", R"("Zm9v")", "7"}) {
    EXPECT_THAT(
        talk.Say(Legacy("1", "resources/list", R"({"cursor":)" + std::string(cursor) + "}")),
        ElementsAre(HasSubstr("-32602")));
  }
  EXPECT_THAT(talk.Say(Legacy("1", "tools/list", R"({"cursor":"x"})")),
              ElementsAre(HasSubstr("-32602")));
}

TEST(Resources, TextAndBytesAreRead) {
  Conversation talk;
  EXPECT_THAT(talk.Say(Legacy("1", "resources/read", R"({"uri":"r://text"})")),
              ElementsAre(HasSubstr(R"({"contents":[{"uri":"r://text","text":"hello"}]})")));
  EXPECT_THAT(
      talk.Say(Modern("1", "resources/read", R"("uri":"r://blob")")),
      ElementsAre(::testing::AllOf(HasSubstr(R"("blob":"AQI=")"), HasSubstr("\"ttlMs\":0"))));
  EXPECT_THAT(talk.Say(Legacy("1", "resources/read", R"({"uri":"r://none"})")),
              ElementsAre(::testing::AllOf(HasSubstr("-32602"),
                                           HasSubstr(R"("data":{"uri":"r://none"})"))));
  EXPECT_THAT(talk.Say(Legacy("1", "resources/templates/list")),
              ElementsAre(HasSubstr(R"("resourceTemplates":[{"uriTemplate":"t://{id}")")));
}

TEST(Prompts, RequiredArgumentsAreRequired) {
  Conversation talk;
  EXPECT_THAT(talk.Say(Legacy("1", "prompts/get", R"({"name":"p","arguments":{"a":"v"}})")),
              ElementsAre(HasSubstr(R"("content":{"type":"text","text":"v"})")));
  for (const char* params :
       {R"({"name":"p"})", R"({"name":"q"})", R"({})", R"({"name":"p","arguments":{"a":1}})"}) {
    EXPECT_THAT(talk.Say(Legacy("1", "prompts/get", params)), ElementsAre(HasSubstr("-32602")));
  }
}

}  // namespace
}  // namespace igloo::mcp

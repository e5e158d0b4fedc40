#include "mcp/outline.h"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

namespace igloo::mcp {
namespace {

/// The id as JSON, or "none".
std::string IdIn(std::string_view message) {
  const Outline outline = OutlineOf(message);
  return outline.id ? boost::json::serialize(ToJson(*outline.id)) : "none";
}

TEST(OutlineOf, FindsTheIdWhereverItStands) {
  EXPECT_EQ(IdIn(R"({"id":7,"method":"m"})"), "7");
  EXPECT_EQ(IdIn(R"({ "method" : "m" , "id" : "a\"b" } )"), R"("a\"b")");
  EXPECT_EQ(IdIn(R"({"params":{"a":[{"b":1},2]},"\u0069d":-1})"), "-1");
  EXPECT_EQ(IdIn(R"({"id":1,"id":2})"), "2");
}

TEST(OutlineOf, NothingInsideOfTextsOrValuesIsTheId) {
  EXPECT_EQ(IdIn(R"({"method":"m","params":{"id":7}})"), "none");
  EXPECT_EQ(IdIn(R"({"method":",\"id\":7,"})"), "none");
  EXPECT_EQ(IdIn(R"([{"id":7}])"), "none");
  EXPECT_EQ(IdIn(R"({"a":[[{"x":"]}"}]],"id":{"id":7}})"), "none");
}

TEST(OutlineOf, MistakesElsewhereDoNotHideIt) {
  EXPECT_EQ(IdIn(R"({"method":"m","params":{"x":NaN,,},"id":7})"), "7");
  EXPECT_EQ(IdIn(R"({"id":7,"params":{"x":[)"), "7");
  EXPECT_EQ(IdIn("{\"a\":\"\xff\\ud800\\q\",\"id\":7}"), "7");
}

TEST(OutlineOf, WhatIsNoIdOrNotWholeIsNone) {
  for (const char* message :
       {"", "7", "{", "{}", R"({"id":null})", R"({"id":1.5})", R"({"id":1 2})", R"({"id":12)",
        R"({"id":"a)", R"({"id":1"2"})", R"({"id" 1})", R"({id:1})", R"({"id":[1]})",
        R"({"id":"\ud800"})", R"({"a":"x, "id": 1})"}) {
    EXPECT_EQ(IdIn(message), "none") << message;
  }
  EXPECT_EQ(IdIn("{\"id\":\"" + std::string(1024, 'x') + "\"}").size(), 1026U);
  EXPECT_EQ(IdIn("{\"id\":\"" + std::string(1025, 'x') + "\"}"), "none");
  EXPECT_EQ(IdIn("{\"id\":\"" + std::string(1U << 20, 'x') + "\"}"), "none");
}

TEST(OutlineOf, TellsCallsFromAnswers) {
  const Outline call = OutlineOf(R"({"method":"m","params":{"result":1},"id":7})");
  EXPECT_TRUE(call.call);
  EXPECT_FALSE(call.response);
  for (const char* answer : {R"({"id":7,"result":{"method":1)", R"({"id":7,"result":{"x":1}})",
                             R"({"error":{},"id":7})"}) {
    EXPECT_FALSE(OutlineOf(answer).call) << answer;
    EXPECT_TRUE(OutlineOf(answer).response) << answer;
  }
}

TEST(NotRead, ACallIsRefusedAndAnAnswerHasFailed) {
  const RpcError error{RpcCode::kParseError, "why", {}};
  const Message call = NotRead({.id = RequestId{7}, .call = true}, error);
  EXPECT_EQ(std::get<Refusal>(call).id, RequestId{7});
  const Message answer = NotRead({.id = RequestId{7}, .response = true}, error);
  EXPECT_EQ(std::get<Response>(answer).result.error(), error);
  // The client must not take it for the answer to a request of its own.
  const Message unknown = NotRead({.response = true}, error);
  EXPECT_EQ(std::get<Refusal>(unknown).id, std::nullopt);
}

}  // namespace
}  // namespace igloo::mcp

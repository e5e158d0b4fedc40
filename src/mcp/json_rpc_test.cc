#include "mcp/json_rpc.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "mcp/channel.h"

namespace igloo::mcp {
namespace {

/// What a client is told about a line that is no message.
std::string Refused(std::string_view line) {
  const Message message = DecodeMessage(line);
  const auto* refusal = std::get_if<Refusal>(&message);
  if (refusal == nullptr) return "accepted";
  return std::to_string(static_cast<int>(refusal->error.code)) +
         (refusal->id ? " with id" : " without id");
}

TEST(DecodeMessage, ReadsARequest) {
  const Message message =
      DecodeMessage(R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"x":1}})");
  const auto& request = std::get<Request>(message);
  EXPECT_EQ(request.id, RequestId{"a"});
  EXPECT_EQ(request.method, "tools/call");
  EXPECT_EQ(request.params, (boost::json::object{{"x", 1}}));
}

TEST(DecodeMessage, WithoutIdItIsANotificationWhateverItsParams) {
  const Message message = DecodeMessage(R"({"jsonrpc":"2.0","method":"n","params":[1]})");
  EXPECT_EQ(std::get<Notification>(message).method, "n");
  EXPECT_TRUE(std::get<Notification>(message).params.empty());
}

TEST(DecodeMessage, ANumberAndATextAreTwoIds) {
  const auto id = [](std::string_view text) {
    return ToRequestId(boost::json::parse(text)).value();
  };
  EXPECT_NE(id("7"), id("\"7\""));
  EXPECT_EQ(id("-9223372036854775808"), RequestId{std::int64_t{INT64_MIN}});
  EXPECT_EQ(ToJson(id("18446744073709551615")), UINT64_MAX);
  EXPECT_EQ(ToJson(id("\"x\"")), "x");
}

TEST(DecodeMessage, WhatIsNoJsonIsAParseErrorWithoutId) {
  for (const char* line :
       {"x", "{", "{}{}", "", "{\"a\":\"\xff\"}", "{'a':1}", "\"\xed\xa0\x80\""}) {
    EXPECT_EQ(Refused(line), "-32700 without id") << line;
  }
}

TEST(DecodeMessage, WhatIsNoMessageIsAnInvalidRequestWithoutId) {
  for (const char* line : {"1", "null", "[]", R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", "{}",
                           R"({"jsonrpc":"2.0","id":null,"method":"ping"})",
                           R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})",
                           R"({"jsonrpc":"2.0","id":12345678901234567890123,"method":"ping"})",
                           R"({"jsonrpc":"2.0","id":{},"method":"ping"})"}) {
    EXPECT_EQ(Refused(line), "-32600 without id") << line;
  }
}

TEST(DecodeMessage, ARequestThatCanBeToldApartIsRefusedWithItsId) {
  EXPECT_EQ(Refused(R"({"jsonrpc":"2.0","id":1,"method":7})"), "-32600 with id");
  EXPECT_EQ(Refused(R"({"jsonrpc":"2.0","id":1,"method":""})"), "-32600 with id");
  EXPECT_EQ(Refused(R"({"jsonrpc":"2.0","id":1})"), "-32600 with id");
  EXPECT_EQ(Refused(R"({"id":1,"method":"ping"})"), "-32600 with id");
  EXPECT_EQ(Refused(R"({"jsonrpc":"1.0","id":1,"method":"ping"})"), "-32600 with id");
  EXPECT_EQ(Refused(R"({"jsonrpc":"2.0","id":1,"method":"m","params":[1]})"), "-32602 with id");
}

TEST(DecodeMessage, WhatIsNoJsonIsRefusedWithTheIdThatStandsInIt) {
  for (const char* line :
       {R"({"jsonrpc":"2.0","id":1,"method":"m")", R"({"jsonrpc":"2.0","id":1,"method":"m"}})",
        R"({"method":"m","params":{"x":NaN},"jsonrpc":"2.0","id":1})",
        R"({"method":"m","params":{"x":[1,]},"jsonrpc":"2.0","id":"a"})",
        R"({"method":"m","params":{"x":"\q"},"jsonrpc":"2.0","id":1})",
        "{\"method\":\"m\",\"params\":{\"x\":\"\xff\"},\"jsonrpc\":\"2.0\",\"id\":1}"}) {
    EXPECT_EQ(Refused(line), "-32700 with id") << line;
  }
}

TEST(DecodeMessage, AnAnswerThatIsNoJsonIsAnAnswerThatFailed) {
  const Message message = DecodeMessage(R"({"result":{"x":NaN},"jsonrpc":"2.0","id":"s1"})");
  const auto& response = std::get<Response>(message);
  EXPECT_EQ(response.id, RequestId{"s1"});
  EXPECT_EQ(response.result.error().code, RpcCode::kParseError);
}

TEST(DecodeMessage, HalvesOfSurrogatePairsBecomeReplacementCharacters) {
  const auto text_of = [](std::string_view escaped) {
    const Message message = DecodeMessage(
        R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"x":")" + std::string(escaped) + "\"}}");
    const auto* request = std::get_if<Request>(&message);
    return request != nullptr ? std::string(request->params.at("x").as_string()) : "refused";
  };
  EXPECT_EQ(text_of(R"(a\ud800b)"), "a\ufffdb");
  EXPECT_EQ(text_of(R"(\uDFFF)"), "\ufffd");
  EXPECT_EQ(text_of(R"(\ud83d\ud83d\ude00\ude00)"), "\ufffd\U0001f600\ufffd");
  EXPECT_EQ(text_of(R"(\ud800\n\ud800\u0041)"), "\ufffd\n\ufffdA");
  // Nothing else is changed beside them: here a backslash, and digits behind it.
  EXPECT_EQ(text_of(R"(\\ud800\ud800)"), "\\ud800\ufffd");
  EXPECT_EQ(text_of(R"(\ud83d\ude00)"), "\U0001f600");
  EXPECT_EQ(text_of(R"(\ud80)"), "refused");
  EXPECT_EQ(text_of(R"(\ud800\u)"), "refused");
}

TEST(DecodeMessage, OfTwoMembersWithOneNameTheLastCounts) {
  const Message message = DecodeMessage(
      R"({"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1,"x":2},"id":2,"method":"b"})");
  const auto& request = std::get<Request>(message);
  EXPECT_EQ(request.id, RequestId{2});
  EXPECT_EQ(request.method, "b");
  EXPECT_EQ(request.params, (boost::json::object{{"x", 2}}));
}

TEST(DecodeMessage, DeepNestingIsRefusedAndNeverRecursedInto) {
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(Refused(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":)" + deep),
            "-32600 with id");
  EXPECT_EQ(Refused(deep), "-32600 without id");
  const std::string fine = std::string(60, '[') + std::string(60, ']');
  EXPECT_EQ(Refused(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":)" + fine + "}}"),
            "accepted");
}

TEST(DecodeMessage, ReadsAClientsAnswers) {
  const Message good = DecodeMessage(R"({"jsonrpc":"2.0","id":"s1","result":{"roots":[]}})");
  EXPECT_TRUE(std::get<Response>(good).result);
  const Message bad =
      DecodeMessage(R"({"jsonrpc":"2.0","id":"s1","error":{"code":-1,"message":"no"}})");
  EXPECT_EQ(std::get<Response>(bad).result.error().message, "no");
  const Message unknown = DecodeMessage(R"({"jsonrpc":"2.0","error":{"code":-1,"message":"no"}})");
  EXPECT_TRUE(std::holds_alternative<Notification>(unknown)) << "nothing can be done about it";
}

TEST(EncodeMessage, AnErrorWithoutIdHasNoIdAtAll) {
  EXPECT_EQ(EncodeMessage(ErrorMessage({}, {RpcCode::kParseError, "m", {}})),
            R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}})");
  EXPECT_EQ(EncodeMessage(ErrorMessage(RequestId{"a"}, {RpcCode::kMethodNotFound, "m", {1}})),
            R"({"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"m","data":1}})");
}

TEST(PackError, AboveTheLimitOnlyTheCodeAndTheFirstWordsStay) {
  const RpcError error{RpcCode::kInvalidParams, "why: " + std::string(100'000, '\x02'), "details"};
  const Outgoing whole = PackError(RequestId{7}, error, 1'000'000);
  EXPECT_EQ(whole.text, EncodeMessage(ErrorMessage(RequestId{7}, error)));
  const Outgoing cut = PackError(RequestId{7}, error, 600'000);
  EXPECT_LT(cut.text.size(), 10'000U);
  EXPECT_TRUE(cut.answer);
  EXPECT_EQ(cut.error, RpcCode::kInvalidParams);
  EXPECT_TRUE(
      cut.text.starts_with(R"({"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"why: )"));
  EXPECT_EQ(cut.text.find("details"), std::string::npos);
}

TEST(EncodeMessage, IsOneLineOfUtf8WhateverTheStringsHold) {
  const std::string line = EncodeMessage(ResultMessage(RequestId{1}, {{"t", "a\nb\r\xff\x1b\0"}}));
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"t\":\"a\\nb\\r\xef\xbf\xbd\\u001b\"}}");
}

}  // namespace
}  // namespace igloo::mcp

#include "clients/json_edit.h"

#include <gmock/gmock.h>

namespace igloo::clients {
namespace {

using ::testing::HasSubstr;

/// Small blocks make tests that can be read.
constexpr Field kFields[] = {{"command", Field::Kind::kCommand}, {"args", Field::Kind::kArgs}};
constexpr Client kSmall{.name = "small",
                        .title = "Small",
                        .aliases = "",
                        .format = Format::kJsonc,
                        .key = "s",
                        .fields = kFields,
                        .user_file = "",
                        .after = ""};
const Server kServer{.name = "igloo", .command = "/igloo", .args = {"mcp"}};
constexpr std::string_view kInline = R"({"command": "/igloo", "args": ["mcp"]})";
constexpr std::string_view kTight = R"({"command":"/igloo","args":["mcp"]})";

Edit Put(std::string_view text, const Server& server = kServer) {
  auto edit = Install(kSmall, server, "f", text, Foreign::kKeep);
  EXPECT_TRUE(edit) << edit.error().what;
  return edit.value_or(Edit{});
}

std::string Taken(std::string_view text, const std::optional<Undo>& undo = {}) {
  auto edit = Remove(kSmall, "igloo", "f", text, undo, Foreign::kKeep);
  EXPECT_TRUE(edit) << edit.error().what;
  return edit ? edit->text : "";
}

std::string Refused(std::string_view text) {
  const auto edit = Install(kSmall, kServer, "f", text, Foreign::kKeep);
  return edit ? "" : edit.error().what;
}

TEST(InstallJsonTest, MakesAWholeFile) {
  const std::string whole =
      "{\n  \"s\": {\n    \"igloo\": {\n      \"command\": \"/igloo\",\n      \"args\": "
      "[\"mcp\"]\n    }\n  }\n}\n";
  EXPECT_EQ(Put("").text, whole);
  EXPECT_EQ(Put("\xef\xbb\xbf").text, "\xef\xbb\xbf" + whole);
  EXPECT_EQ(Put("{}\n").text, whole);
  EXPECT_EQ(Put("// hi").text, "// hi\n" + whole);
}

TEST(InstallJsonTest, FollowsTheIndentationOfTheFile) {
  EXPECT_EQ(Put("{\n\t\"a\": 1\n}").text,
            "{\n\t\"a\": 1,\n\t\"s\": {\n\t\t\"igloo\": {\n\t\t\t\"command\": "
            "\"/igloo\",\n\t\t\t\"args\": [\"mcp\"]\n\t\t}\n\t}\n}");
  EXPECT_EQ(Put("{\r\n    \"s\": {}\r\n}\r\n").text,
            "{\r\n    \"s\": {\r\n        \"igloo\": {\r\n            \"command\": "
            "\"/igloo\",\r\n            \"args\": [\"mcp\"]\r\n        }\r\n    }\r\n}\r\n");
}

TEST(InstallJsonTest, AFileOnOneLineStaysOnOneLine) {
  EXPECT_EQ(Put(R"({"s": {"a": {}}})").text,
            R"({"s": {"a": {}, "igloo": )" + std::string(kInline) + "}}");
  EXPECT_EQ(Put(R"({"a":1})").text, R"({"a":1,"s":{"igloo":)" + std::string(kTight) + "}}");
  EXPECT_EQ(Put(R"({"s":{}})").text, R"({"s":{"igloo":)" + std::string(kTight) + "}}");
}

TEST(InstallJsonTest, CommentsStayWithTheirLines) {
  const std::string text = Put("{\n  \"s\": {\n    \"a\": {} // about a\n    // last\n  }\n}").text;
  EXPECT_THAT(text, HasSubstr("    \"a\": {}, // about a\n    \"igloo\": {\n"));
  EXPECT_THAT(text, HasSubstr("    }\n    // last\n  }\n}"));
  EXPECT_THAT(Put("{\n  \"s\": {\n    // none yet\n  }\n}").text,
              HasSubstr("{\n    // none yet\n    \"igloo\": {\n"));
  EXPECT_THAT(Put("{\n  \"s\": {\n    \"a\": 1, // about a\n  },\n}").text,
              HasSubstr("\"a\": 1, // about a\n    \"igloo\": {\n      \"command\": \"/igloo\",\n  "
                        "    \"args\": [\"mcp\"]\n    },\n  },\n}"));
  EXPECT_THAT(Put("{ \"s\": { \"a\": 1 // about a\n } }").text,
              HasSubstr("\"a\": 1, // about a\n  \"igloo\": {\n"));
}

TEST(InstallJsonTest, TheSecondTimeChangesNothing) {
  const Edit first = Put("{\n  \"a\": 1\n}");
  EXPECT_EQ(first.change, Change::kAdded);
  const Edit second = Put(first.text);
  EXPECT_EQ(second.change, Change::kNone);
  EXPECT_EQ(second.text, first.text);
}

TEST(InstallJsonTest, AnotherPlaceOfIglooIsAnUpdateOfTwoValues) {
  const std::string text =
      R"({"s": {"igloo": {"args": [ "mcp" ], "env": {"A": "b"}, "command": "/old/igloo"}}})";
  const Edit edit = Put(text, {.name = "igloo", .command = "/n\"/igloo", .args = {"mcp", "-x"}});
  EXPECT_EQ(edit.change, Change::kUpdated);
  EXPECT_EQ(
      edit.text,
      R"({"s": {"igloo": {"args": ["mcp", "-x"], "env": {"A": "b"}, "command": "/n\"/igloo"}}})");
}

TEST(InstallJsonTest, WhatIsNotIgloosIsShownAndStays) {
  for (const char* block : {R"({"command": "npx", "args": ["mcp"]})", R"({"url": "http://x"})",
                            R"({"command": "/igloo", "args": ["run"]})", "null", "[]",
                            R"({"command": "/igloo", "args": []})", R"({"command": ["/igloo"]})",
                            R"({"command": "/notigloo", "args": ["mcp"]})"}) {
    const std::string text = "{\"s\": {\"igloo\": " + std::string(block) + "}}";
    const Edit edit = Put(text);
    EXPECT_EQ(edit.change, Change::kForeign) << block;
    EXPECT_EQ(edit.text, text);
    EXPECT_EQ(edit.block, "\"igloo\": " + std::string(block));
    const auto removed = Remove(kSmall, "igloo", "f", text, {}, Foreign::kKeep);
    EXPECT_EQ(removed->change, Change::kForeign);
    const auto forced = Install(kSmall, kServer, "f", text, Foreign::kReplace);
    EXPECT_EQ(forced->change, Change::kReplaced);
    EXPECT_EQ(forced->text, "{\"s\": {\"igloo\": " + std::string(kInline) + "}}");
    EXPECT_EQ(Remove(kSmall, "igloo", "f", text, {}, Foreign::kReplace)->text, "{\"s\": {}}");
  }
}

TEST(InstallJsonTest, RefusesWhatItCannotJoin) {
  EXPECT_EQ(Refused("[]"), "f:1:1: the file should hold an object");
  EXPECT_EQ(Refused("{\n \"s\": []}"), "f:2:7: 's' should be an object");
  EXPECT_EQ(Refused("{\"s\": null}"), "f:1:7: 's' should be an object");
  EXPECT_EQ(Refused("{\"s\": {},\n\"s\": {}}"), "f:2:1: 's' stands here a second time");
  EXPECT_EQ(Refused("{\"s\": {\"igloo\": 1, \"\\u0069gloo\": 2}}"),
            "f:1:20: 'igloo' stands here a second time");
}

TEST(RemoveJsonTest, WithoutMemoryTheObjectAroundStays) {
  EXPECT_EQ(Taken(Put("{\n  \"a\": 1\n}").text), "{\n  \"a\": 1,\n  \"s\": {\n  }\n}");
  EXPECT_EQ(Taken("{}"), "{}");
  EXPECT_EQ(Taken(""), "");
}

std::string Around(std::string_view before, std::string_view after) {
  return std::string(before) + "\"igloo\": " + std::string(kInline) + std::string(after);
}

TEST(RemoveJsonTest, TakesOneCommaAndLeavesComments) {
  EXPECT_EQ(Taken(Around("{\"s\": {", ", \"b\": 1}}")), "{\"s\": {\"b\": 1}}");
  EXPECT_EQ(Taken(Around("{\"s\": {\"a\": 1, ", ", \"b\": 1}}")), "{\"s\": {\"a\": 1, \"b\": 1}}");
  EXPECT_EQ(Taken(Around("{\"s\": {\"a\": 1, ", "}}")), "{\"s\": {\"a\": 1}}");
  EXPECT_EQ(Taken(Around("{\"s\": {\n  \"a\": 1, // a\n  ", "\n}}")),
            "{\"s\": {\n  \"a\": 1 // a\n}}");
  EXPECT_EQ(Taken(Around("{\"s\": { // s\n  ", ", \"b\": 1}}")), "{\"s\": { // s\n  \"b\": 1}}");
  EXPECT_EQ(Taken(Around("{\"s\": { // s\n  ", "}}")), "{\"s\": { // s\n}}");
  EXPECT_EQ(Taken(Around("{\"s\": {\r\n  ", " /* i */,\r\n  \"b\": 1\r\n}}")),
            "{\"s\": { /* i */\r\n  \"b\": 1\r\n}}");
}

TEST(RemoveJsonTest, WhatOthersWroteAroundItStays) {
  const Edit edit = Put("{\n  \"a\": 1\n}\n");
  std::string text = edit.text;
  text.insert(text.find("\n    }\n  }") + 6, ",\n    \"other\": {}");
  EXPECT_EQ(Taken(text, edit.undo), "{\n  \"a\": 1,\n  \"s\": {\n    \"other\": {}\n  }\n}\n");
  // Written anew by a client, the object that igloo made is still igloo's.
  EXPECT_EQ(Taken(Around("{\"a\":1,\"s\":{", "}}"), edit.undo), "{\"a\":1}");
  EXPECT_EQ(Taken(Around("{\"s\":{", "},\"a\":1}"), edit.undo), "{\"a\":1}");
}

}  // namespace
}  // namespace igloo::clients

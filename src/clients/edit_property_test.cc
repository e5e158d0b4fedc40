// Over many odd files: what igloo puts in comes out again to the byte, and everything that is
// accepted or refused is accepted or refused by a parser that we did not write.

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <random>

#include "clients/edit.h"
#include "clients/json_scan.h"

namespace igloo::clients {
namespace {

namespace json = boost::json;

const Server kServer{
    .name = "igloo", .command = "/opt/i \"x\"/igloo", .args = {"mcp", "--config", "/c\\d"}};

/// All that has to hold for one file of one client.
void Check(const Client& client, const std::string& text) {
  SCOPED_TRACE(std::string(client.name) + ": " + ::testing::PrintToString(text));
  const auto added = Install(client, kServer, "f", text, Foreign::kKeep);
  ASSERT_TRUE(added) << added.error().what;
  ASSERT_EQ(added->change, Change::kAdded);
  const auto again = Install(client, kServer, "f", added->text, Foreign::kKeep);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->change, Change::kNone);
  EXPECT_EQ(again->text, added->text);

  const auto exact = Remove(client, "igloo", "f", added->text, added->undo, Foreign::kKeep);
  ASSERT_TRUE(exact) << exact.error().what;
  EXPECT_EQ(exact->text, text) << added->text;

  // Moved in between, it still comes out.
  Server moved = kServer;
  moved.command = "/elsewhere/igloo";
  const auto updated = Install(client, moved, "f", added->text, Foreign::kKeep);
  ASSERT_TRUE(updated);
  EXPECT_EQ(updated->change, Change::kUpdated);
  EXPECT_EQ(Remove(client, "igloo", "f", updated->text, added->undo, Foreign::kKeep)->text, text);

  // Two names at once, taken out in both orders.
  Server second = kServer;
  second.name = "second";
  const auto both = Install(client, second, "f", added->text, Foreign::kKeep);
  ASSERT_TRUE(both);
  const auto one = Remove(client, "second", "f", both->text, both->undo, Foreign::kKeep);
  EXPECT_EQ(one->text, added->text);
  const auto other = Remove(client, "igloo", "f", both->text, added->undo, Foreign::kKeep);
  ASSERT_TRUE(other) << other.error().what;
  EXPECT_EQ(Install(client, second, "f", other->text, Foreign::kKeep)->change, Change::kNone);

  // Nothing remembered: what is left is a file that igloo can be put into again.
  const auto careful = Remove(client, "igloo", "f", added->text, {}, Foreign::kKeep);
  ASSERT_TRUE(careful) << careful.error().what;
  EXPECT_EQ(Remove(client, "igloo", "f", careful->text, {}, Foreign::kKeep)->change, Change::kNone);
}

std::vector<std::string> OddJson(const std::string& key) {
  const std::string k = "\"" + key + "\"";
  return {"",
          " ",
          "\n",
          "\r\n\r\n",
          "\xef\xbb\xbf",
          "{}",
          "{ }",
          "{\n}",
          "{}\n",
          " {}",
          "\n\n{}\n\n",
          "{\"a\":1}",
          "{\"a\": 1}",
          "{ \"a\" : 1 }",
          "{\n\"a\": 1\n}",
          "{\n  \"a\": 1\n}\n",
          "{\n\t\"a\": 1\n}",
          "{\r\n  \"a\": [\r\n 1]\r\n}\r\n",
          "\xef\xbb\xbf{\"a\": 1}",
          "{\"a\": {\n}}",
          "{\n  \"a\": 1, \"b\": 2\n}",
          "{" + k + ":{}}",
          "{" + k + ": { }}",
          "{\n  " + k + ": {}\n}",
          "{\n  " + k + ": {\n  }\n}\n",
          "{\n  " + k + ":\n  {\n  }\n}",
          "{\n    " + k + ": {\n        \"x\": {}\n    }\n}\n",
          "{" + k + ":{\"x\":1,\"y\":2},\"z\":3}",
          "{\n  " + k + ": {\"x\": 1},\n  \"z\": \"}{\"\n}",
          "{\n" + k + ": {\n\"x\": 1\n}\n}",
          "{" + k + ": {\"x\":\n1}}",
          "{\n  \"a\": 1\n, " + k + ": {\n    \"x\": 1\n    , \"y\": 2}}",
          "{\r  \"a\": 1\r}",
          "{\"igloo\": {\"" + key + "\": 1}, \"" + key + "2\": {}}",
          "{\"a\":1   \n\n\n}",
          "{" + k + "\n\n:\n\n{\n\n}\n\n}"};
}

std::vector<std::string> OddJsonc(const std::string& key) {
  const std::string k = "\"" + key + "\"";
  return {"// only a comment",
          "/* only */\n",
          "// a\n{} // b",
          "{ // open\n}",
          "{/**/}",
          "{\"a\": 1,}",
          "{\n  \"a\": 1, // about a\n}",
          "{\n  \"a\": 1 // about a\n}\n",
          "{\n  \"a\": 1 /* x */\n}",
          "{\n  \"a\": 1 /* x\n y */\n}",
          "{" + k + ": { /* none */ }}",
          "{\n  " + k + ": {\n    // \"igloo\": {}\n  }\n}",
          "{\n  " + k + ": {\n    \"x\": 1, // x\n    // y\n  }, // end\n}",
          "{\"a\": 1 // x\n}",
          "{" + k + ": {\"x\": 1 // x\r\n}}",
          "{" + k + ": {\"x\": 1, // x\n}}",
          "{" + k + ": {\"x\": 1 /* x */}}",
          "{ // \"" + key + "\": {\n}",
          "{\n  // c  \n  \n}",
          "{" + k + " /* a */ : /* b */ { /* c */ \"x\" /* d */ : 1 /* e */ , /* f */ } /* g */ }"};
}

TEST(EditProperty, JsonComesOutAsItWas) {
  for (const Client& client : kClients) {
    if (client.format == Format::kToml) continue;
    for (const std::string& text : OddJson(std::string(client.key))) Check(client, text);
    if (client.format != Format::kJsonc) continue;
    for (const std::string& text : OddJsonc(std::string(client.key))) Check(client, text);
  }
}

TEST(EditProperty, TomlComesOutAsItWas) {
  const Client& codex = *FindClient("codex").value();
  for (const char* text : {"",
                           "\n",
                           "\n\n\n",
                           "a = 1",
                           "a = 1\n",
                           "a = 1\n\n",
                           "a = 1\r\n",
                           "a = 1\r\nb = 2",
                           "# c",
                           "# c\n",
                           "\xef\xbb\xbf",
                           "\xef\xbb\xbf"
                           "a = 1\n",
                           "[a]\n",
                           "[a] # c",
                           "[mcp_servers]\n",
                           "  \n\t",
                           "a = 1\n  ",
                           "[mcp_servers.other]\ncommand = 'x'",
                           "[mcp_servers.other]\ncommand = 'x'\n\n# end",
                           "[mcp_servers]\nother.command = 'x'\n",
                           "mcp_servers.other.command = 'x'\n",
                           "[[a]]\nb = '''\n[mcp_servers.igloo]\n'''\n",
                           "a = \"\"\"\n[mcp_servers.igloo]\ncommand = 'igloo'\"\"\"",
                           "[mcp_servers.igloo2]\ncommand = 'x'\n",
                           "[mcp_servers.\"a.igloo\"]\n",
                           "[x.mcp_servers.igloo]\n",
                           "x = [\n  1, # one\n]\n[b]\n"}) {
    Check(codex, text);
  }
}

/// Makes documents with every kind of layout.
class Maker {
 public:
  Maker(unsigned seed, bool comments) : random_(seed), comments_(comments) {}

  std::string Document(const std::string& key) {
    newline_ = Below(4) == 0 ? "\r\n" : "\n";
    std::string out = Below(8) == 0 && comments_ ? "\xef\xbb\xbf" : "";
    return out + Trivia() + Object(3, key) + Trivia();
  }

 private:
  unsigned Below(unsigned bound) { return random_() % bound; }
  std::string Trivia() {
    std::string out;
    for (unsigned i = Below(4); i > 0; --i) {
      switch (Below(comments_ ? 8 : 5)) {
        case 0:
          out += newline_;
          break;
        case 1:
          out += "\t";
          break;
        case 5:
          out += "// \"},{ " + newline_;
          break;
        case 6:
          out += "/* , } */";
          break;
        case 7:
          out += "/*" + newline_ + "*/";
          break;
        default:
          out += " ";
      }
    }
    return out;
  }
  std::string Value(int depth) {
    switch (Below(depth > 0 ? 6 : 4)) {
      case 0:
        return "-1.5e3";
      case 1:
        return R"("a\"},{\\ \u00e9")";
      case 2:
        return "null";
      case 3:
        return "\"\xc3\xa9\"";
      case 4:
        return "[" + Trivia() + Value(depth - 1) + Trivia() + "]";
      default:
        return Object(depth - 1, "");
    }
  }
  std::string Object(int depth, const std::string& key) {
    std::string out = "{" + Trivia();
    const unsigned count = Below(4);
    const unsigned servers = key.empty() ? count : Below(count + 1);
    for (unsigned i = 0; i < count; ++i) {
      const std::string name = i == servers ? key : "k" + std::to_string(i);
      out += "\"" + name + "\"" + Trivia() + ":" + Trivia();
      out += i == servers ? Object(depth - 1, "") : Value(depth);
      out += Trivia();
      if (i + 1 < count || (comments_ && Below(3) == 0)) out += "," + Trivia();
    }
    return out + "}";
  }

  std::mt19937 random_;
  bool comments_;
  std::string newline_;
};

TEST(EditProperty, MadeUpFilesComeOutAsTheyWere) {
  const Client& strict = *FindClient("claude-code").value();
  const Client& loose = *FindClient("vscode").value();
  for (unsigned seed = 0; seed < 300 && !HasFailure(); ++seed) {
    Check(strict, Maker(seed, false).Document("mcpServers"));
    Check(loose, Maker(seed, true).Document("servers"));
  }
}

TEST(EditProperty, AnotherParserSeesTheOldValuesAndTheNewBlock) {
  const Client& client = *FindClient("claude-code").value();
  for (unsigned seed = 0; seed < 500; ++seed) {
    const std::string text = Maker(seed, false).Document("mcpServers");
    json::value expected = json::parse(text);
    const json::value block{{"type", "stdio"},
                            {"command", kServer.command},
                            {"args", json::array(kServer.args.begin(), kServer.args.end())}};
    json::object& root = expected.as_object();
    if (!root.contains("mcpServers")) root["mcpServers"] = json::object();
    root["mcpServers"].as_object()["igloo"] = block;
    const auto added = Install(client, kServer, "f", text, Foreign::kKeep);
    ASSERT_TRUE(added);
    EXPECT_EQ(json::parse(added->text), expected) << text;
  }
}

TEST(EditProperty, AnotherParserAgreesOnWhatIsBroken) {
  std::mt19937 random(7);
  constexpr std::string_view kBytes = "{}[]\",:\\ \n019.eE+-tfnul/*\x01\xc3\xa9";
  int broken = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    std::string text = Maker(seed, false).Document("mcpServers");
    const std::size_t at = random() % text.size();
    if (seed % 2 == 0) {
      text[at] = kBytes[random() % kBytes.size()];
    } else {
      text.erase(at, 1 + random() % 3);
    }
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) continue;
    boost::system::error_code failure;
    json::parse(text, failure);
    broken += failure ? 1 : 0;
    EXPECT_EQ(!ScanJson(text, Dialect::kJson), !!failure) << text;
  }
  EXPECT_GT(broken, 1000) << "the mutations have to bite";
}

}  // namespace
}  // namespace igloo::clients

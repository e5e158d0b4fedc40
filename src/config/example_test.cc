#include "config/example.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <sstream>

#include "config/decode.h"
#include "config/schema.h"

namespace igloo::config {
namespace {

constexpr std::string_view kPresets[] = {"python"};

Decoded Read(const std::string& text) {
  return Decode(text, {.file = "e", .directory = "/", .home = "/home/ada", .presets = kPresets});
}

TEST(ExampleFileTest, MeansWhatNoFileMeans) {
  const Decoded decoded = Read(ExampleFile());
  EXPECT_TRUE(decoded.problems.empty());
  Config nothing;
  nothing.file = "e";
  EXPECT_EQ(decoded.config, nothing);
}

TEST(ExampleFileTest, EveryLineIsRightWhenItsSignIsRemoved) {
  std::istringstream lines(ExampleFile());
  std::string text;
  bool has_source = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#') || line.starts_with("# ")) continue;
    // What has a name comes from one place; the others would be refused beside it.
    if (line.starts_with("#[")) has_source = false;
    constexpr std::string_view kSources[] = {"#preset", "#path = \"./", "#alias",   "#flake",
                                             "#image",  "#variable",    "#file = ", "#command"};
    const bool source = std::ranges::any_of(
        kSources, [&](std::string_view start) { return line.starts_with(start); });
    if (source && std::exchange(has_source, true)) continue;
    text += line.substr(1) + "\n";
  }
  const Decoded decoded = Read(text);
  for (const Problem& problem : decoded.problems) ADD_FAILURE() << problem.what;
  EXPECT_EQ(decoded.config.environments.size(), 1U);
  EXPECT_EQ(decoded.config.secrets.size(), 1U);
  EXPECT_GT(decoded.config.unavailable.size(), 1U);
}

TEST(ExampleFileTest, NamesEveryKey) {
  const std::string example = ExampleFile();
  const std::string manual = KeysAsMarkdown();
  for (const Key& key : Keys()) {
    const std::string name(LastPart(key.path));
    EXPECT_THAT(example, ::testing::HasSubstr("#" + name + " = ")) << key.path;
    EXPECT_THAT(manual, ::testing::HasSubstr("| `" + name + "` |")) << key.path;
  }
}

TEST(KeysAsJsonTest, SaysOfEveryKeyWhatAnotherReaderNeeds) {
  namespace json = boost::json;
  const json::object document = json::parse(KeysAsJson()).as_object();
  EXPECT_EQ(document.at("sections").as_array().size(), Sections().size());
  const json::array& rows = document.at("keys").as_array();
  ASSERT_EQ(rows.size(), Keys().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Key& key = Keys()[i];
    const json::object& row = rows[i].as_object();
    EXPECT_EQ(row.at("path").as_string(), key.path);
    EXPECT_FALSE(row.at("kind").as_string().empty()) << key.path;
    EXPECT_EQ(row.contains("choices"), key.shape.kind == Kind::kChoice) << key.path;
    EXPECT_EQ(row.at("served").as_bool(), key.served == Served::kNow) << key.path;
    // A fallback that is TOML and not JSON would be null here.
    EXPECT_EQ(row.contains("fallback"), !key.fallback.empty()) << key.path;
    if (row.contains("fallback")) EXPECT_FALSE(row.at("fallback").is_null()) << key.path;
  }
}

}  // namespace
}  // namespace igloo::config

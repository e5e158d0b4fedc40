#include "tools/render.h"

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>

#include "tools/testing.h"

namespace igloo::tools {
namespace {

using testing::Ended;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TextOf;

class RenderRunTest : public ::testing::Test {
 protected:
  mcp::ToolResult Render(const Finished& finished, std::size_t room = 10'000) {
    mcp::ToolResult result = RenderRun(finished, {.environment = "python", .room = room}, store_);
    CheckSchema(result);
    return result;
  }
  /// Whether the structured half is what the schema promises: clients that check it give up on a
  /// result that is not.
  static void CheckSchema(const mcp::ToolResult& result) {
    ASSERT_TRUE(result.structured);
    const mcp::JsonObject& value = result.structured->as_object();
    const mcp::JsonObject schema = OutputSchema();
    for (const auto& name : schema.at("required").as_array()) {
      EXPECT_TRUE(value.contains(name.as_string())) << name.as_string();
    }
    const mcp::JsonObject& properties = schema.at("properties").as_object();
    for (const auto& each : value) {
      ASSERT_TRUE(properties.contains(each.key())) << each.key();
      const auto& type = properties.at(each.key()).as_object().at("type").as_string();
      const bool fits = type == "string"    ? each.value().is_string()
                        : type == "integer" ? each.value().is_int64() || each.value().is_uint64()
                        : type == "boolean" ? each.value().is_bool()
                                            : each.value().is_array();
      EXPECT_TRUE(fits) << each.key() << " is no " << type;
    }
  }
  static std::string Field(const mcp::ToolResult& result, const char* name) {
    return boost::json::serialize(result.structured->at(name));
  }

  Store store_ = {};
};

TEST_F(RenderRunTest, BothHalvesTellEverything) {
  const mcp::ToolResult result = Render(Ended("out\n", "oops\n", 3));
  EXPECT_EQ(TextOf(result), "out\n--- stderr ---\noops\n[exit code 3, 1.23 s]");
  EXPECT_EQ(Field(result, "stdout"), R"("out\n")");
  EXPECT_EQ(Field(result, "stderr"), R"("oops\n")");
  EXPECT_EQ(Field(result, "exit_code"), "3");
  EXPECT_EQ(Field(result, "verdict"), R"("exit")");
  EXPECT_EQ(Field(result, "env"), R"("python")");
  EXPECT_EQ(Field(result, "duration_ms"), "1230");
  EXPECT_TRUE(result.is_error);
}

TEST_F(RenderRunTest, OneStreamStandsAlone) {
  EXPECT_EQ(TextOf(Render(Ended("42\n"))), "42\n[exit code 0, 1.23 s]");
  EXPECT_EQ(TextOf(Render(Ended("42"))), "42\n[exit code 0, 1.23 s]");
  EXPECT_EQ(TextOf(Render(Ended("", "bad\n", 1))), "bad\n[exit code 1, 1.23 s]");
  EXPECT_EQ(TextOf(Render(Ended(""))), "[exit code 0, 1.23 s]");
  EXPECT_FALSE(Render(Ended("")).is_error);
}

TEST_F(RenderRunTest, WhatIsCutIsKeptAndNamedInBothHalves) {
  const std::string output(50'000, 'x');
  const mcp::ToolResult result = Render(Ended(output));
  const std::string text = TextOf(result);
  EXPECT_LT(text.size(), 10'500U);
  const auto& kept = result.structured->at("full_output").as_array();
  ASSERT_EQ(kept.size(), 1U);
  const std::string uri(kept[0].as_string());
  EXPECT_THAT(text, HasSubstr("[... 40000 of 50000 bytes left out; all of it is in " + uri + "]"));
  EXPECT_THAT(std::string(result.structured->at("stdout").as_string()), HasSubstr(uri));
  EXPECT_EQ(std::get<std::string>(store_.Read(uri)->body), output);
  EXPECT_EQ(Field(result, "truncated"), "true");
  EXPECT_EQ(Field(result, "stdout_bytes"), "50000");
  EXPECT_EQ(std::get<mcp::content::Link>(result.content.at(1)).resource.uri, uri);
}

TEST_F(RenderRunTest, LongOutputIsKeptInPartsThatCanBeRead) {
  Finished finished = Ended(std::string(7U << 20, 'x'));
  finished.run.output.Append(std::string(20U << 20, 'y') + "end");
  const mcp::ToolResult result = Render(finished);
  const auto& kept = result.structured->at("full_output").as_array();
  ASSERT_EQ(kept.size(), 3U);
  for (const auto& uri : kept) {
    EXPECT_LE(std::get<std::string>(store_.Read(uri.as_string())->body).size(), 3U << 20);
  }
  EXPECT_THAT(TextOf(result), HasSubstr("its first and last parts are in igloo://run/"));
  EXPECT_THAT(std::get<std::string>(store_.Read(kept[2].as_string())->body), EndsWith("end"));
}

TEST_F(RenderRunTest, FilesAreNamedPicturesAreShown) {
  Finished finished = Ended("done\n");
  const std::string png = "\x89PNG\r\n\x1a\n123";
  finished.left.files = {{.path = "data.csv", .size = 4, .read = true, .bytes = "a,b\n"},
                         {.path = "huge.bin", .size = 1ULL << 40},
                         {.path = "plot.png", .size = png.size(), .read = true, .bytes = png}};
  const mcp::ToolResult result = Render(finished);
  const std::string text = TextOf(result);
  EXPECT_THAT(text, HasSubstr("[file data.csv, 4 bytes, igloo://run/"));
  EXPECT_THAT(text, HasSubstr("[file huge.bin, 1099511627776 bytes, too large"));
  ASSERT_EQ(result.content.size(), 4U);
  EXPECT_EQ(std::get<mcp::content::Image>(result.content[2]).data.bytes, png);
  const auto& files = result.structured->at("files").as_array();
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0].at("mime_type").as_string(), "text/csv");
  EXPECT_FALSE(files[1].as_object().contains("uri"));
  const std::string uri(files[2].at("uri").as_string());
  EXPECT_EQ(std::get<mcp::content::Link>(result.content[3]).resource.uri, uri);
  EXPECT_EQ(std::get<mcp::Blob>(store_.Read(uri)->body).bytes, png);
}

TEST_F(RenderRunTest, WhereFilesCannotBeHadItSaysSo) {
  Finished finished = Ended("x\n");
  finished.looked_for_files = false;
  EXPECT_THAT(TextOf(Render(finished)), HasSubstr("[files are not returned: "));
}

TEST_F(RenderRunTest, PicturesNeverMakeAnAnswerTooLong) {
  Finished finished = Ended("");
  for (int i = 0; i < 8; ++i) {
    std::string png = "\x89PNG\r\n\x1a\n" + std::string(1U << 20, 'x');
    finished.left.files.push_back(
        {.path = std::to_string(i), .size = png.size(), .read = true, .bytes = std::move(png)});
  }
  std::size_t shown = 0;
  for (const mcp::Content& each : Render(finished).content) {
    if (const auto* image = std::get_if<mcp::content::Image>(&each)) {
      shown += image->data.bytes.size();
    }
  }
  EXPECT_GT(shown, 1U << 20);
  EXPECT_LE(shown, 4U << 20);
}

TEST_F(RenderRunTest, EveryVerdictSaysWhatToDo) {
  Finished finished = Ended("x");
  finished.run.verdict = session::Verdict::kTimeout;
  finished.run.exit_code = 124;
  const mcp::ToolResult timeout = Render(finished);
  EXPECT_THAT(TextOf(timeout),
              HasSubstr("stopped at its time limit of 30 s; timeout_seconds gives it more"));
  EXPECT_EQ(Field(timeout, "timed_out"), "true");
  finished.run.verdict = session::Verdict::kMemory;
  EXPECT_THAT(TextOf(Render(finished)), HasSubstr("more than its 512 MB of memory"));
  for (const auto verdict :
       {session::Verdict::kSignal, session::Verdict::kProcesses, session::Verdict::kDisk,
        session::Verdict::kOutput, session::Verdict::kInterrupted, session::Verdict::kKilled}) {
    finished.run.verdict = verdict;
    const mcp::ToolResult result = Render(finished);
    EXPECT_TRUE(result.is_error);
    EXPECT_THAT(TextOf(result), Not(HasSubstr("?")));
  }
}

TEST_F(RenderRunTest, AFailureSaysTheSameInBothHalves) {
  const mcp::ToolResult result =
      RenderFailure({Errc::kNotFound, "there is no 'x'", "write 'y'", 0}, "x");
  CheckSchema(result);
  EXPECT_EQ(TextOf(result), "there is no 'x'; write 'y'");
  EXPECT_EQ(Field(result, "summary"), R"("there is no 'x'; write 'y'")");
  EXPECT_EQ(Field(result, "verdict"), R"("refused")");
  EXPECT_TRUE(result.is_error);
}

}  // namespace
}  // namespace igloo::tools

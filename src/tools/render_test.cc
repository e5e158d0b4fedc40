#include "tools/render.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "mcp/encode.h"
#include "tools/testing.h"

namespace igloo::tools {
namespace {

using testing::Ended;
using testing::Png;
using State = session::LeftFile::State;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TextOf;

/// Descriptors cannot be copied; no result tells of them.
service::Finished Copy(const service::Finished& from) {
  service::Finished to{.left = from.left,
                       .looked_for_files = from.looked_for_files,
                       .time_limit_ms = from.time_limit_ms,
                       .memory_limit_bytes = from.memory_limit_bytes,
                       .queued_micros = from.queued_micros,
                       .session = from.session,
                       .value = from.value,
                       .parts = from.parts,
                       .notes = from.notes};
  to.run.verdict = from.run.verdict;
  to.run.exit_code = from.run.exit_code;
  to.run.signal = from.run.signal;
  to.run.output = from.run.output;
  to.run.error = from.run.error;
  to.run.usage = from.run.usage;
  return to;
}

class RenderRunTest : public ::testing::Test {
 protected:
  mcp::ToolResult Render(const service::Finished& finished, std::size_t room = 10'000) {
    mcp::ToolResult result =
        RenderRun(Copy(finished), {.environment = "python", .room = room}, store_);
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

  static session::LeftFile Left(std::string path, std::string bytes) {
    return {.path = std::move(path),
            .size = bytes.size(),
            .state = State::kRead,
            .bytes = bytes,
            .text = session::IsPlainText(bytes)};
  }
  template <class Kind>
  static std::size_t Count(const mcp::ToolResult& result) {
    return static_cast<std::size_t>(std::ranges::count_if(
        result.content, [](const auto& each) { return std::holds_alternative<Kind>(each); }));
  }

  service::OutputStore store_ = {};
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
  EXPECT_EQ(store_.Read(uri)->bytes, output);
  EXPECT_EQ(Field(result, "truncated"), "true");
  EXPECT_EQ(Field(result, "stdout_bytes"), "50000");
  EXPECT_EQ(std::get<mcp::content::Link>(result.content.at(1)).resource.uri, uri);
}

TEST_F(RenderRunTest, LongOutputIsKeptInPartsThatCanBeRead) {
  service::Finished finished = Ended(std::string(7U << 20, 'x'));
  finished.run.output.Append(std::string(20U << 20, 'y') + "end");
  const mcp::ToolResult result = Render(finished);
  const auto& kept = result.structured->at("full_output").as_array();
  ASSERT_EQ(kept.size(), 3U);
  for (const auto& uri : kept) {
    EXPECT_LE(store_.Read(uri.as_string())->bytes.size(), 3U << 20);
  }
  EXPECT_THAT(TextOf(result), HasSubstr("its first and last parts are in igloo://run/"));
  EXPECT_THAT(store_.Read(kept[2].as_string())->bytes, EndsWith("end"));
}

TEST_F(RenderRunTest, FilesAreNamedPicturesAreShown) {
  service::Finished finished = Ended("done\n");
  const std::string png = Png("123");
  finished.left.files = {Left("data.csv", "a,b\n"),
                         {.path = "huge.bin", .size = 1ULL << 40, .state = State::kTooLarge},
                         {.path = "locked", .size = 3, .state = State::kUnreadable},
                         Left("plot.png", png)};
  const mcp::ToolResult result = Render(finished);
  const std::string text = TextOf(result);
  EXPECT_THAT(text, HasSubstr("[file data.csv, 4 bytes, igloo://run/"));
  EXPECT_THAT(text, HasSubstr("[file huge.bin, 1099511627776 bytes, too large"));
  EXPECT_THAT(text, HasSubstr("[file locked, 3 bytes, cannot be read]"));
  ASSERT_EQ(result.content.size(), 4U);
  EXPECT_EQ(std::get<mcp::content::Image>(result.content[2]).data.bytes, png);
  const auto& files = result.structured->at("files").as_array();
  ASSERT_EQ(files.size(), 4U);
  EXPECT_EQ(files[0].at("mime_type").as_string(), "text/csv");
  EXPECT_FALSE(files[1].as_object().contains("uri"));
  const std::string uri(files[3].at("uri").as_string());
  EXPECT_EQ(std::get<mcp::content::Link>(result.content[3]).resource.uri, uri);
  EXPECT_EQ(store_.Read(uri)->bytes, png);
}

TEST_F(RenderRunTest, AWaitIsToldWhenItWasOne) {
  service::Finished finished = Ended("");
  finished.queued_micros = 90'000;
  EXPECT_EQ(TextOf(Render(finished)), "[exit code 0, 1.23 s]");
  EXPECT_EQ(Field(Render(finished), "queued_ms"), "90");
  finished.queued_micros = 2'500'000;
  EXPECT_EQ(TextOf(Render(finished)),
            "[exit code 0, 1.23 s, after 2.50 s of waiting for a free place]");
}

TEST_F(RenderRunTest, WhereFilesCannotBeHadItSaysSo) {
  service::Finished finished = Ended("x\n");
  finished.looked_for_files = false;
  EXPECT_THAT(TextOf(Render(finished)), HasSubstr("[files are not returned: "));
}

TEST_F(RenderRunTest, PicturesAreFewWholeAndNotTooLarge) {
  service::Finished finished = Ended("");
  for (int i = 0; i < 12; ++i) finished.left.files.push_back(Left(std::to_string(i), Png("x")));
  EXPECT_EQ(Count<mcp::content::Image>(Render(finished)), 8U);
  EXPECT_EQ(Count<mcp::content::Link>(Render(finished)), 12U);
  finished.left.files = {Left("broken", "\x89PNG\r\n\x1a\n")};
  EXPECT_EQ(Count<mcp::content::Image>(Render(finished)), 0U);
  finished.left.files = {Left("huge", Png(std::string(4U << 20, 'x')))};
  EXPECT_EQ(Count<mcp::content::Image>(Render(finished)), 0U);
  EXPECT_EQ(Count<mcp::content::Link>(Render(finished)), 1U);
}

TEST_F(RenderRunTest, PicturesOfASessionThatAreNotShownCanBeRead) {
  service::Finished finished = Ended("");
  for (int i = 0; i < 9; ++i) finished.parts.push_back({"image/png", Png("x")});
  finished.parts.push_back({"text/html", "<b>"});
  finished.parts.push_back({"text/html", std::string(20'000, 'x')});
  const mcp::ToolResult result = Render(finished);
  EXPECT_EQ(Count<mcp::content::Image>(result), 8U);
  EXPECT_EQ(Count<mcp::content::Text>(result), 2U) << "with the first";
  ASSERT_EQ(Count<mcp::content::Link>(result), 2U);
  const auto& uri = std::get<mcp::content::Link>(result.content.back()).resource.uri;
  EXPECT_EQ(store_.Read(uri)->bytes.size(), 20'000U);
  // Clients show a model either half.
  const auto& parts = result.structured->at("parts").as_array();
  ASSERT_EQ(parts.size(), 11U);
  EXPECT_EQ(parts[0].at("mime_type"), "image/png");
  EXPECT_FALSE(parts[0].as_object().contains("text"));
  EXPECT_EQ(parts[9].as_object(), (mcp::JsonObject{{"mime_type", "text/html"}, {"text", "<b>"}}));
  EXPECT_EQ(parts[10].as_object(), (mcp::JsonObject{{"mime_type", "text/html"}, {"uri", uri}}));
}

TEST_F(RenderRunTest, AValueSharesTheRoom) {
  service::Finished finished = Ended("out\n");
  finished.value = std::string(1U << 20, '\x01');
  const mcp::ToolResult result = Render(finished);
  EXPECT_LT(TextOf(result).size(), 10'500U);
  const auto& kept = result.structured->at("full_output").as_array();
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(store_.Read(kept[0].as_string())->bytes, finished.value);
  finished.value = "42";
  EXPECT_EQ(TextOf(Render(finished)), "out\n42\n[exit code 0, 1.23 s]");
}

TEST_F(RenderRunTest, ManyFilesAreCountedAndNotListed) {
  service::Finished finished = Ended("");
  for (int i = 0; i < 100; ++i) finished.left.files.push_back(Left("f" + std::to_string(i), "x"));
  const mcp::ToolResult result = Render(finished);
  EXPECT_THAT(TextOf(result), HasSubstr("[and 80 more files: resources/list]"));
  EXPECT_LT(TextOf(result).size(), 3000U);
  EXPECT_EQ(Field(result, "more_files"), "80");
  EXPECT_EQ(result.structured->at("files").as_array().size(), 20U);
  EXPECT_EQ(store_.List().size(), 100U) << "all of them can be read";
}

/// The worst that a run can do, in each way and in all of them.
TEST_F(RenderRunTest, EveryAnswerFits) {
  const std::string controls(400'000, '\x01');
  std::string deep;
  for (int i = 0; i < 15; ++i) deep += std::string(255, '\x01') + "/";
  service::Finished loud = Ended(controls, controls);
  service::Finished files = Ended("");
  for (int i = 0; i < 100; ++i) files.left.files.push_back(Left(deep + std::to_string(i), "x"));
  service::Finished pictures = Ended("");
  pictures.parts.assign(8, {"image/png", Png(std::string(3'000'000, 'x'))});
  pictures.parts.push_back({"text/html", controls});
  service::Finished all = Copy(loud);
  all.left = files.left;
  all.parts = pictures.parts;
  all.value = controls;
  EXPECT_GT(Count<mcp::content::Image>(Render(pictures)), 0U);
  for (const service::Finished* each : {&loud, &files, &pictures, &all}) {
    const mcp::ToolResult result = Render(*each, 400'000);
    EXPECT_LT(boost::json::serialize(mcp::Encode(result, {})).size(), (8U << 20) - 4096);
    const mcp::ToolResult usual = Render(*each);
    EXPECT_LT(TextOf(usual).size(), 40'000U);
  }
}

TEST_F(RenderRunTest, EveryVerdictSaysWhatToDo) {
  service::Finished finished = Ended("x");
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

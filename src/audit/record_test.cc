#include "audit/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::audit {
namespace {

using ::testing::HasSubstr;

Record Full() {
  Record record{.time = Time(std::chrono::milliseconds(1'794'741'230'123)),
                .tool = "run",
                .client = "claude-code 2.0.1",
                .environment = "python",
                .session = "s1",
                .verdict = "exit",
                .exit_code = 3,
                .duration_ms = 120,
                .queued_ms = 4,
                .cpu_ms = 80,
                .peak_memory_bytes = 12U << 20,
                .output_bytes = 5,
                .error = "it said no"};
  record.Describe("print(1)\n\x01");
  return record;
}

TEST(RecordTest, WhatIsWrittenIsReadAgain) {
  EXPECT_EQ(Decode(Encode(Full())), Full());
  EXPECT_EQ(Decode(Encode({})), Record{});
}

TEST(RecordTest, ALineIsPlainJson) {
  Record record{.time = Time(std::chrono::milliseconds(1'794'741'230'123)),
                .tool = "run",
                .verdict = "ok",
                .exit_code = 0};
  record.Describe("");
  record.code.reset();
  EXPECT_EQ(Encode(record),
            R"({"time":"2026-11-15T11:13:50.123Z","tool":"run","verdict":"ok","exit_code":0,)"
            R"("duration_ms":0,"queued_ms":0,"output_bytes":0,"code_bytes":0,"code_sha256":)"
            R"("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"})"
            "\n");
}

TEST(RecordTest, TimesAreReadAsTheyAreWritten) {
  for (const std::int64_t ms : {0LL, 951'782'400'000LL, 1'709'251'199'999LL, 4'102'444'799'001LL}) {
    const Record record{.time = Time(std::chrono::milliseconds(ms))};
    const auto read = Decode(Encode(record));
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(read->time, record.time);
  }
  EXPECT_EQ(Iso8601(Time(std::chrono::milliseconds(951'782'400'000))), "2000-02-29T00:00:00.000Z");
}

TEST(RecordTest, TextOfOthersIsBoundedAndHasNoControlCharacters) {
  Record record{.tool = "a\nb", .client = "x\x1b[2J" + std::string(1U << 20, 'y')};
  record.environment = std::string(199, 'a') + "\xC3\xA9";  // cut within a character
  record.session = "\xFF";
  record.error = std::string(1U << 20, '\x02');
  record.code = std::string(4U << 20, '\x03');
  const std::string line = Encode(record);
  EXPECT_LE(line.size(), kMaxLine);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto read = Decode(line);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->tool, "a\\x0ab");
  EXPECT_THAT(read->client, ::testing::StartsWith("x\\x1b[2Jyyy"));
  EXPECT_EQ(read->client.size(), 200U);
  EXPECT_EQ(read->environment, std::string(199, 'a'));
  EXPECT_EQ(read->session, "\\xff");
  EXPECT_EQ(read->error.size(), 2000U);
  EXPECT_EQ(read->code, std::string(kMaxCode, '\x03'));
}

TEST(RecordTest, TheDigestIsThatOfAllTheCode) {
  const std::string code(2 * kMaxCode, 'x');
  Record record;
  record.Describe(code);
  EXPECT_EQ(record.code_bytes, code.size());
  EXPECT_EQ(record.code->size(), kMaxCode);
  Record shorter;
  shorter.Describe(*record.code);
  EXPECT_NE(record.code_sha256, shorter.code_sha256);
}

TEST(RecordTest, UnknownFieldsAndMissingOnesAreFine) {
  const auto read = Decode(
      R"({"time":"2026-11-15T11:13:50.123Z","colour":{"of":["it"]},"exit_code":null,"tool":"t"})");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->tool, "t");
  EXPECT_EQ(read->exit_code, std::nullopt);
}

TEST(RecordTest, SaysWhatIsWrongWithALine) {
  const auto wrong = [](std::string_view line) {
    const auto read = Decode(line);
    return read ? std::string("nothing") : read.error().what;
  };
  EXPECT_THAT(wrong(""), HasSubstr("not JSON"));
  EXPECT_THAT(wrong(R"({"time":"2026-11-1)"), HasSubstr("not JSON"));
  EXPECT_THAT(wrong("{\"time\":\"\xFF\"}"), HasSubstr("not JSON"));
  EXPECT_EQ(wrong("[]"), "it is not an object");
  EXPECT_THAT(wrong("{}"), HasSubstr("'time' is not a time"));
  for (const char* time :
       {"2026-13-01T00:00:00.000Z", "2026-02-30T00:00:00.000Z", "2026-01-01T24:00:00.000Z",
        "2026-01-01T00:00:00.000+", "yesterday", "2026-01-01T00:00:-1.000Z"}) {
    EXPECT_THAT(wrong(std::string(R"({"time":")") + time + "\"}"), HasSubstr("'time'")) << time;
  }
  EXPECT_EQ(wrong(R"({"time":"2026-11-15T11:13:50.123Z","tool":1})"), "'tool' is not text");
  EXPECT_EQ(wrong(R"({"time":"2026-11-15T11:13:50.123Z","duration_ms":-1})"),
            "'duration_ms' is not a whole number");
  EXPECT_EQ(wrong(R"({"time":"2026-11-15T11:13:50.123Z","exit_code":"0"})"),
            "'exit_code' is not a whole number");
}

}  // namespace
}  // namespace igloo::audit

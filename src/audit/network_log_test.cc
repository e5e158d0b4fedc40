#include "audit/network_log.h"

#include <gmock/gmock.h>

#include "audit/log.h"
#include "base/file.h"
#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::audit {
namespace {

using network::Record;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Record Refused(const std::string& host) {
  return {.event = Record::Event::kRefused,
          .protocol = Record::Protocol::kHttp,
          .sandbox = "data",
          .connection = 7,
          .time_ms = 1'763'200'000'123,
          .host = host,
          .port = 80,
          .method = "GET",
          .path = "/x",
          .refusal = "no rule allows it",
          .remedy = host};
}

TEST(DecisionTest, ALineSaysAllOfIt) {
  Record ended{.event = Record::Event::kEnded,
               .protocol = Record::Protocol::kSocks,
               .sandbox = "s",
               .connection = 1ULL << 60,
               .time_ms = 5,
               .host = "example.org",
               .port = 443,
               .address = "192.0.2.1",
               .rule = "example.org",
               .secrets = {"a", "b"},
               .bytes_out = 10,
               .bytes_in = 20,
               .lost = 3};
  for (const Record& each : {Refused("a.example"), ended, Record{}}) {
    const std::string line = EncodeDecision(each);
    EXPECT_TRUE(line.ends_with("\n"));
    EXPECT_EQ(*DecodeDecision(line), each) << line;
  }
  EXPECT_EQ(EncodeDecision(Refused("a.example")),
            R"({"time":"2025-11-15T09:46:40.123Z","event":"refused","protocol":"http",)"
            R"("sandbox":"data","connection":7,"host":"a.example","port":80,"method":"GET",)"
            R"("path":"/x","refusal":"no rule allows it","remedy":"a.example"})"
            "\n");
}

TEST(DecisionTest, WhatOthersChoseIsMadeVisibleAndBounded) {
  Record record = Refused("a.example");
  record.path = "/\x1b[2J\n\"" + std::string(1U << 16, '\x01');
  record.secrets.assign(network::kMostSecrets, std::string(1U << 12, '\x02'));
  const std::string line = EncodeDecision(record);
  EXPECT_LT(line.size(), kMaxLine);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_TRUE(DecodeDecision(line));
}

TEST(DecisionTest, WhatIsNoneIsNamed) {
  const auto wrong = [](std::string_view line) { return DecodeDecision(line).error().what; };
  EXPECT_THAT(wrong("x"), HasSubstr("it is not JSON"));
  EXPECT_EQ(wrong("[]"), "it is not an object");
  EXPECT_THAT(wrong("{}"), HasSubstr("'time' is not"));
  EXPECT_THAT(wrong(R"({"time":"2025-11-15T09:46:40.123Z","event":"x","protocol":"http"})"),
              HasSubstr("'event' is not"));
  EXPECT_THAT(
      wrong(
          R"({"time":"2025-11-15T09:46:40.123Z","event":"ended","protocol":"http","port":70000})"),
      HasSubstr("'port' is not"));
}

class NetworkLogTest : public ::testing::Test {
 protected:
  TempDir top_ = TempDir::Make(igloo::testing::TempParent()).value();
  std::vector<std::string> said_ = {};
  NetworkLog::Say Say() {
    return [this](const Error& error) { said_.push_back(error.what); };
  }
};

TEST_F(NetworkLogTest, StandsBesideThatOfCallsAndIsRotatedLikeIt) {
  const std::string directory = top_.path() + "/state";
  NetworkLog log({.directory = directory, .rotate_bytes = 300, .keep = 2}, Say());
  for (const char* host : {"a.example", "b.example", "c.example"}) log.Add(Refused(host));
  const auto read = Log::Open(directory, kNetworkFile);
  ASSERT_TRUE(read);
  Broken broken;
  const auto places = read->FindLast({.wanted = [](const std::string& line) -> Result<bool> {
                                       IGLOO_TRY(DecodeDecision(line));
                                       return true;
                                     }},
                                     broken);
  ASSERT_TRUE(places);
  std::vector<std::string> hosts;
  for (const Log::Place& place : *places) {
    hosts.push_back(DecodeDecision(*read->Line(place))->host);
  }
  EXPECT_THAT(hosts, ElementsAre("a.example", "b.example", "c.example"));
  EXPECT_EQ(broken.count, 0U);
  EXPECT_TRUE(ReadFile(JournalFile(directory, 2, kNetworkFile), 1U << 20));
  EXPECT_TRUE(Log::Open(directory)->empty()) << "calls are another file";
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(NetworkLogTest, WhatCannotBeWrittenIsSaidOnce) {
  NetworkLog nowhere({}, Say());
  nowhere.Add(Refused("a.example"));
  nowhere.Add(Refused("b.example"));
  EXPECT_THAT(said_, ElementsAre(HasSubstr("there is no place")));
}

}  // namespace
}  // namespace igloo::audit

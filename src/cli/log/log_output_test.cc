#include "cli/log/log_output.h"

#include <gmock/gmock.h>

namespace igloo::cli {
namespace {

using network::Record;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(DecisionLineTest, SaysWhatWouldAllowIt) {
  const Console console(-1, -1);
  const Record refused{.event = Record::Event::kRefused,
                       .protocol = Record::Protocol::kHttp,
                       .sandbox = "data",
                       .host = "example.org",
                       .port = 80,
                       .method = "GET",
                       .path = "/x",
                       .refusal = "no rule allows it",
                       .remedy = "http://example.org/x"};
  EXPECT_THAT(
      DecisionLine(refused, console),
      EndsWith("  refused  data            http     GET example.org:80/x  no rule allows it; "
               "allowed by: http://example.org/x\n"));
}

TEST(DecisionLineTest, SaysWhatAllowedItAndHowItEnded) {
  const Console console(-1, -1);
  const Record ended{.event = Record::Event::kEnded,
                     .protocol = Record::Protocol::kConnect,
                     .host = "example.org",
                     .port = 443,
                     .address = "192.0.2.1",
                     .rule = "*.org",
                     .secrets = {"key"},
                     .bytes_out = 100,
                     .bytes_in = 2048,
                     .lost = 2};
  EXPECT_THAT(
      DecisionLine(ended, console),
      EndsWith("  ended    -               connect  example.org:443 at 192.0.2.1  by *.org  "
               "secret key  100 B out, 2 KB in  (2 before it were lost)\n"));
}

TEST(DecisionLineTest, NamesTheSecretThatCameBack) {
  const Console console(-1, -1);
  const Record returned{.event = Record::Event::kReturned,
                        .protocol = Record::Protocol::kHttps,
                        .sandbox = "web",
                        .host = "api.example.org",
                        .port = 443,
                        .method = "GET",
                        .path = "/v1",
                        .secrets = {"key"}};
  EXPECT_THAT(DecisionLine(returned, console),
              EndsWith("  returned  web             https    GET api.example.org:443/v1  "
                       "secret key\n"));
}

TEST(DecisionLineTest, NothingReachesTheTerminalAsItIs) {
  const Console console(-1, -1);
  const Record evil{.sandbox = "\x1b[2J", .host = "a\nb", .path = "\x07", .refusal = "\x1b]0;x"};
  const std::string line = DecisionLine(evil, console);
  EXPECT_THAT(line, Not(HasSubstr("\x1b]")));
  EXPECT_THAT(line, Not(HasSubstr("\x1b[2J")));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(GrantLineTest, HasBoxGrantAndKey) {
  const Console console(-1, -1);
  EXPECT_THAT(GrantLine({.box = "claude-app",
                         .grant = "--with-ssh",
                         .event = "signed",
                         .what = "SHA256:x \x1b[2J"},
                        console),
              EndsWith("  signed    claude-app      --with-ssh   SHA256:x \\x1b[2J\n"));
}

}  // namespace
}  // namespace igloo::cli

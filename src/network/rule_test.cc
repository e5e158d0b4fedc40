#include "network/rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::network {
namespace {

using ::testing::HasSubstr;

TEST(Rule, IsReadAndWrittenBack) {
  const std::pair<const char*, const char*> rows[] = {
      {"example.com", "example.com"},
      {"EXAMPLE.com.", "example.com"},
      {"*.example.com", "*.example.com"},
      {"example.com:8443", "example.com:8443"},
      {"example.com:*", "example.com:*"},
      {"*.example.com:22", "*.example.com:22"},
      {"10.1.2.3:5432", "10.1.2.3:5432"},
      {"10.0.0.0/8:443", "10.0.0.0/8:443"},
      {"10.0.0.0/8", "10.0.0.0/8"},
      {"[fd00::1]:80", "[fd00::1]:80"},
      {"[fd00::/8]:*", "[fd00::/8]:*"},
      {"[fd00::1]", "[fd00::1]"},
      {"http://example.com", "http://example.com/*"},
      {"http://example.com/", "http://example.com/"},
      {"GET,HEAD http://example.com/path/*", "GET,HEAD http://example.com/path/*"},
      {"GET http://example.com:80/a", "GET http://example.com/a"},
      {"GET http://example.com:8080/a", "GET http://example.com:8080/a"},
      {"POST https://api.example.com/v1/*", "POST https://api.example.com/v1/*"},
      {"http://*.example.com/%41", "http://*.example.com/A"},
      {"http://[fd00::1]:8080/a/*", "http://[fd00::1]:8080/a/*"},
      {"http://[fd00::/8]/a", "http://[fd00::/8]/a"},
      {"http://10.1.2.3/a", "http://10.1.2.3/a"},
  };
  for (const auto& [text, canonical] : rows) {
    const auto rule = ParseRule(text);
    ASSERT_TRUE(rule) << text << ": " << rule.error().what;
    EXPECT_EQ(ToText(*rule), canonical);
    EXPECT_EQ(*ParseRule(canonical), *rule) << canonical;
  }
}

TEST(Rule, SaysWhatIsWrongWithIt) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "empty"},
      {"*", "tier 'internet'"},
      {"*example.com", "*.example.com"},
      {"a.*.com", "*.example.com"},
      {"*.", "is empty"},
      {"example.com:", "port"},
      {"example.com:0", "port"},
      {"example.com:99999", "port"},
      {"example.com:http", "port"},
      {"example.com/path", "http://example.com/path"},
      {"fd00::1", "brackets"},
      {"[fd00::1", "bracket"},
      {"[10.1.2.3]:80", "IPv6"},
      {"10.1.2.3/8", "10.0.0.0/8"},
      {"0177.0.0.1", "number"},
      {"0x7f000001:80", "number"},
      {"GET example.com", "URL"},
      {"get http://example.com/", "capitals"},
      {"GET, http://example.com/", "no method"},
      {"GET  http://example.com/", "URL"},
      {"ftp://example.com/", "http or https"},
      {"http://example.com/a*b", "end only"},
      {"http://example.com/../*", "'..'"},
      {"http://example.com/%2e%2e/", "encoded dot"},
      {"http://example.com/a?b", "query"},
      {"http://user@example.com/", "'@'"},
      {" example.com", "URL"},
      {"example.com ", "URL"},
      {"ex\xc3\xa4mple.com", "xn--"},
  };
  for (const auto& [text, why] : rows) {
    const auto rule = ParseRule(text);
    ASSERT_FALSE(rule) << text;
    EXPECT_THAT(rule.error().what + rule.error().hint, HasSubstr(why)) << text;
    EXPECT_THAT(rule.error().what, HasSubstr("the network rule '"));
  }
  EXPECT_FALSE(ParseRule(std::string("example.com\0", 12)));
  EXPECT_FALSE(ParseRule(std::string(3000, 'a')));
}

}  // namespace
}  // namespace igloo::network

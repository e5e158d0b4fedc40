#include "network/name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::network {
namespace {

using ::testing::HasSubstr;

TEST(Name, HasOneForm) {
  for (const char* text : {"example.com", "EXAMPLE.com", "example.COM.", "eXample.Com"}) {
    const auto name = Name::Parse(text);
    ASSERT_TRUE(name) << text;
    EXPECT_EQ(name->text(), "example.com");
  }
  for (const char* text : {"localhost", "a", "xn--bcher-kva.example", "1.example", "a-b.c3",
                           "0x7f.example", "3com.com"}) {
    EXPECT_TRUE(Name::Parse(text)) << text;
  }
}

TEST(Name, RefusesWhatTwoReadersCouldReadDifferently) {
  using std::string_literals::operator""s;
  const std::pair<std::string, const char*> rows[] = {
      {"", "empty"},
      {".", "empty"},
      {"..", "label is empty"},
      {".example.com", "label is empty"},
      {"example..com", "label is empty"},
      {"example.com..", "label is empty"},
      {"example.com\0.evil.org"s, "control byte"},
      {"evil.org\0"s, "control byte"},
      {"example.com\n", "control byte"},
      {"example.com\r\n", "control byte"},
      {"exa\tmple.com", "control byte"},
      {"exa mple.com", "' '"},
      {"example.com/", "'/'"},
      {"user@example.com", "'@'"},
      {"example.com:80", "':'"},
      {"example.com%00", "'%'"},
      {"ex_ample.com", "'_'"},
      {"*.example.com", "'*'"},
      {"b\xc3\xbc"
       "cher.example",
       "not ASCII"},
      {"example\xe3\x80\x82"
       "com",
       "not ASCII"},  // the ideographic full stop
      {"ex\xc4\xb0"
       "mple.com",
       "not ASCII"},
      {"-a.example", "hyphen"},
      {"a-.example", "hyphen"},
      {std::string(64, 'a') + ".example", "63"},
      {std::string(250, 'a') + ".com", "253"},
      {"127.1", "number"},
      {"2130706433", "number"},
      {"0177.0.0.1", "number"},
      {"0x7f000001", "number"},
      {"0x7f.0x0.0x0.0x1", "number"},
      {"0X7F.1", "number"},
      {"1.2.3.4.", "number"},
      {"256.256.256.256", "number"},
      {"example.0x", "number"},
  };
  for (const auto& [text, why] : rows) {
    const auto name = Name::Parse(text);
    ASSERT_FALSE(name) << text;
    EXPECT_THAT(name.error().what, HasSubstr(why));
  }
}

TEST(Host, IsANameOrAnAddress) {
  EXPECT_EQ(ToText(*ParseHost("Example.COM.")), "example.com");
  EXPECT_EQ(ToText(*ParseHost("1.2.3.4")), "1.2.3.4");
  EXPECT_EQ(ToText(*ParseHost("[2001:DB8:0::1]")), "[2001:db8::1]");
  for (const char* text : {"::1", "[::1", "[1.2.3.4]", "[]", "[::1]x", "[::1%25lo]", "127.1"}) {
    EXPECT_FALSE(ParseHost(text)) << text;
  }
}

TEST(Port, IsADecimalNumber) {
  EXPECT_EQ(*ParsePort("1"), 1);
  EXPECT_EQ(*ParsePort("65535"), 65535);
  for (const char* text : {"", "0", "00", "080", "65536", "-1", "+80", "0x50", "80 ", "http"}) {
    EXPECT_FALSE(ParsePort(text)) << text;
  }
}

}  // namespace
}  // namespace igloo::network

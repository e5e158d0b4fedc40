#include "network/client_hello.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::network {
namespace {

using ::testing::HasSubstr;
using std::string_literals::operator""s;

std::string Sized(unsigned bytes, const std::string& text) {
  std::string size;
  for (unsigned i = bytes; i-- > 0;) size += static_cast<char>(text.size() >> (8 * i));
  return size + text;
}
std::string Extension(unsigned type, const std::string& text) {
  return std::string{static_cast<char>(type >> 8), static_cast<char>(type)} + Sized(2, text);
}
std::string ServerName(const std::string& name) {
  return Extension(0, Sized(2, "\0"s + Sized(2, name)));
}
std::string Message(const std::string& extensions) {
  return "\1" + Sized(3, "\3\3"s + std::string(32, 'r') + Sized(1, "session") +
                             Sized(2, "\x13\1"s) + Sized(1, "\0"s) + extensions);
}
std::string Hello(const std::string& extensions) { return Message(Sized(2, extensions)); }
std::string Record(const std::string& fragment) { return "\x16\3\1"s + Sized(2, fragment); }

TEST(ClientHello, TellsTheServersName) {
  const std::string hello =
      Record(Hello(Extension(10, "ab") + ServerName("example.com") + Extension(43, "x")));
  for (std::size_t size = 0; size < hello.size(); ++size) {
    const auto part = ParseClientHello(std::string_view(hello).substr(0, size));
    ASSERT_TRUE(part) << size << ": " << part.error();
    EXPECT_FALSE(*part) << size;
  }
  const auto parsed = ParseClientHello(hello + "what follows");
  ASSERT_TRUE(parsed && *parsed);
  EXPECT_EQ((*parsed)->server_name, "example.com");
}

TEST(ClientHello, MayComeInSeveralRecords) {
  const std::string hello = Hello(ServerName("example.com"));
  for (std::size_t cut = 1; cut < hello.size(); ++cut) {
    const auto parsed = ParseClientHello(Record(hello.substr(0, cut)) + Record(hello.substr(cut)));
    ASSERT_TRUE(parsed && *parsed) << cut;
    EXPECT_EQ((*parsed)->server_name, "example.com");
  }
}

TEST(ClientHello, MayHaveNoName) {
  for (const std::string& hello :
       {Record(Hello("")), Record(Message("")), Record(Hello(Extension(5, "")))}) {
    const auto parsed = ParseClientHello(hello);
    ASSERT_TRUE(parsed && *parsed);
    EXPECT_FALSE((*parsed)->server_name);
  }
}

TEST(ClientHello, IsReadStrictly) {
  const std::string two = ServerName("a.example") + ServerName("b.example");
  const std::string list =
      Extension(0, Sized(2, "\0"s + Sized(2, "a.example") + "\0"s + Sized(2, "b.example")));
  const std::pair<std::string, const char*> rows[] = {
      {Record(Hello(two)), "two server names"},
      {Record(Hello(list)), "exactly one"},
      {Record(Hello(Extension(0, ""))), "exactly one"},
      {Record(Hello(Extension(0, Sized(2, "\0\0\0"s)))), "exactly one"},
      {Record(Hello(Extension(0, Sized(2, "\1"s + Sized(2, "a.example"))))), "exactly one"},
      {Record(Hello(Extension(0, Sized(2, "\0"s + Sized(2, "a.example")) + "x"))), "exactly one"},
      {Record(Hello("\0\0\0\x20"s)), "extensions"},
      {Record(Message("\0\5a"s)), "malformed"},
      {Record("\2\0\0\1x"s), "no ClientHello"},
      {Record("\1\xff\0\0"s), "too long"},
      {"\x16\3\1\0\0"s, "length"},
      {"\x16\3\1\xff\xff"s, "length"},
      {"\x17\3\1\0\1x"s, "no TLS"},
      {"GET / HTTP/1.1\r\n", "no TLS"},
      {"\x16\2\0"s, "no TLS"},
      {Record("\1") + "\x17\3\1\0\1x"s, "no TLS"},
  };
  for (const auto& [bytes, why] : rows) {
    const auto parsed = ParseClientHello(bytes);
    ASSERT_FALSE(parsed) << why;
    EXPECT_THAT(parsed.error(), HasSubstr(why));
  }
}

}  // namespace
}  // namespace igloo::network

#include "session/proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/spawn.h"
#include "session/asio.h"

namespace igloo::session {
namespace {

using ::testing::HasSubstr;

network::Wanted With(std::string principal, std::vector<std::string> placeholders) {
  network::Wanted wanted{.level = network::Level::kAllow, .principal = std::move(principal)};
  for (std::string& each : placeholders) {
    wanted.secrets.push_back({.name = "KEY",
                              .value = "value of " + each,
                              .placeholder = std::move(each),
                              .domain = *network::Name::Parse("api.example"),
                              .headers = {"X-Key"}});
  }
  return wanted;
}

TEST(TrustDomainTest, IsAPrincipalWithItsSecrets) {
  const std::set<std::string> all = {
      TrustDomainOf(With("", {})),       TrustDomainOf(With("a", {})),
      TrustDomainOf(With("b", {})),      TrustDomainOf(With("a", {"one"})),
      TrustDomainOf(With("a", {"two"})), TrustDomainOf(With("a", {"one", "two"})),
      TrustDomainOf(With("a\none", {})), TrustDomainOf(With("1:a\none", {}))};
  EXPECT_EQ(all.size(), 8U);
  EXPECT_EQ(TrustDomainOf(With("a", {"one", "two", "one"})),
            TrustDomainOf(With("a", {"two", "one"})))
      << "in any order, for any number of hosts";
  for (const std::string& each : all) EXPECT_EQ(each.find("value of"), std::string::npos);
}

/// With 'sleep' in igloo-proxy's place: its argument, the number of a descriptor, is its time.
class ProxyTest : public ::testing::Test {
 protected:
  boost::asio::io_context loop_;
};

TEST_F(ProxyTest, OneServesADomainAndAnotherTheNext) {
  Proxy proxy(loop_, {.program = FindInPath("sleep")});
  const auto first = proxy.Join("a"), again = proxy.Join("a"), other = proxy.Join("b");
  ASSERT_TRUE(first && again && other);
  EXPECT_EQ(first->get(), again->get());
  EXPECT_NE(first->get(), other->get());
  EXPECT_EQ(proxy.size(), 2U);
  proxy.Close();
}

TEST_F(ProxyTest, ThatServesNobodyEnds) {
  Proxy proxy(loop_, {.program = FindInPath("sleep"), .idle = std::chrono::milliseconds(1)});
  {
    const auto first = proxy.Join("a"), again = proxy.Join("a");
    ASSERT_TRUE(first && again);
    proxy.Release(*first);
    loop_.poll();
    EXPECT_EQ(proxy.size(), 1U) << "it serves one more";
    proxy.Release(*again);
  }
  while (proxy.size() > 0) loop_.run_one();
  EXPECT_TRUE(proxy.Join("a")) << "the next one gets another";
  proxy.Close();
}

TEST_F(ProxyTest, ThereAreSoManyAtMostAndTheErrorSaysSo) {
  Proxy proxy(loop_, {.program = FindInPath("sleep"), .most = 2});
  const auto first = proxy.Join("a"), second = proxy.Join("b");
  ASSERT_TRUE(first && second);
  const auto third = proxy.Join("c");
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, Errc::kExhausted);
  EXPECT_THAT(third.error().what, HasSubstr("2 igloo-proxy processes run already"));
  EXPECT_FALSE(third.error().hint.empty());
  // One that serves nobody makes room.
  proxy.Release(*first);
  EXPECT_TRUE(proxy.Join("c"));
  EXPECT_FALSE(proxy.Join("a"));
  EXPECT_EQ(proxy.size(), 2U);
  proxy.Close();
}

}  // namespace
}  // namespace igloo::session

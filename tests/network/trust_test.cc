// Which sandboxes of a server share an igloo-proxy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>

#include "client.h"
#include "support/host.h"
#include "world.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

/// What the code printed, in a result.
auto Quiet() { return HasSubstr(R"("stdout":"quiet\n")"); }

constexpr const char* kTwoKeyed = R"([network]
resolver = "93.184.216.53"
[secrets.FIRST]
variable = "REAL_FIRST"
hosts = ["api.example"]
header = "X-Key"
[secrets.SECOND]
variable = "REAL_SECOND"
hosts = ["api.example"]
header = "X-Key"
[environments.one]
preset = "python"
network = "allow"
allow = ["api.example"]
secrets = ["FIRST"]
[environments.two]
preset = "python"
network = "allow"
allow = ["api.example"]
secrets = ["SECOND"]
[environments.none]
preset = "python"
network = "allow"
allow = ["api.example"]
[environments.other]
preset = "python"
network = "allow"
allow = ["api.example"]
)";

std::vector<pid_t> ProxiesOf(const Client& client) {
  std::vector<pid_t> proxies;
  for (const ProcessInfo& each : DescendantsOf(client.pid())) {
    if (each.name == "igloo-proxy" && !IsGone(each.pid)) proxies.push_back(each.pid);
  }
  return proxies;
}

TEST(TrustDomains, EnvironmentsWithDifferentSecretsShareNoProxy) {
  const std::string first = "value-of-the-first-9d1f", second = "value-of-the-second-71c3";
  const TempDir home = TempDir::Make(TempParent()).value();
  const std::string path = home.path() + "/config.toml";
  std::ofstream(path) << kTwoKeyed;
  Shell("chmod -R a+rX " + home.path());
  World::Get().Seen();
  Client client(path, {}, {"REAL_FIRST=" + first, "REAL_SECOND=" + second});
  const auto use = [&](const std::string& environment, const std::string& variable) {
    const std::string key = variable.empty() ? "'nothing'" : "os.environ['" + variable + "']";
    return client.Run(environment,
                      "import os, urllib.request\n"
                      "request = urllib.request.Request('http://api.example/quiet', headers="
                      "{'X-Key': " +
                          key +
                          "})\n"
                          "print(urllib.request.urlopen(request).read().decode())",
                      {{"session", environment}});
  };
  EXPECT_THAT(use("one", "FIRST"), Quiet());
  EXPECT_THAT(use("two", "SECOND"), Quiet());
  EXPECT_THAT(World::Get().Seen(),
              AllOf(Contains("SENT X-Key " + first), Contains("SENT X-Key " + second)));
  const std::vector<pid_t> proxies = ProxiesOf(client);
  ASSERT_EQ(proxies.size(), 2U) << "one for each set of secrets";
  for (const pid_t each : proxies) {
    const bool is_first = MemoryHolds(each, first);
    EXPECT_NE(MemoryHolds(each, second), is_first)
        << "a proxy holds the value of its own secret (control) and of no other";
  }
  EXPECT_NE(MemoryHolds(proxies[0], first), MemoryHolds(proxies[1], first));
  // Those without a secret share one that knows none.
  EXPECT_THAT(use("none", ""), Quiet());
  EXPECT_THAT(use("other", ""), Quiet());
  std::vector<pid_t> more = ProxiesOf(client);
  std::erase_if(more,
                [&](pid_t each) { return std::ranges::find(proxies, each) != proxies.end(); });
  ASSERT_EQ(more.size(), 1U);
  EXPECT_FALSE(MemoryHolds(more[0], first) || MemoryHolds(more[0], second));
  // One that is killed takes no other's network with it.
  ASSERT_EQ(::kill(more[0], SIGKILL), 0);
  ASSERT_TRUE(WaitFor([&] { return IsGone(more[0]); }));
  EXPECT_THAT(use("one", "FIRST"), Quiet());
  EXPECT_THAT(use("none", ""), HasSubstr("igloo-proxy ended"));
}

}  // namespace
}  // namespace igloo::testing

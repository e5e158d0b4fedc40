// Programs that people fetch things with, through igloo-proxy, from stand-ins of the places that
// they know. Each has a control: without the rule it fails, and nothing reaches the server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy.h"

namespace igloo::testing {
namespace {

using network::Record;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

class Clients : public ::testing::Test {
 protected:
  /// A shell's lines inside, in a directory of their own, with a proxy that allows one host.
  Outcome Inside(const Proxy& proxy, const std::string& lines) {
    const TempDir home = TempDir::Make(TempParent()).value();
    const std::string roots = World::Get().roots_file();
    const std::string variables =
        "export HOME=" + home.path() + " PATH=/usr/bin:/bin HTTP_PROXY=" + proxy.url() +
        " http_proxy=" + proxy.url() + " HTTPS_PROXY=" + proxy.url() +
        " https_proxy=" + proxy.url() + " NO_PROXY=127.0.0.1 no_proxy=127.0.0.1" +
        " PROXY=" + proxy.url() + " ROOTS=" + roots + " GIT_SSL_CAINFO=" + roots +
        " NODE_EXTRA_CA_CERTS=" + roots + " PIP_CERT=" + roots +
        " PIP_CONFIG_FILE=/dev/null PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_RETRIES=0" +
        " PIP_ROOT_USER_ACTION=ignore GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0;";
    return World::Get().inside().RunHere(
        {"/bin/sh", "-ec", variables + "cd " + home.path() + ";" + lines});
  }

  /// What works where its host is allowed, and nowhere else; `seen` is what its server sees then.
  void ExpectNeedsTheRule(const std::string& lines, const std::string& printed,
                          const std::string& seen) {
    {
      Proxy proxy;
      proxy.Add({"example.com"});
      const Outcome outcome = Inside(proxy, lines);
      EXPECT_EQ(outcome.status, 0) << outcome.err << outcome.out;
      EXPECT_THAT(outcome.out, HasSubstr(printed)) << outcome.err;
      EXPECT_THAT(World::Get().Seen(), Contains(HasSubstr(seen)));
    }
    Proxy proxy;
    proxy.Add({"other.example"});
    const Outcome refused = Inside(proxy, lines);
    EXPECT_NE(refused.status, 0) << refused.out;
    EXPECT_THAT(refused.out, Not(HasSubstr(printed)));
    EXPECT_THAT(World::Get().Seen(), Each(Not(HasSubstr("HIT"))));
    EXPECT_EQ(proxy.WaitForRefusal().host, "example.com");
  }
};

TEST_F(Clients, GitClonesOverHttps) {
  ExpectNeedsTheRule("git clone -q https://example.com/files/repo.git r && cat r/README",
                     "hello from git", "HIT 93.184.216.34 443 GET /files/repo.git/info/refs");
}

TEST_F(Clients, PipInstalls) {
  ExpectNeedsTheRule(
      "python3 -m pip install -q --index-url https://example.com/files/simple/ --target t igtest "
      "&& "
      "PYTHONPATH=t python3 -c 'import igtest; print(igtest.SAYS)'",
      "hello from pip", "HIT 93.184.216.34 443 GET /files/simple/igtest/");
}

TEST_F(Clients, NpmInstalls) {
  ExpectNeedsTheRule(
      "npm install --loglevel=error --cafile=$ROOTS --fetch-retries=0 --no-audit --no-fund --cache "
      "c "
      "--registry https://example.com/files/registry/ igtest && node -e "
      "'console.log(require(\"igtest\"))'",
      "hello from npm", "HIT 93.184.216.34 443 GET /files/registry/igtest");
}

TEST_F(Clients, NodeFetchesFromABaseUrlAtTheProxy) {
  ExpectNeedsTheRule(
      "node -e 'fetch(process.argv[1]).then(async (answer) => { "
      "if (!answer.ok) process.exit(1); console.log((await answer.json()).path); })' "
      "$PROXY/https/example.com/from-node",
      "/from-node", "HIT 93.184.216.34 443 GET /from-node");
}

}  // namespace
}  // namespace igloo::testing

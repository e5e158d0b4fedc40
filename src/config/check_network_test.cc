#include "config/check_network.h"

#include <gmock/gmock.h>

#include "config/decode_testing.h"

namespace igloo::config {
namespace {

using ::testing::ElementsAre;
using testing::Fine;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Problems;

std::string Web(const std::string& lines) { return "[environments.python]\n" + lines + "\n"; }

TEST(NetworkKeysTest, AreUnderstood) {
  const Config config = Fine(R"([defaults]
network = "internet"
[network]
allow = ["pypi.org", "GET http://example.org/docs/*"]
resolver = "9.9.9.9,[2620:fe::fe]:53"
[secrets.token]
file = "~/token"
hosts = ["example.org"]
header = "X-Token"
[environments.web]
preset = "python"
network = "allow"
allow = ["10.0.0.0/8:443"]
publish = [80, "8080:81"]
reach = [5432, 6379]
secrets = ["token"]
)");
  EXPECT_EQ(config.network, network::Level::kInternet);
  EXPECT_EQ(config.resolver, "9.9.9.9,[2620:fe::fe]:53");
  EXPECT_EQ(config.secrets.at("token"),
            (SecretConfig{.name = "token",
                          .where = {6, 10},
                          .inside = "TOKEN",
                          .source = {SecretSource::Kind::kFile, "/home/ada/token"},
                          .hosts = {"example.org"},
                          .header = "X-Token"}));
  EXPECT_EQ(config.environments.at("web").network, (NetworkConfig{.level = network::Level::kAllow,
                                                                  .allow = {"10.0.0.0/8:443"},
                                                                  .publish = {{80, 80}, {8080, 81}},
                                                                  .reach = {5432, 6379},
                                                                  .secrets = {"token"}}));
  EXPECT_THAT(config.unavailable, IsEmpty());
}

TEST(NetworkKeysTest, TheLevelDecidesWhichRulesCount) {
  const Config config = Fine(R"([defaults]
network = "internet"
[network]
allow = ["pypi.org"]
[environments.web]
preset = "python"
network = "allow"
allow = ["example.org"]
publish = [80]
[environments.w]
alias = "web"
[environments.closed]
preset = "node"
network = "none"
)");
  using network::Level;
  const network::Wanted web{
      .level = Level::kAllow, .rules = {"pypi.org", "example.org"}, .publish = {{80, 80}}};
  EXPECT_EQ(NetworkFor(config, "web"), web);
  EXPECT_EQ(NetworkFor(config, "w"), web);
  EXPECT_EQ(NetworkFor(config, "closed"), network::Wanted{});
  EXPECT_EQ(NetworkFor(config, "shell"), network::Wanted{.level = Level::kInternet})
      << "one that the file does not name";
  // Somebody may say otherwise.
  EXPECT_EQ(NetworkFor(config, "closed", Level::kAllow),
            (network::Wanted{.level = Level::kAllow, .rules = {"pypi.org"}}));
  EXPECT_EQ(NetworkFor(config, "web", Level::kInternet),
            (network::Wanted{
                .level = Level::kInternet, .rules = {"example.org"}, .publish = {{80, 80}}}));
  EXPECT_EQ(NetworkFor(config, "web", Level::kNone), network::Wanted{});
  EXPECT_EQ(NetworkFor(config, "web", Level::kHost), network::Wanted{.level = Level::kHost});
}

TEST(NetworkKeysTest, RulesAndHostsAreReadAtOnce) {
  EXPECT_THAT(Problems("[network]\nallow = ['pypi.org', 'pypi.org/simple']\n"),
              ElementsAre(HasSubstr("2:22: ")));
  EXPECT_THAT(Problems("[secrets.x]\nvariable = 'X'\nhosts = ['*.example.org']\nheader = 'A'\n"),
              ElementsAre(HasSubstr("3:10: '*.example.org' is no host name")));
  EXPECT_THAT(Problems("[network]\nresolver = 'dns.example.org'\n"),
              ElementsAre(HasSubstr("2:12: 'resolver' cannot be \"dns.example.org\"")));
  for (const char* wrong : {"9.9.9.9:0", "9.9.9.9,", "::1", "[::1", "1"}) {
    EXPECT_THAT(Problems("[network]\nresolver = '" + std::string(wrong) + "'\n"),
                ElementsAre(HasSubstr("'resolver' cannot be")))
        << wrong;
  }
}

TEST(NetworkKeysTest, PortsAreNumbersOrPairs) {
  EXPECT_THAT(Problems(Web("publish = ['80:x']")),
              ElementsAre("2:12: 'publish' cannot hold \"80:x\" | write a list of ports, or of "
                          "texts \"HOST:BOX\", for example publish = [8080, \"8081:80\"]"));
  for (const char* wrong : {"'80'", "0", "65536", "'80:'", "'0:80'", "1.5", "[]"}) {
    EXPECT_THAT(Problems(Web("publish = [" + std::string(wrong) + "]")), ::testing::SizeIs(1))
        << wrong;
  }
  EXPECT_THAT(Problems(Web("reach = ['80:80']")),
              ElementsAre(HasSubstr("2:10: 'reach' cannot hold \"80:80\"")));
  EXPECT_THAT(Problems(Web("reach = [80]\npublish = ['8080:80']")),
              ElementsAre(HasSubstr("1:15: environment 'python': port 80 of the sandbox cannot be "
                                    "published: igloo listens on it inside")));
}

TEST(NetworkKeysTest, RulesAndSecretsNeedALevelThatHasThem) {
  const std::string secret = "[secrets.x]\nvariable = 'X'\nhosts = ['example.org']\nheader = 'A'\n";
  EXPECT_THAT(Problems(Web("allow = ['pypi.org']")),
              ElementsAre("1:15: environment 'python': rules are of no use with the network 'none' "
                          "| use the network 'allow', or leave the rules out"));
  EXPECT_THAT(Problems(secret + Web("network = 'host'\nsecrets = ['x']")),
              ElementsAre(HasSubstr("secrets need igloo's proxy, which the network 'host' does not "
                                    "have | write network = \"allow\"")));
  EXPECT_THAT(Problems(secret + Web("network = 'internet'\nallow = ['10.1.2.3']\nsecrets = ['x']")),
              IsEmpty());
  // What all with 'allow' share disturbs nobody else.
  EXPECT_THAT(Problems("[network]\nallow = ['pypi.org']\n" + Web("network = 'none'")), IsEmpty());
  EXPECT_THAT(Problems(Web("network = 'allow'\nsecrets = ['x']")),
              ElementsAre(HasSubstr("there is no secret 'x' | add its section: [secrets.NAME]")));
  EXPECT_THAT(Problems(secret + Web("network = 'allow'\nsecrets = ['y']")),
              ElementsAre(HasSubstr("there is no secret 'y' | known here: x")));
}

TEST(NetworkKeysTest, RawSocketsAreARightOverADevice) {
  const Config config = Fine(
      "[environments.a]\npreset = 'python'\nnetwork = 'internet'\nraw_sockets = true\n"
      "[environments.b]\npreset = 'python'\nnetwork = 'internet'\n");
  EXPECT_TRUE(NetworkFor(config, "a").raw_sockets);
  EXPECT_FALSE(NetworkFor(config, "b").raw_sockets);
  EXPECT_FALSE(NetworkFor(config, "a", network::Level::kAllow).raw_sockets);
  EXPECT_THAT(Problems("[environments.a]\npreset = 'python'\nraw_sockets = true\n"),
              ElementsAre(HasSubstr("environment 'a': raw sockets are of no use with the network "
                                    "'none': they need a device | use the network 'internet'")));
}

TEST(NetworkKeysTest, ASecretComesFromOnePlaceAndIsForSomebody) {
  EXPECT_THAT(Problems("[secrets.x]\n"),
              ElementsAre(HasSubstr("1:10: secret 'x' does not say where its value comes from"),
                          HasSubstr("1:10: secret 'x' does not say whom it is for"),
                          HasSubstr("1:10: secret 'x' names no header that it may stand in")));
  EXPECT_THAT(Problems("[secrets.x]\nvariable = 'X'\nhosts = []\nheader = 'A'\n"),
              ElementsAre(HasSubstr("1:10: secret 'x' does not say whom it is for")));
  EXPECT_THAT(Problems("[secrets.x]\nvariable = 'X'\nfile = '/x'\nhosts = ['a.example']\n"
                       "header = 'A'\n"),
              ElementsAre("3:1: secret 'x' comes from 'variable' already | keep either 'variable' "
                          "or 'file'"));
  EXPECT_THAT(Problems("[secrets.x]\nvariable = 'X'\nhosts = ['a.example']\nheader = 'A B'\n"),
              ElementsAre(HasSubstr("'A B' is no name of a header")));
  EXPECT_THAT(Problems("[secrets.x]\nvariable = 'X'\nhosts = ['a.example']\n"),
              ElementsAre("1:10: secret 'x' names no header that it may stand in | add the header "
                          "that its hosts take it in, for example header = \"Authorization\""));
  EXPECT_THAT(Problems("[secrets.x]\nvariable = 'X'\nhosts = ['a.example']\nheader = 'A, B'\n"),
              IsEmpty());
  EXPECT_THAT(Problems("[secrets.1x]\nvariable = 'X'\nhosts = ['a.example']\nheader = 'A'\n"),
              ElementsAre(HasSubstr("secret '1x' cannot be a variable of that name")));
  EXPECT_THAT(Problems("[secrets.a-b]\nvariable = 'X'\nhosts = ['a.example']\nheader = 'A'\n"
                       "[secrets.a_b]\nvariable = 'X'\nhosts = ['a.example']\nheader = 'A'\n"),
              ElementsAre(HasSubstr("secrets 'a-b' and 'a_b' would both be the variable 'A_B'")));
}

}  // namespace
}  // namespace igloo::config

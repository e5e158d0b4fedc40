#include "config/secrets.h"

#include <gmock/gmock.h>

#include "config/decode_testing.h"
#include "config/request.h"

namespace igloo::config {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::Fine;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kFile = R"([network]
allow = ["pypi.org"]
[secrets.github-token]
variable = "GH"
hosts = ["API.github.com", "github.com"]
header = "Authorization"
[secrets.openai_api_key]
command = "pass show openai"
hosts = ["api.openai.com"]
header = "Authorization, X-Api-Key"
[environments.web]
preset = "python"
network = "allow"
allow = ["*.github.com"]
publish = [8080, "8081:80"]
reach = [5432]
secrets = ["github-token", "openai_api_key"]
env = { PLAIN = "x" }
)";

class SecretsTest : public ::testing::Test {
 protected:
  Secrets MakeSecrets() {
    return Secrets([this](const SecretSource& source) -> Result<std::string> {
      asked_.push_back(source.value);
      if (fails_) return Fail(Errc::kNotFound, "it is gone", "look for it");
      return "value of " + source.value;
    });
  }
  Result<environment::RunRequest> Complete(const Secrets& secrets, std::string_view text = kFile,
                                           environment::RunRequest request = {}) {
    const Config config = Fine(text);
    const EnvironmentConfig& own = config.environments.at("web");
    const Configured configured{.environment = {.name = "web"},
                                .variables = own.variables,
                                .inherit = own.inherit,
                                .network = NetworkFor(config, "web"),
                                .secrets = SecretsFor(config, "web")};
    const auto lookup = [](const std::string& name) { return std::optional("your " + name); };
    IGLOO_TRY(config::Complete(config, configured, lookup, secrets, request));
    return request;
  }

  std::vector<std::string> asked_ = {};
  bool fails_ = false;
};

TEST_F(SecretsTest, ARequestGetsAllThatTheFileSaysAboutTheNetwork) {
  const auto request = Complete(MakeSecrets());
  ASSERT_TRUE(request) << request.error().what;
  const network::Wanted& wanted = request->network;
  EXPECT_EQ(wanted.level, network::Level::kAllow);
  EXPECT_THAT(wanted.rules, ElementsAre("pypi.org", "*.github.com"));
  EXPECT_THAT(wanted.publish,
              ElementsAre(network::PublishedPort{8080, 8080}, network::PublishedPort{8081, 80}));
  EXPECT_THAT(wanted.reach, ElementsAre(5432));
  ASSERT_EQ(wanted.secrets.size(), 3U) << "one for each host";
  EXPECT_EQ(wanted.secrets[0].name, "github-token");
  EXPECT_EQ(wanted.secrets[0].value, "value of GH");
  EXPECT_THAT(wanted.secrets[0].headers, ElementsAre("Authorization"));
  EXPECT_THAT(wanted.secrets[2].headers, ElementsAre("Authorization", "X-Api-Key"));
  EXPECT_EQ(wanted.secrets[0].domain.text(), "api.github.com");
  EXPECT_EQ(wanted.secrets[1].domain.text(), "github.com");
  EXPECT_EQ(wanted.secrets[1].placeholder, wanted.secrets[0].placeholder);
  EXPECT_NE(wanted.secrets[2].placeholder, wanted.secrets[0].placeholder);
}

TEST_F(SecretsTest, TheCodeFindsPlaceholdersAndWhereToSendThem) {
  const auto request = Complete(MakeSecrets());
  ASSERT_TRUE(request) << request.error().what;
  EXPECT_THAT(
      request->variables,
      UnorderedElementsAre(
          Pair("PLAIN", "x"), Pair("GITHUB_TOKEN", StartsWith("igloo-placeholder-github-token-")),
          Pair("GITHUB_TOKEN_URL", "http://127.0.0.1:3128/https/api.github.com"),
          Pair("OPENAI_API_KEY", StartsWith("igloo-placeholder-openai-api-key-")),
          Pair("OPENAI_API_KEY_URL", "http://127.0.0.1:3128/https/api.openai.com"),
          Pair("OPENAI_BASE_URL", "http://127.0.0.1:3128/https/api.openai.com/v1")));
  for (const auto& each : request->variables) {
    EXPECT_THAT(each.second, Not(::testing::HasSubstr("value of"))) << each.first;
  }
}

TEST_F(SecretsTest, EveryWellKnownKeyHasItsServer) {
  const auto url = [&](const std::string& secret, const std::string& variable) {
    const std::string text =
        "[secrets." + secret +
        "]\nvariable = 'X'\nhosts = ['a.example']\nheader = 'A'\n[environments.web]\n"
        "preset = 'python'\nnetwork = 'allow'\nsecrets = ['" +
        secret + "']\n";
    const auto request = Complete(MakeSecrets(), text);
    return request && request->variables.contains(variable) ? request->variables.at(variable) : "";
  };
  const std::string base = "http://127.0.0.1:3128/https/a.example";
  EXPECT_EQ(url("anthropic-api-key", "ANTHROPIC_BASE_URL"), base);
  EXPECT_EQ(url("OPENAI_API_KEY", "OPENAI_BASE_URL"), base + "/v1");
  EXPECT_EQ(url("gemini_api_key", "GOOGLE_GEMINI_BASE_URL"), base);
  EXPECT_EQ(url("github", "OPENAI_BASE_URL"), "");
}

TEST_F(SecretsTest, WhatTheUserSetsStaysButForTheSecretItself) {
  const std::string text(kFile);
  const auto request = Complete(
      MakeSecrets(),
      text + "inherit_env.vars = ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'GITHUB_TOKEN_URL']\n");
  ASSERT_TRUE(request) << request.error().what;
  EXPECT_EQ(request->variables.at("OPENAI_BASE_URL"), "your OPENAI_BASE_URL");
  EXPECT_EQ(request->variables.at("GITHUB_TOKEN_URL"), "your GITHUB_TOKEN_URL");
  EXPECT_THAT(request->variables.at("OPENAI_API_KEY"), StartsWith("igloo-placeholder-"));
}

TEST_F(SecretsTest, AreReadOnceSoEqualRequestsStayEqual) {
  const Secrets secrets = MakeSecrets();
  const auto first = Complete(secrets);
  const auto second = Complete(secrets);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->network, second->network);
  EXPECT_EQ(first->variables, second->variables);
  EXPECT_THAT(asked_, ElementsAre("GH", "pass show openai"));
  const auto other = Complete(MakeSecrets());
  EXPECT_NE(first->variables, other->variables) << "another configuration has others";
}

TEST_F(SecretsTest, WithoutASecretNothingRuns) {
  const Secrets secrets = MakeSecrets();
  fails_ = true;
  const Error gone{.code = Errc::kNotFound,
                   .what = "the secret 'github-token': it is gone",
                   .hint = "look for it"};
  EXPECT_EQ(Complete(secrets).error(), gone);
  fails_ = false;
  EXPECT_EQ(Complete(secrets).error(), gone) << "until the configuration is read again";
  EXPECT_THAT(asked_, ElementsAre("GH"));
}

TEST_F(SecretsTest, WhatSomebodyElseReadsIsWaitedFor) {
  const Secrets secrets = MakeSecrets();
  const Config config = Fine(kFile);
  const std::vector<SecretConfig> both = SecretsFor(config, "web");
  const SecretConfig& slow = config.secrets.at("openai_api_key");
  ASSERT_FALSE(Secrets::IsQuick(slow));
  EXPECT_TRUE(Secrets::IsQuick(config.secrets.at("github-token")));
  secrets.Expect(slow);
  EXPECT_TRUE(secrets.Awaits(both));
  EXPECT_EQ(Complete(secrets).error().what, "the secret 'openai_api_key' is still being read");
  secrets.Tell(slow, "it was told");
  EXPECT_FALSE(secrets.Awaits(both));
  const auto request = Complete(secrets);
  ASSERT_TRUE(request) << request.error().what;
  EXPECT_EQ(request->network.secrets.back().value, "it was told");
  EXPECT_THAT(asked_, ElementsAre("GH")) << "nobody here ran the command";
  const Secrets others = MakeSecrets();
  others.Expect(slow);
  others.Tell(slow, Fail(Errc::kTimeout, "it took too long"));
  EXPECT_EQ(Complete(others).error().what, "the secret 'openai_api_key': it took too long");
}

TEST_F(SecretsTest, NoErrorShowsAValue) {
  const Secrets secrets([](const SecretSource&) -> Result<std::string> { return "hunter2\r\nX:"; });
  const auto request = Complete(secrets);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().what, "the secret 'github-token' holds a byte that no header may hold");
  EXPECT_THAT(request.error().hint, Not(::testing::HasSubstr("hunter2")));
}

TEST_F(SecretsTest, WhoUsesNoneIsAskedForNone) {
  const auto request =
      Complete(MakeSecrets(), "[environments.web]\npreset = 'python'\nnetwork = 'internet'\n");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->network, network::Wanted{.level = network::Level::kInternet});
  EXPECT_THAT(request->variables, IsEmpty());
  EXPECT_THAT(asked_, IsEmpty());
}

}  // namespace
}  // namespace igloo::config

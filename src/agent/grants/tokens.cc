// The caller's token for GitHub.

#include "agent/grants/grant.h"
#include "base/text.h"
#include "service/caller.h"

namespace igloo::agent {

Result<void> GrantGitHubToken(const GrantContext& context) {
  std::string source;
  std::string value;
  for (const char* name : {"GH_TOKEN", "GITHUB_TOKEN"}) {
    if (!source.empty()) break;
    value = context.Variable(name);
    if (!value.empty()) source = name;
  }
  const std::string gh = source.empty() ? context.caller.find("gh") : std::string();
  if (!gh.empty()) {
    source = "gh auth token";
    value = "(yours)";
    if (context.caller.values) {
      const config::SecretSource command{config::SecretSource::Kind::kCommand,
                                         ShellQuote(gh) + " auth token"};
      IGLOO_ASSIGN(value, service::ReadSecretValue(command));
    }
  }
  if (value.empty()) {
    return Fail(Errc::kFailedPrecondition, "'--gh-token' finds no token of yours for GitHub",
                "set GH_TOKEN, or sign in: gh auth login");
  }
  context.Set("GH_TOKEN", value);
  context.Set("GITHUB_TOKEN", value);
  context.Show(Grant::kGitHubToken, "the token from " + source);
  context.Remark(
      "--gh-token: the token itself is inside, because gh and git speak TLS with GitHub themselves "
      "and igloo's proxy cannot put it into their requests");
  return {};
}

}  // namespace igloo::agent

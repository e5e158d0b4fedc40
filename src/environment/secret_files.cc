#include "environment/secret_files.h"

#include <algorithm>
#include <array>

namespace igloo::environment {
namespace {

using enum Look;

// clang-format off
constexpr auto kRows = std::to_array<SecretRow>({
    {".env*", kName, "", "variables of a program, passwords among them"},
    {".env*/", kUnless, "pyvenv.cfg", "variables of programs, passwords among them"},
    {"*.env", kName, "", "variables of a program, passwords among them"},

    {"id_*", kKey, "", "a private key of ssh"},
    {".ssh/", kName, "", "private keys of ssh"},
    {"*.pem", kKey, "", "a private key"},
    {"*.key", kKey, "", "a private key"},
    {"*_key", kKey, "", "a private key"},
    {"*-key", kKey, "", "a private key"},
    {"deploy*key", kKey, "", "a private key"},
    {"private*key", kKey, "", "a private key"},
    {"*.p8", kKey, "", "a private key"},
    {"*.asc", kKey, "", "a private key of PGP"},
    {"*.ovpn", kKey, "", "a private key, for a VPN"},
    {"*.p12", kName, "", "a private key with its certificate"},
    {"*.pfx", kName, "", "a private key with its certificate"},
    {"*.ppk", kName, "", "a private key of PuTTY"},
    {"*.jks", kName, "", "private keys of Java programs"},
    {"*.keystore", kName, "", "private keys of Java and Android programs"},
    {"*.kdbx", kName, "", "passwords of KeePass"},
    {".gnupg/", kName, "", "private keys of GnuPG"},
    {"master.key", kName, "", "what Rails opens its credentials with"},
    {"**/config/credentials/*.key", kName, "", "what Rails opens its credentials with"},

    {".netrc", kName, "", "passwords for servers"},
    {"_netrc", kName, "", "passwords for servers"},
    {".pgpass", kName, "", "passwords of PostgreSQL"},
    {".my.cnf", kWords, "password", "a password of MySQL"},
    {".mylogin.cnf", kName, "", "passwords of MySQL"},
    {".htpasswd", kName, "", "passwords of a web server, hashed"},
    {".vault-token", kName, "", "a token of Vault"},
    {".vault_pass*", kName, "", "what Ansible opens its vault with"},

    {".npmrc", kWords, "_authToken|_password|_auth", "a token of an npm registry"},
    {".yarnrc", kWords, "_authToken|_password|_auth", "a token of an npm registry"},
    {".yarnrc.yml", kWords, "npmAuthToken|npmAuthIdent|_authToken", "a token of an npm registry"},
    {".pypirc", kWords, "password", "a password of a Python registry"},
    {"**/.cargo/credentials", kName, "", "a token of a Rust registry"},
    {"**/.cargo/credentials.toml", kName, "", "a token of a Rust registry"},
    {"**/.gem/credentials", kName, "", "a token of a Ruby registry"},
    {"auth.json", kWords, "\"http-basic\"|\"github-oauth\"|\"gitlab-token\"|\"bearer\"", "tokens of Composer"},
    {"**/.m2/settings.xml", kWords, "<password>", "a password of a Maven registry"},

    {".git-credentials", kName, "", "passwords of git"},
    {"config", kGit, "", "a password or a token in an address or a header of git"},
    {"config.worktree", kGit, "", "a password or a token in an address or a header of git"},
    {".gitconfig", kGit, "", "a password or a token in an address or a header of git"},
    {".gitmodules", kGit, "", "a password or a token in an address of git"},
    {"**/.hg/hgrc", kWords, "password", "a password of Mercurial"},
    {"**/gh/hosts.yml", kWords, "oauth_token", "a token of GitHub"},
    {"**/glab-cli/config.yml", kWords, "token", "a token of GitLab"},

    {"**/.aws/credentials", kName, "", "keys of Amazon's cloud"},
    {"**/.aws/config", kWords, "aws_secret_access_key|aws_session_token", "keys of Amazon's cloud"},
    {"**/.aws/sso/", kName, "", "tokens of Amazon's cloud"},
    {"**/.aws/cli/", kName, "", "tokens of Amazon's cloud"},
    {"application_default_credentials.json", kName, "", "a key of Google's cloud"},
    {"**/gcloud/credentials.db", kName, "", "tokens of Google's cloud"},
    {"**/gcloud/access_tokens.db", kName, "", "tokens of Google's cloud"},
    {"**/gcloud/legacy_credentials/", kName, "", "keys of Google's cloud"},
    {"*service*account*.json", kWords, "\"private_key\"", "a key of Google's cloud"},
    {"*credential*.json", kWords, "\"private_key\"|\"client_secret\"|\"refresh_token\"", "a key of Google's cloud"},
    {"*firebase*admin*.json", kWords, "\"private_key\"", "a key of Firebase"},
    {"*key.json", kWords, "\"private_key\"", "a key of Google's cloud"},
    {"*-[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]*.json", kWords,
     "\"private_key\"", "a key of Google's cloud, under the name that it is downloaded with"},
    {"client_secret*.json", kWords, "\"client_secret\"", "what a program signs in to Google with"},
    {".azure/", kName, "", "tokens of Microsoft's cloud"},
    {"kubeconfig", kWords, "client-key-data|token|password", "keys of a Kubernetes cluster"},
    {"*.kubeconfig", kWords, "client-key-data|token|password", "keys of a Kubernetes cluster"},
    {"**/.kube/config", kWords, "client-key-data|token|password", "keys of a Kubernetes cluster"},
    {"**/.docker/config.json", kWords, "\"auth\"|\"identitytoken\"|\"registrytoken\"", "passwords of image registries"},
    {".dockercfg", kWords, "\"auth\"", "passwords of image registries"},
    {".dockerconfigjson", kWords, "\"auth\"", "passwords of image registries"},
    {"rclone.conf", kWords, "pass|token|secret", "passwords of rclone"},
    {".s3cfg", kWords, "secret_key", "a key of an object store"},
    {".boto", kWords, "secret_access_key|gs_oauth2_refresh_token", "a key of an object store"},

    {"*.tfstate", kName, "", "Terraform writes passwords of what it made there, as they are"},
    {"*.tfstate.backup", kName, "", "a copy of Terraform's state, with its passwords"},
    {"*.tfvars", kWords, "password|secret|token|private_key|access_key", "values for Terraform that are named like secrets"},
    {"*.tfvars.json", kWords, "password|secret|token|private_key|access_key", "values for Terraform that are named like secrets"},
    {".terraformrc", kWords, "token", "a token of Terraform"},
    {"credentials.tfrc.json", kName, "", "a token of Terraform"},
});

constexpr auto kHarmless = std::to_array<SecretRow>({
    {".env.example", kName, "", "which variables there are, without their values"},
    {".env.sample", kName, "", "which variables there are, without their values"},
    {".env.template", kName, "", "which variables there are, without their values"},
    {"*example.env", kName, "", "which variables there are, without their values"},
    {"*sample.env", kName, "", "which variables there are, without their values"},
    {"*template.env", kName, "", "which variables there are, without their values"},
});
// clang-format on

bool HoldsKey(std::string_view content) {
  // DER: a sequence whose length takes one or two bytes of its own, as keys are.
  const bool der = content.starts_with("\x30\x81") || content.starts_with("\x30\x82");
  return der || content.contains("PRIVATE KEY") || content.contains("private-key");
}

}  // namespace

std::span<const SecretRow> SecretRows() { return kRows; }
std::span<const SecretRow> HarmlessRows() { return kHarmless; }

bool HoldsSecret(const SecretRow& row, std::string_view content) {
  if (row.look == kName || row.look == kUnless) return true;
  if (row.look == kKey) return HoldsKey(content);
  for (std::string_view words = row.words; !words.empty();) {
    const std::string_view word = words.substr(0, words.find('|'));
    if (content.contains(word)) return true;
    words.remove_prefix(std::min(word.size() + 1, words.size()));
  }
  return false;
}

}  // namespace igloo::environment

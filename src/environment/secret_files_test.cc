#include "environment/secret_files.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/glob.h"

namespace igloo::environment {
namespace {

constexpr std::string_view kPem = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n";

Globs GlobsOf(std::span<const SecretRow> rows) {
  std::vector<std::string> patterns;
  for (const SecretRow& row : rows) patterns.emplace_back(row.pattern);
  return {patterns, Letters::kFold};
}

/// The reason for which a file is a secret; empty: it is none.
std::string_view Why(std::string_view path, std::string_view content, bool directory = false) {
  static const Globs globs = GlobsOf(SecretRows()), harmless = GlobsOf(HarmlessRows());
  const Globs::Name name{.path = path, .directory = directory};
  if (harmless.Find(name)) return {};
  for (auto at = globs.Find(name); at; at = globs.Find(name, *at + 1)) {
    const SecretRow& row = SecretRows()[*at];
    if (row.pattern.ends_with('/') == directory && row.look != Look::kGit &&
        HoldsSecret(row, content)) {
      return row.reason;
    }
  }
  return {};
}

TEST(SecretFiles, AreHiddenByTheirNames) {
  for (const char* path : {".env",
                           "a/b/.env",
                           ".env.local",
                           ".env.production",
                           ".envrc",
                           ".ENV",
                           ".Env.Local",
                           "prod.env",
                           "a/Production.ENV",
                           ".netrc",
                           "_netrc",
                           ".pgpass",
                           ".git-credentials",
                           "store.p12",
                           "Store.PFX",
                           "a/release.jks",
                           "passwords.kdbx",
                           ".vault-token",
                           "x.tfstate",
                           "x.tfstate.backup",
                           ".aws/credentials",
                           "home/.aws/credentials",
                           ".htpasswd",
                           "config/master.key",
                           "application_default_credentials.json"}) {
    EXPECT_NE(Why(path, ""), "") << path;
  }
  for (const char* path : {".gnupg", "a/.azure", ".ssh", ".env.d", "a/.envs", ".env", "x/.aws/sso",
                           "gcloud/legacy_credentials"}) {
    EXPECT_NE(Why(path, "", true), "") << path;
  }
}

TEST(SecretFiles, AreNotHiddenWhereTheNameIsAnothersOrAnExample) {
  for (const char* path :
       {".env.example", "a/.env.sample", ".env.template", "example.env", "a/prod.sample.env",
        "template.env", "env", "environment.py", "x.env.js", ".envoy/x", "credentials",
        "aws/credentials", "readme.md", "p12", "sub.p12/x", ".gnupg", "package.json"}) {
    EXPECT_EQ(Why(path, kPem), "") << path;
  }
}

TEST(SecretFiles, OfCommonNamesAreHiddenByTheirContent) {
  struct Case {
    const char *path, *secret, *harmless;
  };
  for (const Case& each : {
           Case{"id_rsa", "-----BEGIN OPENSSH PRIVATE KEY-----", "ssh-rsa AAAA me@here"},
           Case{"id_ed25519_work", "-----BEGIN OPENSSH PRIVATE KEY-----", "a note"},
           Case{"server.pem", kPem.data(), "-----BEGIN CERTIFICATE-----"},
           Case{"SERVER.KEY", "-----BEGIN ENCRYPTED PRIVATE KEY-----", "PK\x03\x04 slides"},
           Case{"deploykey", "-----BEGIN OPENSSH PRIVATE KEY-----", "ssh-rsa AAAA me@here"},
           Case{"ci/server_key", kPem.data(), "a note"},
           Case{"Server-Key", kPem.data(), "a note"},
           Case{"private.key", kPem.data(), "a note"},
           Case{"privatekey", kPem.data(), "a note"},
           Case{"der.key", "\x30\x82\x04", "0 lines"},
           Case{"me.asc", "-----BEGIN PGP PRIVATE KEY BLOCK-----", "-----BEGIN PGP SIGNATURE-----"},
           Case{".npmrc", "//packages.example.org/:_authToken=npm_x", "save-exact=true"},
           Case{".npmrc", "_auth=abc", "registry=https://packages.example.org"},
           Case{".yarnrc.yml", "npmAuthToken: x", "nodeLinker: node-modules"},
           Case{".pypirc", "[pypi]\npassword = x", "[distutils]\nindex-servers = pypi"},
           Case{".docker/config.json", R"({"auths":{"h":{"auth":"eA=="}}})",
                R"({"auths":{"h":{}}})"},
           Case{".kube/config", "client-key-data: LS0", "apiVersion: v1\nkind: Config"},
           Case{"kubeconfig", "token: abc", "clusters: []"},
           Case{"my-service-account.json", R"({"private_key": "x"})", R"({"name": "x"})"},
           Case{"proj-0123456789ab.json", R"({"private_key": "x"})", R"({"name": "x"})"},
           Case{"prod.tfvars", "db_password = \"x\"", "region = \"eu\""},
           Case{"gh/hosts.yml", "oauth_token: x", "git_protocol: ssh"},
       }) {
    EXPECT_NE(Why(each.path, each.secret), "") << each.path << ": " << each.secret;
    EXPECT_EQ(Why(each.path, each.harmless), "") << each.path << ": " << each.harmless;
  }
}

TEST(SecretFiles, HaveAReasonEachAndNoRowTwice) {
  std::set<std::string_view> patterns;
  for (const auto rows : {SecretRows(), HarmlessRows()}) {
    for (const SecretRow& row : rows) {
      EXPECT_FALSE(row.reason.empty()) << row.pattern;
      EXPECT_EQ(row.words.empty(), row.look != Look::kWords && row.look != Look::kUnless)
          << row.pattern;
      EXPECT_TRUE(patterns.insert(row.pattern).second) << row.pattern << " stands there twice";
    }
  }
}

/// A large project has names by the hundred thousand; a row that every name has to be compared with
/// costs more than all others together.
TEST(SecretFiles, LetNearlyAllNamesPassWithoutAComparison) {
  const Globs globs = GlobsOf(SecretRows());
  for (const char* name : {"loop.cc", "index.js", "README.md", "test_x.py", "a", "file_12.txt"}) {
    EXPECT_FALSE(globs.Could(name, false)) << name;
  }
}

}  // namespace
}  // namespace igloo::environment

// Signatures by the caller's ssh-agent, and private keys that somebody names.

#include <unistd.h>

#include <algorithm>

#include "agent/grants/grant.h"
#include "agent/sockets/served_sockets.h"
#include "base/base64.h"
#include "base/file.h"
#include "base/text.h"

namespace igloo::agent {
namespace {

constexpr std::string_view kSocketName = "ssh-agent.sock";
constexpr std::size_t kMostPublicKey = 64U << 10;

std::string ShownKey(const SshKey& key) {
  return FingerprintOf(key) + (key.comment.empty() ? "" : " " + key.comment);
}

/// The keys that the filters name; each has to name one.
Result<std::vector<SshKey>> Chosen(const std::vector<SshKey>& keys,
                                   const std::vector<std::string>& filters) {
  if (filters.empty()) return keys;
  std::vector<SshKey> chosen;
  for (const std::string& filter : filters) {
    const std::size_t before = chosen.size();
    for (const SshKey& key : keys) {
      const bool named = key.comment == filter || FingerprintOf(key) == filter;
      if (named && std::ranges::find(chosen, key) == chosen.end()) chosen.push_back(key);
    }
    const bool known =
        chosen.size() > before || std::ranges::any_of(chosen, [&](const SshKey& key) {
          return key.comment == filter || FingerprintOf(key) == filter;
        });
    if (!known) {
      return Fail(Errc::kNotFound, "your ssh-agent has no key '" + Printable(Quoted(filter)) + "'",
                  "'ssh-add -l' shows the keys: name a fingerprint (SHA256:...) or a comment");
    }
  }
  return chosen;
}

/// Which hosts are known is nothing to change for a box.
void ShowKnownHosts(const GrantContext& context) {
  const std::string directory = context.caller.owner.home + "/.ssh";
  const std::string path = directory + "/known_hosts";
  const std::string real = RealPathOf(path);
  if (context.Shows(directory) || context.Shows(path)) return;
  if (TypeAt(real) != FileType::kFile) return;
  context.AddTree(real, path, sandbox::Access::kReadOnly, "hosts that your ssh knows");
}

void EnsureSshDirectory(const GrantContext& context) {
  const std::string path = context.caller.owner.home + "/.ssh";
  const bool there = std::ranges::any_of(context.box.mounts, [&](const Mount& each) {
    const auto* directory = std::get_if<sandbox::EmptyDirectory>(&each.entry);
    return directory != nullptr && directory->path == path;
  });
  if (!there && !context.Shows(path))
    context.Add(sandbox::EmptyDirectory{.path = path, .mode = 0700}, "");
}

/// A path as the caller writes it, without a link in it.
std::string Given(const GrantContext& context, const std::string& path) {
  return RealPathOf(path.starts_with('/') ? path : context.places.working + "/" + path);
}

/// What git is to sign with: the key itself ("key::ssh-ed25519 AAAA...") or a file that holds it.
std::string SigningKeyText(const GrantContext& context, std::string key) {
  if (key.starts_with("key::")) return key.substr(std::string_view("key::").size());
  if (key.starts_with("ssh-")) return key;
  if (key.starts_with("~/")) key = context.caller.owner.home + key.substr(1);
  const std::string file = key.ends_with(".pub") ? key : key + ".pub";
  return ReadFile(file, kMostPublicKey).value_or("");
}

/// Git inside signs commits as git outside does, if the key for that is granted.
void SetUpSigning(const GrantContext& context, const std::vector<SshKey>& keys) {
  const auto ask = [&](const char* key) { return ReadGitSetting(context.caller.owner.home, key); };
  if (ask("gpg.format") != "ssh") return;
  const std::string text = SigningKeyText(context, ask("user.signingkey"));
  const std::size_t space = std::min(text.find(' '), text.size());
  const std::string type = text.substr(0, space);
  const std::size_t begin = std::min(space + 1, text.size());
  const std::string base64 = text.substr(begin, text.find_first_of(" \n", begin) - begin);
  const auto blob = FromBase64(base64);
  if (!blob || std::ranges::find(keys, *blob, &SshKey::blob) == keys.end()) return;
  context.box.git_settings +=
      "[gpg]\n\tformat = ssh\n[user]\n\tsigningkey = " + GitQuoted("key::" + type + " " + base64) +
      "\n";
  if (ask("commit.gpgsign") == "true") context.box.git_settings += "[commit]\n\tgpgsign = true\n";
}

/// The box is useful without it.
void MissAgent(const GrantContext& context, const std::string& why) {
  context.Miss(Grant::kSshAgent, Error{Errc::kFailedPrecondition, why, {}, 0});
  if (context.request.asked.contains(Grant::kSshAgent)) {
    context.Remark("--with-ssh: " + why + ", so the box has none");
  }
}

}  // namespace

Result<void> GrantSsh(const GrantContext& context) {
  const std::string agent = context.Variable("SSH_AUTH_SOCK");
  if (agent.empty()) {
    MissAgent(context, "no ssh-agent runs (SSH_AUTH_SOCK is not set)");
    return {};
  }
  auto keys = context.caller.values ? ListSshKeys(agent) : Result<std::vector<SshKey>>();
  if (!keys) {
    MissAgent(context, "your ssh-agent cannot be used: " + keys.error().what);
    return {};
  }
  std::string shown = "the keys of your ssh-agent";
  if (context.caller.values) {
    IGLOO_ASSIGN(keys, Chosen(*keys, context.request.ssh_key_filters));
    shown.clear();
    for (const SshKey& key : *keys) shown += (shown.empty() ? "" : ", ") + ShownKey(key);
    if (shown.empty()) shown = "no key: your ssh-agent has none now, and later ones do not count";
  }
  SetUpSigning(context, *keys);
  const std::string path = context.places.own + "/" + std::string(kSocketName);
  context.box.served.push_back({.protocol = ServedSocket::Protocol::kSshAgent,
                                .path = path,
                                .upstream = agent,
                                .keys = *std::move(keys)});
  sandbox::HostNode node(path, InsidePath(kSocketName), std::string(RowOf(Grant::kSshAgent).risk));
  context.Add(std::move(node), "--with-ssh; igloo answers, and passes on what signs");
  context.Set("SSH_AUTH_SOCK", InsidePath(kSocketName));
  context.Show(Grant::kSshAgent, "signatures with " + shown);
  EnsureSshDirectory(context);
  ShowKnownHosts(context);
  return {};
}

Result<void> GrantSshKeys(const GrantContext& context) {
  const std::string directory = context.caller.owner.home + "/.ssh/";
  std::string config = "# Written by igloo for this box; yours is not in it.\n";
  EnsureSshDirectory(context);
  std::vector<std::string> names;
  for (const std::string& each : context.request.ssh_keys) {
    const std::string path = Given(context, each);
    if (TypeAt(path) != FileType::kFile || ::access(path.c_str(), R_OK) != 0) {
      return Fail(Errc::kNotFound,
                  "--ssh-key path does not exist or is not readable: " + Printable(Quoted(each)),
                  "name the file of a private key, such as ~/.ssh/id_ed25519");
    }
    const std::string name = each.substr(each.rfind('/') + 1);
    if (std::ranges::find(names, name) != names.end() || name == "config" ||
        name == "known_hosts" || name.find_first_of("\"\n") != std::string::npos) {
      return Fail(Errc::kInvalidArgument,
                  "two files cannot both be ~/.ssh/" + Printable(Quoted(name)) + " in the box",
                  "give the key another name");
    }
    names.push_back(name);
    context.AddTree(path, directory + name, sandbox::Access::kReadOnly, "--ssh-key");
    if (TypeAt(path + ".pub") == FileType::kFile) {
      context.AddTree(RealPathOf(path + ".pub"), directory + name + ".pub",
                      sandbox::Access::kReadOnly, "--ssh-key");
    }
    config += "IdentityFile \"~/.ssh/" + name + "\"\n";
    context.Show(Grant::kSshKey, each);
  }
  context.Add(sandbox::TextFile{.path = directory + "config", .content = config, .mode = 0600}, "");
  ShowKnownHosts(context);
  return {};
}

}  // namespace igloo::agent

#include "agent/claudebox/notice.h"

#include <fmt/format.h>

#include "agent/notice.h"

namespace igloo::agent::claudebox {
namespace {

/// What is missing by default; what the user asked for is not in the list.
std::string Restrictions(const Box& box) {
  const bool ssh = box.grants.contains(Grant::kSshAgent) || box.grants.contains(Grant::kSshKey);
  std::string text;
  if (!ssh) text += "- SSH keys (`~/.ssh`) and the ssh-agent\n";
  return text +
         "- GPG and age keys (`~/.gnupg`, `~/.config/age`)\n"
         "- cloud credentials (`~/.aws`, `~/.config/gcloud`, `~/.azure`)\n"
         "- Tailscale's state\n"
         "- other projects and files of the user's\n";
}

std::string SshLine(const Box& box) {
  if (box.grants.contains(Grant::kSshAgent)) {
    return "- SSH is on: the user forwards an ssh-agent. It signs with the user's keys; the keys "
           "themselves are not here.\n";
  }
  if (box.grants.contains(Grant::kSshKey)) {
    return "- SSH is on: the user put a key into `~/.ssh`.\n";
  }
  return "- There are no SSH keys: prefer HTTPS addresses.\n";
}

}  // namespace

std::string NoticeText(const Box& box) {
  return fmt::format(
      "# Sandbox Environment\n\n"
      "You run inside a sandbox that claudebox, a part of igloo, made for one project.\n\n"
      "- The project is `{}`. You can read and change it; it is the user's own directory.\n"
      "- `{}` is a directory of this sandbox and `/tmp` is memory: what you put there is gone when "
      "you end.\n"
      "- There is no root, no `sudo` and no Docker. Programs are read-only.\n"
      "- {}\n\n"
      "# Installing Tools\n\n"
      "- `command -v nix` says whether Nix is here. If it is: `nix shell nixpkgs#jq -c jq "
      "--version` "
      "runs one program, `nix shell nixpkgs#python3 nixpkgs#ripgrep` starts a shell with several, "
      "and `, jq --version` (comma) finds the package by itself where comma is installed.\n"
      "- Without Nix, install into the project or `~`: `npm install`, `pip install --user`.\n\n"
      "# Default Restrictions\n\n"
      "By default, these are not mounted, and the user may have customised it:\n\n{}\n"
      "Do not look for them. If you need one of them, say which, and ask the user to start you "
      "with "
      "it: `claudebox --help` lists what can be granted.\n\n"
      "# Git\n\n"
      "- Your identity is set (`user.name`, `user.email`), and `safe.directory` is `*`.\n"
      "{}"
      "- `.git/hooks` and `.git/config` are read-only, because the user's own git runs what they "
      "name.\n{}",
      box.project, box.home, NetworkLine(box.network), Restrictions(box), SshLine(box),
      GrantedLine(box));
}

}  // namespace igloo::agent::claudebox

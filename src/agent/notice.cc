#include "agent/notice.h"

#include <fmt/format.h>

namespace igloo::agent {

std::string NetworkLine(const network::Wanted& wanted) {
  switch (wanted.level) {
    case network::Level::kNone:
      return "There is no network.";
    case network::Level::kAllow:
      return "Only the hosts that the user allowed can be reached. A refusal says which rule would "
             "allow it: ask the user for `igloo net allow`.";
    case network::Level::kInternet:
      return "The internet can be reached. Private and local addresses cannot, not even this "
             "machine's own: ask the user for `--reach PORT`.";
    case network::Level::kHost:
      return "The network is the host's own.";
  }
  return {};
}

// An agent that is told that keys are missing would not use those that it has.
std::string GrantedLine(const Box& box) {
  if (box.grants.empty()) return {};
  std::string text =
      "- The user granted you the following, and it counts before what is said above:";
  for (const Grant grant : box.grants) {
    text += fmt::format(" `{}` ({});", RowOf(grant).option, RowOf(grant).shown);
  }
  text.back() = '.';
  return text + "\n";
}

std::string NoticeText(const Box& box) {
  if (box.notice) return box.notice(box);
  return fmt::format(
      "# Sandbox\n\n"
      "You run inside a sandbox that igloo made for one project.\n\n"
      "- The project is `{}`. You can read and change it; {}.\n"
      "- `{}` and `/tmp` are in memory and are gone when you end. Other projects and files of the "
      "user's are not here, and neither are `~/.ssh`, keys, cloud credentials or the user's shell "
      "settings. Do not look for them.\n"
      "- Programs are read-only. `Read-only file system` and `Permission denied` outside of the "
      "project mean that the sandbox refused it: do not try to get around it. There is no root, no "
      "`sudo` and no Docker.\n"
      "- {}\n"
      "- Git works: commit as usual. `.git/hooks` and `.git/config` are read-only, because the "
      "user's own git runs what they name. To push, prefer HTTPS, or ask the user.\n"
      "- A file that exists but cannot be read holds secrets, and is hidden on purpose: ask the "
      "user.\n"
      "- If you need something that is missing, say exactly what, and ask the user to start you "
      "with it: `igloo agent --help` lists what can be granted.\n{}",
      box.project,
      box.changes.empty()
          ? "it is the user's own directory"
          : "it is a copy, and the user decides later which of your changes to take",
      box.home, NetworkLine(box.network), GrantedLine(box));
}

}  // namespace igloo::agent

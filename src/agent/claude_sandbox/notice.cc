#include "agent/claude_sandbox/notice.h"

#include <fmt/format.h>

#include "agent/notice.h"

namespace igloo::agent::claude_sandbox {
namespace {

constexpr std::string_view kUsual =
    "- As far as this machine has them, you have the user's git and `gh` settings and `~/.ssh` "
    "(read-only), the ssh-agent, the display, sound, GPUs, the system's D-Bus, Chromium and Nix. "
    "Use them for what the user asked you to do, and for nothing else.\n";
constexpr std::string_view kMinimal =
    "- The user's git and `gh` settings, `~/.ssh`, keys, displays and sound are not here. Do not "
    "look for them. To push, prefer HTTPS, or ask the user.\n";

std::string Text(const Box& box, std::string_view rights) {
  return fmt::format(
      "# Sandbox\n\n"
      "You run inside a sandbox that claude-sandbox, a part of igloo, made for one project "
      "(`CLAUDE_SANDBOX=1`).\n\n"
      "- The project is `{}`. You can read and change it; it is the user's own directory.\n"
      "- `~/.local/bin`, `~/.local/lib`, `~/.local/share` and `/tmp` are this project's: what you "
      "put there is there again next time. The rest of `{}` is gone when you end. The user's other "
      "projects and files are not here.\n"
      "- Programs are read-only. There is no root, no `sudo` and no Docker.\n"
      "- {}\n{}"
      "- `.git/hooks` and `.git/config` are read-only, because the user's own git runs what they "
      "name.\n"
      "- If you need something that is missing, say exactly what, and ask the user: "
      "`claude-sandbox --help`.\n{}",
      box.project, box.home, NetworkLine(box.network), rights, GrantedLine(box));
}

}  // namespace

std::string NoticeText(const Box& box) { return Text(box, kUsual); }
std::string MinimalNoticeText(const Box& box) { return Text(box, kMinimal); }

}  // namespace igloo::agent::claude_sandbox

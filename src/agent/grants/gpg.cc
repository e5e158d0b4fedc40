// Signatures by the caller's gpg-agent.

#include <sys/wait.h>

#include "agent/grants/grant.h"
#include "base/file.h"
#include "base/spawn.h"
#include "base/text.h"

namespace igloo::agent {
namespace {

constexpr std::string_view kSocketName = "gpg-agent.sock";
constexpr std::size_t kMostOutput = 64U << 10;

/// A directory of GnuPG's, as gpgconf tells it; empty: it does not.
std::string AskGpgconf(const GrantContext& context, const std::string& what) {
  const std::string program = context.caller.find("gpgconf");
  auto pipe = MakePipe();
  if (program.empty() || !pipe) return {};
  std::vector<std::string> env = {"HOME=" + context.caller.owner.home, "PATH=/usr/bin:/bin"};
  if (const std::string home = context.Variable("GNUPGHOME"); !home.empty()) {
    env.push_back("GNUPGHOME=" + home);
  }
  auto child = Spawn({.program = program,
                      .argv = {"gpgconf", "--list-dirs", what},
                      .env = std::move(env),
                      .fds = {{pipe->second.get(), 1}}});
  if (!child) return {};
  pipe->second.Reset();
  const std::string text = ReadAll(pipe->first.get(), kMostOutput).value_or("");
  const auto status = child->Wait();
  const bool fine = status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0;
  return fine ? text.substr(0, text.find('\n')) : std::string();
}

}  // namespace

Result<void> GrantGpg(const GrantContext& context) {
  // The agent keeps more from whoever comes by this socket, whatever igloo lets pass.
  const std::string socket = AskGpgconf(context, "agent-extra-socket");
  const std::string home = AskGpgconf(context, "homedir");
  if (TypeAt(socket) != FileType::kSocket) {
    context.Remark(
        "--with-gpg: no gpg-agent runs with its extra socket, so the box has none; "
        "'gpgconf --launch gpg-agent' starts it");
    return {};
  }
  const std::string keys = RealPathOf(home + "/pubring.kbx");
  if (TypeAt(keys) != FileType::kFile) {
    return Fail(Errc::kFailedPrecondition,
                "'--with-gpg' finds no public keys in '" + Printable(home) + "/pubring.kbx'",
                "gpg --list-keys shows where yours are; keyboxd is not supported");
  }
  const std::string path = context.places.own + "/" + std::string(kSocketName);
  const std::string inside = context.caller.owner.home + "/.gnupg";
  context.box.served.push_back(
      {.protocol = ServedSocket::Protocol::kGpgAgent, .path = path, .upstream = socket});
  context.Add(sandbox::EmptyDirectory{.path = inside, .mode = 0700}, "");
  context.Add(
      sandbox::HostNode(path, inside + "/S.gpg-agent", std::string(RowOf(Grant::kGpg).risk)),
      "--with-gpg; igloo answers, and passes on what signs");
  context.AddTree(keys, inside + "/pubring.kbx", sandbox::Access::kReadOnly, "your public keys");
  context.Add(sandbox::TextFile{.path = inside + "/gpg.conf",
                                .content = "no-autostart\ntrust-model always\n",
                                .mode = 0600},
              "");
  context.Set("GNUPGHOME", inside);
  context.Show(Grant::kGpg, "signatures by the gpg-agent of " + home);

  const auto ask = [&](const char* key) { return ReadGitSetting(context.caller.owner.home, key); };
  const std::string format = ask("gpg.format");
  if (!format.empty() && format != "openpgp") return {};
  const std::string key = ask("user.signingkey");
  if (!key.empty()) context.box.git_settings += "[user]\n\tsigningkey = " + GitQuoted(key) + "\n";
  if (ask("commit.gpgsign") == "true") context.box.git_settings += "[commit]\n\tgpgsign = true\n";
  return {};
}

}  // namespace igloo::agent

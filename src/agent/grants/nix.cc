// The host's Nix: its store as it lives, and its daemon for whoever it does not trust.

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "agent/grants/grant.h"
#include "agent/sockets/nix_trust.h"
#include "agent/sockets/served_sockets.h"
#include "base/file.h"
#include "base/spawn.h"
#include "base/text.h"
#include "sandbox/path.h"

namespace igloo::agent {
namespace {

constexpr std::string_view kSocketName = "nix-daemon.sock";
constexpr std::size_t kMostSettings = 256U << 10;

/// Of the host's settings, those that hold no secret and let nobody do more.
constexpr std::array<std::string_view, 8> kHarmless = {
    "experimental-features", "substituters", "trusted-public-keys", "trusted-substituters",
    "extra-platforms",       "system",       "connect-timeout",     "warn-dirty"};

std::string Trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

std::string SettingsInside(const std::string& host) {
  std::string text = "# Written by igloo for this box, from what is harmless in the host's.\n";
  std::size_t at = 0;
  while (at < host.size()) {
    const std::size_t end = std::min(host.find('\n', at), host.size());
    const std::string_view line = std::string_view(host).substr(at, end - at);
    at = end + 1;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string name = Trimmed(line.substr(0, equals));
    const std::string plain = name.starts_with("extra-") && name != "extra-platforms"
                                  ? name.substr(std::string_view("extra-").size())
                                  : name;
    if (std::ranges::find(kHarmless, plain) == kHarmless.end()) continue;
    text += name + " = " + Trimmed(line.substr(equals + 1)) + "\n";
  }
  return text + "extra-experimental-features = nix-command flakes\n";
}

Result<NixTrust> TrustOfDaemon(const std::string& socket) {
  IGLOO_ASSIGN(const UniqueFd daemon, ConnectTo(socket));
  return AskNixTrust(daemon.get(), daemon.get());
}

/// Whether a process of igloo's own, which igloo tells to trust nobody, says that it does not.
Result<NixTrust> TrustOfRelay(const std::string& nix) {
  IGLOO_ASSIGN(const FdPair ends, MakeSocketPair(SOCK_STREAM));
  IGLOO_ASSIGN(const Child relay, StartNixRelay(nix, ends.second.get()));
  return AskNixTrust(ends.first.get(), ends.first.get());
}

Result<std::string> FindNix(const GrantContext& context) {
  const std::string nix = RealPathOf(context.caller.find("nix"));
  if (nix.empty() || TypeAt(context.places.nix_store) != FileType::kDirectory ||
      TypeAt(context.places.nix_socket) != FileType::kSocket) {
    return Fail(Errc::kFailedPrecondition,
                "'--nix' finds no Nix with a daemon: it takes 'nix' on PATH, '" +
                    context.places.nix_store + "' and '" + context.places.nix_socket + "'",
                "install Nix for several users, or leave out --nix");
  }
  return nix;
}

/// The socket that the box gets. SECURITY: a trusted user's is as good as root: such a user can
/// switch the sandbox of builds off. What the daemon thinks of igloo counts for the box as well.
Result<std::string> SocketFor(const GrantContext& context, const std::string& nix) {
  if (context.caller.root) {
    const auto trust = TrustOfRelay(nix);
    if (!trust || *trust != NixTrust::kUntrusted) {
      return Fail(
          Errc::kFailedPrecondition,
          "'--nix' would make the box root: the Nix daemon trusts root, and this Nix has no "
          "daemon that can be told not to",
          "start igloo as an ordinary user, or install Nix 2.18 or newer");
    }
    const std::string path = context.places.own + "/" + std::string(kSocketName);
    context.box.served.push_back(
        {.protocol = ServedSocket::Protocol::kNixDaemon, .path = path, .upstream = nix});
    return path;
  }
  IGLOO_ASSIGN(const NixTrust trust, TrustOfDaemon(context.places.nix_socket));
  if (trust == NixTrust::kUntrusted) return context.places.nix_socket;
  return Fail(Errc::kFailedPrecondition,
              trust == NixTrust::kTrusted
                  ? std::string("'--nix' would make the box root: the Nix daemon trusts you")
                  : std::string("'--nix' cannot find out whether the Nix daemon trusts you, which "
                                "would make the box root"),
              trust == NixTrust::kTrusted
                  ? "remove yourself from trusted-users in nix.conf, and restart the daemon"
                  : "update its Nix to 2.18 or newer");
}

}  // namespace

Result<void> GrantNix(const GrantContext& context) {
  IGLOO_ASSIGN(const std::string nix, FindNix(context));
  IGLOO_ASSIGN(const std::string socket, SocketFor(context, nix));
  // Not a view: what is built or fetched from now on is to be seen as well. It is nobody's own, so
  // no owner is mapped.
  context.Add(sandbox::HostTree{.source = context.places.nix_store,
                                .target = "/nix/store",
                                .covering = sandbox::Covering::kIntended},
              "--nix; the store as it lives");
  context.AddSocket(Grant::kNix, socket, "/nix/var/nix/daemon-socket/socket");
  context.Add(
      sandbox::TextFile{.path = InsidePath("nix/nix.conf"),
                        .content = SettingsInside(
                            ReadFile(context.places.nix_settings, kMostSettings).value_or(""))},
      "");
  context.Set("NIX_REMOTE", "daemon");
  context.Set("NIX_CONF_DIR", InsidePath("nix"));
  if (sandbox::IsWithin(nix, "/nix/store")) context.PrependPath(nix.substr(0, nix.rfind('/')));
  context.Show(Grant::kNix, "the store, read-only, and the daemon, which does not trust the box");
  using network::Level;
  const Level level = context.box.network.level;
  if (level == Level::kNone || level == Level::kAllow) {
    context.Remark(
        "--nix: the daemon downloads what a build names, so code reaches the network "
        "through it although the box itself may not");
  }
  return {};
}

}  // namespace igloo::agent

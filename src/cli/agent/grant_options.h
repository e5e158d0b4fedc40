#pragma once

#include <array>

#include "agent/grants.h"
#include "cli/args.h"

namespace igloo::cli {

/// The options that give a box more than its walls allow: a row for each grant, in their order.
inline constexpr std::array kGrantFlags = {
    Flag{"--with-ssh", "", "let it sign with the keys of your ssh-agent, which stay outside"},
    Flag{.name = "--ssh-key-filter",
         .value = "KEY",
         .description = "with --with-ssh: only this key (SHA256:... or comment); again for more",
         .times = Times::kOften},
    Flag{.name = "--ssh-key",
         .value = "PATH",
         .description = "show this private key and its .pub in ~/.ssh; again for more",
         .values = Values::kFile,
         .times = Times::kOften},
    Flag{"--gh-token", "", "pass GH_TOKEN, GITHUB_TOKEN or what 'gh auth token' prints"},
    Flag{"--with-gpg", "", "let it sign with your gpg-agent; it cannot decrypt"},
    Flag{"--x11", "", "show the socket of your X11 display"},
    Flag{"--wayland", "", "show the socket of your Wayland display"},
    Flag{"--audio", "", "show the sockets of PipeWire and PulseAudio"},
    Flag{"--gpu", "", "show the devices of your GPUs"},
    Flag{"--dbus-system", "", "show the socket of the system's D-Bus, never your session's"},
    Flag{"--browser", "", "let it start Chromium, with a profile for this project"},
    Flag{"--nix", "", "show the Nix store and the socket of its daemon"},
    Flag{.name = "--mount",
         .value = "DIR[:ro|:rw]",
         .description = "show this directory too, to read (default) or to write; again for more",
         .values = Values::kDirectory,
         .times = Times::kOften},
};

/// A command's own options with those of grants behind them.
template <std::size_t kSize>
constexpr std::array<Flag, kSize + kGrantFlags.size()> WithGrants(const Flag (&own)[kSize]) {
  std::array<Flag, kSize + kGrantFlags.size()> all{};
  for (std::size_t i = 0; i < kSize; ++i) all[i] = own[i];
  for (std::size_t i = 0; i < kGrantFlags.size(); ++i) all[kSize + i] = kGrantFlags[i];
  return all;
}

/// What a command line asks for.
agent::GrantRequest ReadGrants(const ParsedArgs& args);

}  // namespace igloo::cli

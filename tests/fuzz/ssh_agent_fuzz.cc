#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/sockets/ssh_filter.h"

using namespace igloo::agent;

/// What a box says to its ssh-agent and what that answers, in turns: nothing but requests for the
/// list, for signatures with the granted key and for bindings goes on, and every answer that comes
/// back is whole.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string_view left(reinterpret_cast<const char*>(bytes), size);
  std::string blob;
  PutSshText(blob, "ssh-ed25519");
  PutSshText(blob, "granted");
  SshFilter filter({{blob, "granted"}}, [](std::string_view, std::string_view) {});
  std::string to_server, to_client;
  for (bool client = true; !left.empty(); client = !client) {
    const std::size_t piece = 1 + static_cast<unsigned char>(left.front());
    const std::string_view now = left.substr(1, piece);
    left.remove_prefix(std::min(left.size(), 1 + piece));
    const auto passed = client ? filter.FromClient(now) : filter.FromServer(now);
    if (!passed) break;
    to_server += passed->to_server;
    to_client += passed->to_client;
  }
  while (!to_server.empty()) {
    const auto message = TakeSshFrame(to_server);
    if (!message || !*message) __builtin_trap();
    const auto type = static_cast<std::uint8_t>((*message)->front());
    const bool list = type == ssh_message::kList && (*message)->size() == 1;
    const bool sign = KeyOfSignRequest(**message) == blob;
    const bool bind = ExtensionOf(**message) == "session-bind@openssh.com";
    if (!list && !sign && !bind) __builtin_trap();
  }
  while (!to_client.empty()) {
    const auto message = TakeSshFrame(to_client);
    if (!message || !*message) __builtin_trap();
    if ((*message)->front() != ssh_message::kKeys) continue;
    const auto keys = ParseSshKeys(**message);
    if (!keys) __builtin_trap();
    for (const SshKey& key : *keys) {
      if (key.blob != blob) __builtin_trap();
    }
  }
  return 0;
}

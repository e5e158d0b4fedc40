#include "bench/walls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <sstream>

namespace igloo::bench {
namespace {

constexpr std::array<std::string_view, 7> kNamespaces = {"user", "pid", "net",   "mnt",
                                                         "ipc",  "uts", "cgroup"};

/// A file that every Debian machine has and no sandbox needs.
constexpr const char* kScript =
    "cd /proc/self/ns && for each in user pid net mnt ipc uts cgroup; do readlink $each; done; "
    "while read -r key value rest; do case $key in "
    "Seccomp:|NoNewPrivs:|CapEff:|CapBnd:) echo $key $value;; esac; done </proc/self/status; "
    "test -w /usr || echo usr-read-only; "
    "test -r /var/lib/dpkg/status || echo host-hidden; exit 0";

bool Has(const std::string& text, const std::string& line) {
  return ("\n" + text).contains("\n" + line + "\n");
}

}  // namespace

Words ProbeWords() { return {"/bin/sh", "-c", kScript}; }

Walls ReadWalls(const std::string& printed, const std::string& host) {
  Walls walls{.filter = Has(printed, "Seccomp: 2"),
              .no_new_privileges = !Has(printed, "NoNewPrivs: 0"),
              .no_capabilities = Has(printed, "CapEff: 0000000000000000") &&
                                 Has(printed, "CapBnd: 0000000000000000"),
              .usr_read_only = Has(printed, "usr-read-only"),
              .host_hidden = Has(printed, "host-hidden")};
  std::istringstream lines(host);
  for (std::string line; std::getline(lines, line);) {
    // "net:[4026531840]": the same text inside means the same namespace.
    const std::size_t colon = line.find(":[");
    if (colon != std::string::npos && Has(printed, line)) {
      walls.shared.push_back(line.substr(0, colon));
    }
  }
  return walls;
}

std::string Walls::Describe() const {
  std::vector<std::string> lacks;
  if (!filter) lacks.emplace_back("no filter");
  if (!no_capabilities) lacks.emplace_back("all capabilities of its namespaces");
  if (!no_new_privileges) lacks.emplace_back("set-uid programs work");
  if (!usr_read_only) lacks.emplace_back("/usr is writable");
  if (!host_hidden) lacks.emplace_back("the host's files can be read");
  std::string text =
      fmt::format("{} of {} namespaces", kNamespaces.size() - shared.size(), kNamespaces.size());
  if (!shared.empty()) text += fmt::format(" (shares {})", fmt::join(shared, ", "));
  return lacks.empty() ? text + ", complete" : fmt::format("{}; {}", text, fmt::join(lacks, ", "));
}

std::vector<Inspected> InspectPeers(Ground& ground) {
  const auto host = RunSpawned({ProbeWords()});
  std::vector<Inspected> out;
  for (const Peer& peer : Peers()) {
    Inspected& row = out.emplace_back(Inspected{.key = std::string(peer.key),
                                                .name = std::string(peer.name),
                                                .note = std::string(peer.note)});
    const std::string program = FindProgram(peer, ground);
    row.absent = program.empty();
    if (row.absent) {
      row.failure = "not installed; get it with: " + std::string(peer.install);
      continue;
    }
    if (const auto version = RunSpawned({{program, "--version"}})) {
      row.version = FirstLine(version->output);
    }
    const auto command = peer.command(program, ground, ProbeWords());
    const auto inside =
        command ? RunSpawned(*command) : Result<ProcessRun>(std::unexpected(command.error()));
    if (inside && host) {
      row.walls = ReadWalls(inside->output, host->output);
    } else {
      row.failure = inside ? host.error().what : inside.error().what;
    }
  }
  return out;
}

}  // namespace igloo::bench

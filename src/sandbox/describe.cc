#include <fmt/format.h>

#include "base/overloaded.h"
#include "base/text.h"
#include "sandbox/plan.h"

namespace igloo::sandbox {
namespace {

std::string Show(const Capacity& capacity) {
  return HumanBytes(capacity.bytes) +
         (capacity.inodes ? fmt::format(", {} inodes", *capacity.inodes) : ", inodes not limited");
}

std::string ShowBind(const step::Bind& bind) {
  return fmt::format(
      "{:<10} {} <- {}{}", bind.access == Access::kReadOnly ? "read-only" : "writable",
      Printable(bind.target), Printable(bind.source),
      !bind.granted.empty() ? (bind.device ? " (device, granted)" : " (socket, granted)")
      : bind.device         ? " (device)"
      : bind.host_inodes    ? " (the host's inodes: its use of these files can be watched)"
                            : "");
}

std::string Show(const Step& step) {
  return std::visit(
      Overloaded{
          [](const step::Root& s) {
            return fmt::format("{:<10} / (memory, {})", "root", Show(s.capacity));
          },
          [](const step::Directory& s) {
            return fmt::format("{:<10} {}", "directory", Printable(s.path));
          },
          [](const step::Symlink& s) {
            return fmt::format("{:<10} {} -> {}", "link", Printable(s.path),
                               Printable(s.points_to));
          },
          [](const step::File& s) {
            return fmt::format("{:<10} {} ({} bytes)", "file", Printable(s.path), s.content.size());
          },
          [](const step::NamedPipe& s) {
            return fmt::format("{:<10} {} (in the place of a file that igloo puts there)", "pipe",
                               Printable(s.path));
          },
          [](const step::Bind& s) { return ShowBind(s); },
          [](const step::Tmpfs& s) {
            return fmt::format("{:<10} {} ({}{})", "memory", Printable(s.target), Show(s.capacity),
                               s.execution == Execution::kForbidden ? ", no programs" : "");
          },
          [](const step::Overlay& s) {
            if (s.access == Access::kReadOnly) {
              return fmt::format("{:<10} {} <- {} (a view: own inodes, no sockets)", "read-only",
                                 Printable(s.target), Printable(s.source));
            }
            const std::string changes =
                s.keeps_changes ? "changes are kept"
                                : fmt::format("changes stay in memory, {}", Show(s.capacity));
            return fmt::format("{:<10} {} <- {} ({})", "overlay", Printable(s.target),
                               Printable(s.source), changes);
          },
          [](const step::Base& s) {
            return fmt::format(
                "{:<10} {} (own inodes, no sockets; only what follows of it is shown)", "view",
                Printable(s.source));
          },
          [](const step::FromBase& s) {
            return fmt::format("{:<10} {} <- {} of that view", "read-only", Printable(s.target),
                               Printable(s.path));
          },
          [](const step::Copy& s) {
            return fmt::format("{:<10} {} <- {}", "copy", Printable(s.target), Printable(s.source));
          },
          [](const step::Proc& s) { return fmt::format("{:<10} {}", "proc", Printable(s.target)); },
          [](const step::Mask& s) { return fmt::format("{:<10} {}", "hide", Printable(s.target)); },
          [](const step::Hide& s) {
            return fmt::format("{:<10} {} ({})", "hide", Printable(s.target), Printable(s.why));
          },
          [](const step::ReadOnly& s) {
            return fmt::format("{:<10} {}{}", "freeze", Printable(s.target),
                               s.over ? " (for all but igloo)" : "");
          },
          [](const step::EnterRoot&) { return std::string("enter the root, drop the host's"); },
          [](const step::SealRoot&) { return std::string("make the root read-only"); },
          [](const step::PrivateNetwork&) {
            return std::string("private network: loopback and nothing else");
          },
          [](const step::Edge& s) {
            return fmt::format("{:<10} eth0, {}, to a network of its own with the gateway {}",
                               "device", Printable(s.inside), Printable(s.gateway));
          },
          [](const step::Closed& s) {
            return fmt::format("{:<10} {}", "close", Printable(s.network));
          },
          [](const step::Resolver& s) {
            return fmt::format("{:<10} questions for names to {}", "let pass",
                               Printable(s.address));
          },
          [](const step::Hostname& s) {
            return fmt::format("{:<10} {}", "hostname", Printable(s.name));
          },
          [](const step::NoMoreNamespaces&) {
            return std::string("forbid further user namespaces");
          },
          [](const step::Listen& s) {
            return fmt::format("{:<10} 127.0.0.1:{} inside, socket handed to igloo", "listen",
                               s.port);
          },
          [](const step::Sockets& s) {
            return fmt::format("{:<10} {} made inside, handed to igloo", "sockets", s.count);
          },
          [](const step::HandOut& s) {
            return fmt::format("{:<10} {} to igloo, to {}", "hand out", Printable(s.path),
                               s.kept ? "put a file there" : "read what is left there");
          },
          [](const step::BoundPrivileges& s) {
            return std::string(s.raw_sockets ? "keep CAP_NET_RAW, " : "") +
                   "empty the bounding set, lock securebits, set no_new_privs";
          },
          [](const step::DropPrivileges& s) {
            return std::string("drop every capability") +
                   (s.raw_sockets ? " but CAP_NET_RAW, which counts for its own network" : "");
          },
          [](const step::StartInit&) { return std::string("start igloo-init"); },
      },
      step);
}

std::string_view Name(PathRight right) {
  switch (right) {
    case PathRight::kRead:
      return "read";
    case PathRight::kReadWrite:
      return "write";
    case PathRight::kDevice:
      return "device";
  }
  return "?";
}

std::string_view Name(Seccomp seccomp) {
  switch (seccomp) {
    case Seccomp::kDefault:
      return "default";
    case Seccomp::kDebug:
      return "debug (ptrace allowed)";
    case Seccomp::kRawSockets:
      return "raw sockets (and packet sockets allowed)";
  }
  return "?";
}

void ShowPayload(const Payload& payload, std::string& out) {
  out += "payload\n";
  out += "  run        ";
  for (const std::string& arg : payload.argv) out += ShellQuote(Printable(arg)) + " ";
  out.back() = '\n';
  out += fmt::format("  in         {}\n", Printable(payload.cwd));
  out += "  variables  ";
  for (const std::string& variable : payload.env) out += ShellQuote(Printable(variable)) + " ";
  out.back() = '\n';
  out += payload.time_ms == 0
             ? std::string("  time       not limited\n")
             : fmt::format("  time       {} s, then interrupt, {} ms later kill\n",
                           static_cast<double>(payload.time_ms) / 1000.0, payload.grace_ms);
  out += payload.memory_bytes == 0
             ? std::string("  memory     not limited\n")
             : fmt::format("  memory     {} in all\n", HumanBytes(payload.memory_bytes));
  if (payload.millicpus != 0) {
    out += fmt::format("  cpus       {:g} in all, where cgroups limit processors\n",
                       static_cast<double>(payload.millicpus) / 1000.0);
  }
  out += "  limits     ";
  for (const ResourceLimit& limit : payload.limits) {
    out += fmt::format("{}={} ", limit.name, limit.value);
  }
  out.back() = '\n';
  for (const PathRule& rule : payload.paths) {
    out += fmt::format("  landlock   {} {}\n", Name(rule.right), Printable(rule.path));
  }
  out += "  keyring    fresh\n";
  if (payload.terminal == Terminal::kOwn) {
    out += "  terminal   one of its own, relayed by igloo\n";
  }
  out += fmt::format("  seccomp    {}\n", Name(payload.seccomp));
}

void ShowNetwork(const ConnectedNetwork& network, std::string& out) {
  out += fmt::format("network\n  {:<10} {}\n", "tier", Printable(network.tier));
  for (const std::string& rule : network.rules) {
    const bool denies = rule.starts_with("deny ");
    out += fmt::format("  {:<10} {}\n", denies ? "deny" : "allow",
                       Printable(denies ? std::string_view(rule).substr(5) : rule));
  }
  if (network.device) {
    out += fmt::format("  {:<10} eth0, also for programs that know no proxy; carried by {}\n",
                       "device", Printable(network.device->carrier));
  }
  for (const std::string& secret : network.secrets) {
    out += fmt::format("  {:<10} {}\n", "secret", Printable(secret));
  }
  for (const auto& port : network.publish) {
    out += fmt::format("  {:<10} 127.0.0.1:{} outside leads to 127.0.0.1:{} inside\n", "publish",
                       port.outside, port.inside);
  }
  for (const std::uint16_t port : network.reach) {
    out +=
        fmt::format("  {:<10} 127.0.0.1:{} inside leads to the same port outside\n", "reach", port);
  }
}

}  // namespace

std::string Describe(const Plan& plan) {
  std::string out;
  if (const auto* host = std::get_if<HostNetwork>(&plan.network)) {
    out += "WARNING: this sandbox shares the host's network: " + Printable(host->reason) + "\n";
  }
  if (HasRawSockets(plan.network)) {
    out +=
        "WARNING: code in this sandbox may make raw sockets: packets of its own making, and all "
        "that come; what is closed stays closed\n";
  }
  for (const auto* steps : {&plan.environment, &plan.run}) {
    for (const Step& step : *steps) {
      const auto* bind = std::get_if<step::Bind>(&step);
      if (bind == nullptr || bind->granted.empty()) continue;
      out += fmt::format("WARNING: code in this sandbox may use the host's {} '{}': {}\n",
                         bind->device ? "device" : "socket", Printable(bind->source),
                         Printable(bind->granted));
    }
  }
  const std::string why = NeedsStartersId(plan);
  out += fmt::format(
      "identity\n  uid {} gid {} inside; outside an unprivileged id: started by root, one of its "
      "own; in a server of a user with subordinate ids {}; else the caller's own\n",
      plan.identity.uid, plan.identity.gid,
      why.empty() ? "one of these" : "the caller's own, because " + why);
  out += "namespaces\n  user mount pid ipc uts cgroup";
  out += std::holds_alternative<HostNetwork>(plan.network) ? "\n" : " net\n";
  if (const auto* connected = std::get_if<ConnectedNetwork>(&plan.network)) {
    ShowNetwork(*connected, out);
  }
  out += "environment\n";
  for (const Step& step : plan.environment) out += "  " + Show(step) + "\n";
  out += "every sandbox of it\n";
  for (const Step& step : plan.fresh) out += "  " + Show(step) + "\n";
  out += "this run\n";
  for (const Step& step : plan.run) out += "  " + Show(step) + "\n";
  ShowPayload(plan.payload, out);
  return out;
}

const Step* StepAt(const Plan& plan, std::size_t index) {
  for (const auto* steps : {&plan.environment, &plan.fresh, &plan.run}) {
    if (index < steps->size()) return &(*steps)[index];
    index -= steps->size();
  }
  return nullptr;
}

std::string DescribeStep(const Step& step) { return Show(step); }

}  // namespace igloo::sandbox

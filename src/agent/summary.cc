#include "agent/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/overloaded.h"
#include "base/text.h"
#include "sandbox/entry.h"
#include "sandbox/path.h"

namespace igloo::agent {
namespace {

using Kind = SummaryRow::Kind;

/// Of the user's home, what people ask about first. It is only said of those that are there.
constexpr std::array<std::string_view, 18> kMissed = {".ssh",
                                                      ".gnupg",
                                                      ".aws",
                                                      ".azure",
                                                      ".config/gcloud",
                                                      ".config/gh",
                                                      ".kube",
                                                      ".docker",
                                                      ".netrc",
                                                      ".npmrc",
                                                      ".pypirc",
                                                      ".git-credentials",
                                                      ".age",
                                                      ".config/age",
                                                      ".config/sops",
                                                      ".config/tailscale",
                                                      ".password-store",
                                                      ".bash_history"};

constexpr std::size_t kShownHead = 7, kShownTail = 4;

std::string ReasonOf(const Box& box, const std::string& target) {
  if (target == box.project) {
    return box.changes.empty() ? "the project" : "a copy of the project; its changes are kept";
  }
  if (box.repository && target == box.repository->path) {
    return "a copy of the repository; commits in it are kept";
  }
  if (target == box.home) return "its home: copies of the agent's files, gone when it ends";
  const auto mount = std::ranges::find_if(box.mounts, [&](const Mount& each) {
    return sandbox::IsMount(each.entry) && sandbox::TargetOf(each.entry) == target;
  });
  return mount == box.mounts.end() ? std::string() : mount->reason;
}

SummarySection Mounts(const Box& box, const sandbox::Plan& plan) {
  SummarySection section{"Files", {}};
  const auto add = [&](std::string label, const std::string& target, Kind kind) {
    section.rows.push_back({std::move(label), Printable(target), ReasonOf(box, target), kind});
  };
  for (const sandbox::Step& step : plan.run) {
    std::visit(Overloaded{
                   [&](const sandbox::step::Bind& s) {
                     // Where the changes of the copy below are kept: seen by nobody inside.
                     if (s.target == sandbox::kChangesPlace) return;
                     const bool write = s.access == sandbox::Access::kReadWrite;
                     add(!s.granted.empty() ? "use"
                         : write            ? "write"
                                            : "read",
                         s.target, write ? Kind::kWritable : Kind::kPlain);
                   },
                   [&](const sandbox::step::Overlay& s) {
                     const bool write = s.access == sandbox::Access::kReadWrite;
                     add(write ? "copy" : "read", s.target, Kind::kPlain);
                   },
                   [&](const sandbox::step::Hide& s) {
                     section.rows.push_back({"hidden", Printable(s.target), s.why, Kind::kMissing});
                   },
                   [](const auto&) {},
               },
               step);
  }
  std::string memory;
  for (const auto* steps : {&plan.fresh, &plan.run}) {
    for (const sandbox::Step& step : *steps) {
      const auto* tmpfs = std::get_if<sandbox::step::Tmpfs>(&step);
      if (tmpfs != nullptr) memory += (memory.empty() ? "" : ", ") + Printable(tmpfs->target);
    }
  }
  section.rows.push_back({"memory", memory, "empty at the start, gone at the end"});
  return section;
}

std::string_view Title(Origin origin) {
  switch (origin) {
    case Origin::kIgloo:
      return "made by igloo";
    case Origin::kProfile:
      return "for the agent";
    case Origin::kCaller:
      return "yours";
    case Origin::kNamed:
      return "yours, named";
    case Origin::kFile:
      return "of your files";
    case Origin::kGranted:
      return "granted";
  }
  return "?";
}

constexpr std::array<Origin, 6> kOrigins = {Origin::kIgloo, Origin::kProfile, Origin::kCaller,
                                            Origin::kNamed, Origin::kFile,    Origin::kGranted};

SummarySection Variables(const Box& box, const sandbox::Plan& plan) {
  SummarySection section{"Variables", {}};
  for (const Origin wanted : kOrigins) {
    for (const std::string& each : plan.payload.env) {
      const std::string name = each.substr(0, each.find('='));
      const std::string value = each.substr(std::min(name.size() + 1, each.size()));
      const auto known = std::ranges::find(box.variables, name, &Variable::name);
      if ((known == box.variables.end() ? Origin::kIgloo : known->origin) != wanted) continue;
      std::string shown = Printable(ShownValue(name, value));
      if (name == "PATH") std::ranges::replace(shown, ':', ' ');
      section.rows.push_back({std::string(Title(wanted)), Printable(name) + "=" + shown, {}});
    }
  }
  return section;
}

/// What the box has because somebody asked for it, with what that lets code do.
SummarySection Granted(const Box& box) {
  SummarySection section{"Granted", {}};
  for (const GrantedRight& each : box.granted) {
    const GrantRow& row = RowOf(each.grant);
    section.rows.push_back(
        {std::string(row.option), Printable(each.shows), std::string(row.risk), Kind::kGranted});
  }
  return section;
}

SummarySection NetworkOf(const sandbox::Plan& plan) {
  SummarySection section{"Network", {}};
  const auto add = [&](std::string label, std::string text) {
    section.rows.push_back({std::move(label), std::move(text), {}});
  };
  std::visit(Overloaded{
                 [&](const sandbox::NoNetwork&) { add("none", "nothing but its own loopback"); },
                 [&](const sandbox::HostNetwork&) {
                   section.rows.push_back({"host",
                                           "everything that this machine reaches, and all "
                                           "that listens on it",
                                           {},
                                           Kind::kWritable});
                 },
                 [&](const sandbox::ConnectedNetwork& network) {
                   add("tier", network.tier == "internet"
                                   ? "internet: no private address, and nothing of this machine "
                                     "(--reach PORT opens one port)"
                                   : Printable(network.tier));
                   for (const std::string& rule : network.rules) {
                     const bool denies = rule.starts_with("deny ");
                     add(denies ? "deny" : "allow", Printable(denies ? rule.substr(5) : rule));
                   }
                   for (const auto& secret : network.secrets) {
                     add("secret", Printable(secret) + "; the value stays outside");
                   }
                   for (const auto& port : network.publish) {
                     add("publish", fmt::format("127.0.0.1:{} leads to its port {}", port.outside,
                                                port.inside));
                   }
                   for (const auto port : network.reach) {
                     add("reach", fmt::format("its 127.0.0.1:{} leads to yours", port));
                   }
                 },
             },
             plan.network);
  return section;
}

/// Whether the plan shows a path of the host's, or something above it.
bool IsShown(const sandbox::Plan& plan, const std::string& path) {
  const auto shows = [&](const sandbox::Step& step) {
    const auto* bind = std::get_if<sandbox::step::Bind>(&step);
    const auto* overlay = std::get_if<sandbox::step::Overlay>(&step);
    return (bind != nullptr && sandbox::IsWithin(path, bind->source)) ||
           (overlay != nullptr && sandbox::IsWithin(path, overlay->source));
  };
  return std::ranges::any_of(plan.run, shows) || std::ranges::any_of(plan.environment, shows);
}

SummarySection Missing(const Box& box, const sandbox::Plan& plan,
                       const std::function<bool(const std::string&)>& exists) {
  SummarySection section{"Not there", {}};
  std::string names;
  for (const std::string_view each : kMissed) {
    const std::string path = box.home + "/" + std::string(each);
    if (exists(path) && !IsShown(plan, path)) names += " ~/" + std::string(each);
  }
  if (!names.empty()) section.rows.push_back({"yours", names.substr(1), {}, Kind::kMissing});
  section.rows.push_back({"also",
                          "your other files and projects, your programs that run, root, "
                          "Docker, desktop and keyring",
                          {},
                          Kind::kMissing});
  return section;
}

}  // namespace

std::string ShownValue(std::string_view name, std::string_view value) {
  constexpr std::array<std::string_view, 5> kSecret = {"KEY", "TOKEN", "SECRET", "PASSWORD",
                                                       "CREDENTIAL"};
  std::string upper(name);
  std::ranges::transform(upper, upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  const bool secret =
      std::ranges::any_of(kSecret, [&](std::string_view word) { return upper.contains(word); });
  if (!secret) return std::string(value);
  if (value.size() <= kShownHead + kShownTail) return "***";
  return std::string(value.substr(0, kShownHead)) + "..." +
         std::string(value.substr(value.size() - kShownTail));
}

std::vector<SummarySection> Summarize(const Box& box, const sandbox::Plan& plan,
                                      const std::function<bool(const std::string&)>& exists) {
  std::vector<SummarySection> sections;
  SummarySection what{"Box " + box.name, {}};
  std::string words;
  for (const std::string& word : plan.payload.argv) {
    words += (words.empty() ? "" : " ") +
             (word.contains('\n') ? std::string("'...'") : ShellQuote(Printable(word)));
  }
  what.rows.push_back({"runs", words, {}});
  what.rows.push_back({"in", Printable(plan.payload.cwd), {}});
  what.rows.push_back({"limits",
                       fmt::format("{} of memory, {} processes, {:g} processors",
                                   HumanBytes(plan.payload.memory_bytes), box.processes,
                                   static_cast<double>(plan.payload.millicpus) / 1000.0),
                       {}});
  for (const std::string& remark : box.remarks)
    what.rows.push_back({"note", remark, {}, Kind::kRemark});
  if (box.profile != nullptr && !box.profile->remark.empty()) {
    what.rows.push_back({"note", std::string(box.profile->remark), {}, Kind::kRemark});
  }
  sections.push_back(std::move(what));
  sections.push_back(Mounts(box, plan));
  sections.push_back(Variables(box, plan));
  if (!box.granted.empty()) sections.push_back(Granted(box));
  sections.push_back(NetworkOf(plan));
  sections.push_back(Missing(box, plan, exists));
  return sections;
}

}  // namespace igloo::agent

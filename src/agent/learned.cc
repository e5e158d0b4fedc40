#include "agent/learned.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "agent/registry.h"
#include "base/text.h"
#include "network/rule.h"
#include "sandbox/entry.h"
#include "sandbox/path.h"

namespace igloo::agent {
namespace {

using sandbox::IsWithin;

constexpr std::size_t kMostText = 512;

/// Below home: what logs in elsewhere, or what the user's own programs run.
constexpr std::array<std::string_view, 14> kKeys = {
    ".ssh",       ".gnupg",         ".aws",           ".azure", ".kube",           ".docker",
    ".config/gh", ".config/git",    ".config/gcloud", ".cargo", ".password-store", ".mozilla",
    ".local",     ".config/systemd"};

/// A text of TOML that holds nothing but printable characters.
std::string Text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : Printable(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string Comment(std::string_view text) { return "#   " + Printable(text) + "\n"; }

std::string Section(std::string_view title, const std::set<std::string>& rows) {
  if (rows.empty()) return {};
  std::string out = fmt::format("\n# {}\n", title);
  for (const std::string& each : rows) out += Comment(each);
  return out;
}

std::string List(std::string_view comment, std::string_view key,
                 const std::set<std::string>& rows) {
  if (rows.empty()) return {};
  std::string out = fmt::format("\n# {}\n{} = [\n", comment, key);
  for (const std::string& each : rows) out += "  " + Text(each) + ",\n";
  return out + "]\n";
}

bool HoldsKeys(std::string_view directory) {
  return std::ranges::find(kKeys, directory) != kKeys.end();
}

}  // namespace

void Learned::Put(std::set<std::string>& into, std::string text) {
  if (text.size() > kMostText) {
    ++more_;
  } else if (into.size() < kMostOfEach) {
    into.insert(std::move(text));
  } else if (!into.contains(text)) {
    ++more_;
  }
}

void Learned::Take(const network::Record& record) {
  if (record.event != network::Record::Event::kOpened || record.host.empty()) return;
  const bool six = record.host.contains(':') && !record.host.starts_with('[');
  const auto rule = network::ParseRule((six ? "[" + record.host + "]" : record.host) + ":" +
                                       std::to_string(record.port));
  if (rule) Put(reached_, network::ToText(*rule));
}

void Learned::Take(const FileUse& use) {
  if (!use.program.empty()) Put(programs_, use.program);
  const std::string path = PlainPath(use.path);
  const std::string below = DirectoryBelowHome(path, box_.home);
  const auto shown = [&](const Mount& mount) {
    const std::string target = sandbox::TargetOf(mount.entry);
    return target != box_.home && IsWithin(path, target);
  };
  const bool mounted = IsWithin(path, box_.project) || std::ranges::any_of(box_.mounts, shown);
  if (use.written && use.error == 0 && !below.empty() && !mounted) Put(home_, below);
  if (use.error != ENOENT || !places_.IsMissing(path)) return;
  Put(missing_, below.empty() ? path : box_.home + "/" + below);
}

std::string Learned::Toml(const std::string& agent, const BoxRefusals& refused) const {
  std::set<std::string> written = home_, secret;
  std::erase_if(written, [&](const std::string& each) {
    if (HoldsKeys(each)) secret.insert(each);
    return HoldsKeys(each);
  });
  const std::string& path = box_.program.path;
  std::string name = agent.empty() ? path.substr(path.rfind('/') + 1) : agent;
  // What TOML takes as it stands, and a box as its name.
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; }, '-');
  if (!CheckBoxName(name)) name = "mine";
  std::string out = fmt::format(
      "# What the box '{}' used. Code in it chose these names, so look at each line before you "
      "copy\n"
      "# it into your configuration. igloo itself never reads this file.\n"
      "[agents.{}]\n",
      refused.box, name);
  if (agent.empty()) out += "program = " + Text(box_.program.path) + "\n";
  out += List("It connected to these. --network allow opens what stands here.", "allow", reached_);
  out +=
      List("It wrote to these directories below home. A box with this line shares yours with you.",
           "home", written);
  out += Section("It also wrote to these, which hold keys or what your own programs run:", secret);
  out += Section("It asked for these, which you have and the box has not (--mount DIR shows one):",
                 missing_);
  out += Section("Programs that it used:", programs_);
  std::set<std::string> refusals;
  for (const Refusal& each : refused.list.rows()) {
    if (each.kind == RefusalKind::kMissing) continue;
    refusals.insert(fmt::format("{}: {}; {}", ToText(each.kind), each.what, each.remedy));
  }
  out += Section("It was refused:", refusals);
  if (more_ > 0) out += fmt::format("\n# {} more are not shown: there were too many.\n", more_);
  return out;
}

}  // namespace igloo::agent

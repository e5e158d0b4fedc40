#include "config/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "config/check_network.h"
#include "config/check_value.h"
#include "config/schema.h"
#include "config/toml.h"
#include "environment/names.h"

namespace igloo::config {
namespace {

constexpr std::string_view kEnvironments = "environments";
constexpr std::string_view kSources[] = {"preset", "path", "alias", "flake", "image"};

std::string Join(std::string_view path, std::string_view part) {
  return path.empty() ? std::string(part) : fmt::format("{}.{}", path, part);
}

bool TakesNames(std::string_view path) {
  return path == kEnvironments || path == "secrets" || path == "agents";
}

const Key* FindKey(std::string_view path) {
  const auto keys = Keys();
  const auto found = std::ranges::find(keys, path, &Key::path);
  return found == keys.end() ? nullptr : &*found;
}

bool IsSection(std::string_view path) {
  return std::ranges::any_of(Sections(), [&](const Section& section) {
    return section.path == path ||
           (section.path.starts_with(path) && section.path[path.size()] == '.');
  });
}

/// The parts that may follow `path`, in the order of the table.
std::vector<std::string_view> PartsBelow(std::string_view path) {
  std::vector<std::string_view> parts;
  const auto add = [&](std::string_view whole) {
    if (!path.empty() &&
        (!whole.starts_with(path) || whole.size() <= path.size() || whole[path.size()] != '.')) {
      return;
    }
    std::string_view part = whole.substr(path.empty() ? 0 : path.size() + 1);
    part = part.substr(0, part.find('.'));
    if (std::ranges::find(parts, part) == parts.end()) parts.push_back(part);
  };
  for (const Key& key : Keys()) add(key.path);
  for (const Section& section : Sections()) add(section.path);
  return parts;
}

std::string Suggest(std::string_view word, const std::vector<std::string_view>& candidates) {
  // "timeout" is many edits away from "timeout_seconds", and yet what was meant.
  if (word.size() >= 3) {
    for (const std::string_view each : candidates) {
      if (each.starts_with(word)) return fmt::format("did you mean '{}'?", each);
    }
  }
  const std::string nearest = Nearest(word, candidates.data(), candidates.size());
  if (!nearest.empty()) return fmt::format("did you mean '{}'?", nearest);
  std::string known;
  for (const std::string_view each : candidates) {
    known += fmt::format("{}{}", known.empty() ? "known here: " : ", ", each);
  }
  return known;
}

std::string_view GrantText(Grant grant) {
  switch (grant) {
    case Grant::kNetwork:
      return "opens the network";
    case Grant::kSecrets:
      return "hands out secrets or variables of yours";
    case Grant::kMounts:
      return "shows directories of the host";
    case Grant::kHidden:
      return "shows what is hidden";
    case Grant::kBackend:
      return "chooses the wall";
    case Grant::kLimits:
      return "sets limits";
    case Grant::kStart:
      return "decides what an interpreter loads or sees before its code";
    case Grant::kEveryone:
    case Grant::kNothing:
      break;
  }
  return "concerns more than its own environments";
}

/// One pass over a file's values.
class Decoder {
 public:
  Decoder(const DecodeOptions& options, Decoded& out)
      : options_(options), out_(out), target_{.config = out.config} {}

  void Walk(const Table& table, const std::string& schema, const std::string& real) {
    for (const Member& member : table.members) {
      const bool named = TakesNames(schema);
      Visit(member, Join(schema, named ? "NAME" : std::string_view(member.key)),
            Join(real, member.key), named);
    }
  }

  void CheckAliases() {
    for (const auto& [name, environment] : out_.config.environments) {
      if (environment.source.kind != SourceKind::kAlias || options_.presets.empty()) continue;
      // A project's alias may mean an environment of the user's own file.
      if (options_.origin == Origin::kProject) continue;
      const std::string& target = environment.source.value;
      if (out_.config.environments.contains(target) || IsPreset(target)) continue;
      std::vector<std::string_view> known(options_.presets.begin(), options_.presets.end());
      for (const auto& each : out_.config.environments) {
        if (each.first != name) known.emplace_back(each.first);
      }
      Complain(
          environment.where,
          fmt::format("environment '{}' is an alias of '{}', which does not exist", name, target),
          Suggest(target, known));
    }
    if (auto cycle = FindAliasCycle(out_.config)) out_.problems.push_back(*std::move(cycle));
  }

 private:
  void Complain(const Position& where, std::string what, std::string hint) {
    out_.problems.push_back({where, std::move(what), std::move(hint)});
  }

  bool IsPreset(std::string_view name) const {
    return std::ranges::find(options_.presets, name) != options_.presets.end();
  }

  void Visit(const Member& member, const std::string& schema, const std::string& real, bool named) {
    if (named && !environment::IsName(member.key)) {
      Complain(member.where, fmt::format("'{}' cannot be a name", Printable(member.key)),
               std::string(environment::kNameRule));
      return;
    }
    if (const Key* key = FindKey(schema)) {
      Take(*key, member, real);
      return;
    }
    if (!IsSection(schema)) {
      Unknown(member, schema, real);
      return;
    }
    const auto* table = std::get_if<Table>(&member.value.data);
    if (table == nullptr) {
      Complain(member.value.where, fmt::format("'{}' is a section, not a value", Printable(real)),
               fmt::format("write [{}] and its keys below", Printable(real)));
    } else if (named && schema == "environments.NAME") {
      TakeEnvironment(member, *table, schema, real);
    } else if (named && schema == "secrets.NAME") {
      TakeSecret(member, *table, schema, real);
    } else if (named && schema == "agents.NAME") {
      TakeAgent(member, *table, schema, real);
    } else {
      Walk(*table, schema, real);
    }
  }

  void Unknown(const Member& member, const std::string& schema, const std::string& real) {
    const std::size_t dot = schema.rfind('.');
    const std::string above = dot == std::string::npos ? "" : schema.substr(0, dot);
    const std::size_t length = real.size() - member.key.size();
    Complain(member.where,
             length == 0 ? fmt::format("there is no section '{}'", Printable(member.key))
                         : fmt::format("unknown key '{}' in [{}]", Printable(member.key),
                                       Printable(real.substr(0, length - 1))),
             Suggest(member.key, PartsBelow(above)));
  }

  /// "environments.web" of "environments.web.limits.processes": what is refused as one.
  std::string SectionOfUse(const std::string& real) const {
    if (target_.environment != nullptr) return Join(kEnvironments, target_.environment->name);
    return real.substr(0, real.find('.'));
  }

  void Take(const Key& key, const Member& member, const std::string& real) {
    if (options_.origin == Origin::kProject && key.grant != Grant::kNothing) {
      Complain(member.where,
               fmt::format("'{}' {}, which a project's own file never does", Printable(real),
                           GrantText(key.grant)),
               "move it to your own configuration; 'igloo config path' says where that is");
      return;
    }
    auto checked = CheckValue(
        key, member.value,
        {.directory = options_.directory, .home = options_.home, .walls = options_.walls});
    if (!checked) {
      out_.problems.push_back(std::move(checked).error());
      return;
    }
    const auto later = Words(key.shape.later);
    const bool choice_later = checked->wall != nullptr
                                  ? !checked->wall->served
                                  : std::ranges::find(later, checked->text) != later.end();
    if (choice_later || (key.served == Served::kLater && !IsFallback(key, member.value))) {
      out_.config.unavailable.push_back(
          {.section = SectionOfUse(real),
           .key = real,
           .what = key.shape.kind == Kind::kChoice
                       ? fmt::format("{} = \"{}\" is not available yet", real, checked->text)
                       : fmt::format("'{}' is not available yet", real),
           .file = options_.file,
           .where = member.where});
    }
    checked->where = member.where;
    // A wall that is not there is not replaced by another: its environment is refused as a whole.
    if (key.store != nullptr && !choice_later) key.store(target_, *checked);
  }

  void TakeEnvironment(const Member& member, const Table& table, const std::string& schema,
                       const std::string& real) {
    EnvironmentConfig& environment = out_.config.environments[member.key];
    environment.name = member.key;
    environment.file = options_.file;
    environment.where = member.where;
    environment.origin = options_.origin;
    target_.environment = &environment;
    Walk(table, schema, real);
    target_.environment = nullptr;
    CheckSource(environment, table);
  }

  void TakeSecret(const Member& member, const Table& table, const std::string& schema,
                  const std::string& real) {
    // A key that a project's file may not have is refused by itself, and nothing is kept of it.
    SecretConfig secret{
        .name = member.key, .where = member.where, .inside = VariableFor(member.key)};
    target_.secret = &secret;
    Walk(table, schema, real);
    target_.secret = nullptr;
    if (options_.origin == Origin::kProject) return;
    CheckSecret(secret, table, out_.problems);
    out_.config.secrets.emplace(member.key, std::move(secret));
  }

  void TakeAgent(const Member& member, const Table& table, const std::string& schema,
                 const std::string& real) {
    AgentConfig& agent = out_.config.agents[member.key];
    agent.name = member.key;
    agent.where = member.where;
    target_.agent = &agent;
    Walk(table, schema, real);
    target_.agent = nullptr;
  }

  void CheckSource(EnvironmentConfig& environment, const Table& table) {
    std::vector<const Member*> sources;
    const Member* other = nullptr;
    for (const Member& member : table.members) {
      if (std::ranges::find(kSources, member.key) != std::ranges::end(kSources)) {
        sources.push_back(&member);
      } else if (member.key != "description") {
        other = &member;
      }
    }
    if (sources.empty()) {
      // "[environments.python]" with a longer time is what it looks like.
      if (IsPreset(environment.name)) {
        environment.source = {SourceKind::kPreset, environment.name, true};
        return;
      }
      Complain(environment.where,
               fmt::format("Environment '{}' must specify 'preset' or 'flake' (or 'path', 'alias', "
                           "'image')",
                           environment.name),
               "it does not say what it is made from: add, for example, preset = \"python\"");
      return;
    }
    if (sources.size() > 1) {
      std::ranges::sort(sources, {}, [](const Member* each) { return each->where; });
      Complain(sources[1]->where,
               fmt::format("environment '{}' is made from '{}' already", environment.name,
                           sources[0]->key),
               fmt::format("keep either '{}' or '{}'", sources[0]->key, sources[1]->key));
      return;
    }
    const Source& source = environment.source;
    if (source.value.empty()) return;  // its value was wrong, and said so
    if (source.kind == SourceKind::kAlias && other != nullptr) {
      Complain(other->where,
               fmt::format("environment '{}' is an alias and has no settings of its own",
                           environment.name),
               fmt::format("move '{}' to [environments.{}]", other->key, source.value));
    }
    if (source.kind == SourceKind::kPreset && !options_.presets.empty() &&
        !IsPreset(source.value)) {
      // These two have the words that people of nix-sandbox-mcp look for, as Nix says them.
      Complain(sources[0]->value.where, fmt::format("Unknown preset: {}", Printable(source.value)),
               Suggest(source.value, {options_.presets.begin(), options_.presets.end()}));
    }
  }

  const DecodeOptions& options_;
  Decoded& out_;
  Target target_;
};

}  // namespace

std::optional<Problem> FindAliasCycle(const Config& config) {
  for (const auto& [name, environment] : config.environments) {
    std::set<std::string_view> seen;
    std::string way;
    const EnvironmentConfig* at = &environment;
    while (at != nullptr && at->source.kind == SourceKind::kAlias && seen.insert(at->name).second) {
      way += at->name + " -> ";
      const auto next = config.environments.find(at->source.value);
      at = next == config.environments.end() ? nullptr : &next->second;
    }
    // Only who comes back to itself is named; who merely leads into a circle is not at fault.
    if (at == &environment && !seen.empty()) {
      return Problem{environment.where,
                     fmt::format("aliases go round in a circle: {}{}", way, name),
                     "let one of them say what it is made from"};
    }
  }
  return std::nullopt;
}

Decoded Decode(std::string_view text, const DecodeOptions& options) {
  Decoded out;
  out.config.file = options.file;
  auto table = ParseToml(text);
  if (!table) {
    out.problems.push_back(std::move(table).error());
    return out;
  }
  Decoder decoder(options, out);
  decoder.Walk(*table, "", "");
  decoder.CheckAliases();
  CheckNetworks(out.config, out.problems);
  std::ranges::sort(out.problems, {}, &Problem::where);
  std::ranges::sort(out.config.unavailable, {}, &Unavailable::where);
  return out;
}

Result<Config> Parse(std::string_view text, const DecodeOptions& options) {
  Decoded decoded = Decode(text, options);
  if (decoded.problems.empty()) return std::move(decoded.config);
  Error error = ToError(options.file, decoded.problems[0]);
  if (const std::size_t more = decoded.problems.size() - 1; more != 0) {
    error.hint += fmt::format("\n        {} more: 'igloo config check {}' lists them", more,
                              ShellQuote(options.file));
  }
  return std::unexpected(std::move(error));
}

Limits DefaultLimits() {
  Config config;
  Target target{.config = config};
  for (const Key& key : Keys()) {
    const Kind kind = key.shape.kind;
    const bool number = kind == Kind::kCount || kind == Kind::kSeconds || kind == Kind::kMegabytes;
    if (number && key.store != nullptr && !key.fallback.empty()) {
      key.store(target, {.number = FallbackNumber(key)});
    }
  }
  return config.limits;
}

}  // namespace igloo::config

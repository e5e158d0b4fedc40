#include "cli/net/network_options.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "base/text.h"
#include "cli/console.h"
#include "environment/names.h"
#include "network/secret.h"

namespace igloo::cli {
namespace {

using config::SecretSource;

constexpr const char* kSecretForm =
    "write NAME=SOURCE@HOST:HEADER, for example --secret "
    "GITHUB_TOKEN=env:GITHUB_TOKEN@api.github.com:Authorization; SOURCE can also be file:PATH or "
    "command:WORDS";

std::unexpected<Error> BadSecret(std::string_view name, std::string_view what) {
  return Fail(Errc::kInvalidArgument,
              name.empty() ? fmt::format("a '--secret' {}", what)
                           : fmt::format("'--secret {}=...' {}", Printable(name), what),
              kSecretForm);
}

/// Shells do not expand "~/" in the middle of a word.
std::string WithHome(std::string_view path) {
  const char* home = std::getenv("HOME");
  if (!path.starts_with("~/") || home == nullptr) return std::string(path);
  return std::string(home) + std::string(path.substr(1));
}

std::optional<SecretSource> ParseSource(std::string_view text) {
  struct Prefix {
    std::string_view text;
    SecretSource::Kind kind;
  };
  constexpr Prefix kPrefixes[] = {{"env:", SecretSource::Kind::kVariable},
                                  {"file:", SecretSource::Kind::kFile},
                                  {"command:", SecretSource::Kind::kCommand}};
  SecretSource source{.value = std::string(text)};
  for (const Prefix& each : kPrefixes) {
    if (!text.starts_with(each.text)) continue;
    source = {each.kind, std::string(text.substr(each.text.size()))};
  }
  if (source.kind == SecretSource::Kind::kFile) source.value = WithHome(source.value);
  const bool usable = source.kind == SecretSource::Kind::kVariable
                          ? environment::IsVariableName(source.value)
                          : !source.value.empty();
  return usable ? std::optional(std::move(source)) : std::nullopt;
}

/// The configuration's secret of the same variable gives way to the one of the command line.
void AddSecret(config::SecretConfig secret, std::vector<config::SecretConfig>& secrets) {
  std::erase_if(secrets, [&](const auto& each) {
    return each.inside == secret.inside || each.name == secret.name;
  });
  secrets.push_back(std::move(secret));
}

}  // namespace

Result<network::Level> ParseNetwork(const std::string& text) {
  if (const auto level = network::FindLevel(text)) return *level;
  return Fail(Errc::kInvalidArgument, "there is no network '" + Printable(text) + "'",
              "choose none, allow, internet or host");
}

Result<config::SecretConfig> ParseSecret(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return BadSecret("", "has no '='");
  const std::string name = text.substr(0, equals);
  if (!environment::IsVariableName(name)) {
    return BadSecret("", "has a name that is no name of a variable");
  }
  // A path and a command may have an "@" of their own; a host has none.
  const std::string_view rest = std::string_view(text).substr(equals + 1);
  const std::size_t at = rest.rfind('@');
  if (at == std::string_view::npos) return BadSecret(name, "does not say which host it is for");
  auto source = ParseSource(rest.substr(0, at));
  if (!source) return BadSecret(name, "does not say where its value comes from");
  const std::string_view target = rest.substr(at + 1);
  const std::size_t colon = target.find(':');
  config::SecretConfig secret{
      .name = name, .inside = name, .source = *std::move(source), .hosts = {}};
  secret.hosts.emplace_back(target.substr(0, colon));
  if (!network::Name::Parse(secret.hosts[0])) {
    return BadSecret(name, "is for something that is no host name");
  }
  if (colon == std::string_view::npos) {
    // The host is one, so it can be shown; the source may be the value itself.
    return Fail(Errc::kInvalidArgument,
                fmt::format("'--secret {}=...' names no header that it may stand in", name),
                fmt::format("write --secret {}=SOURCE@{}:Authorization, with the header that the "
                            "server takes it in; {}",
                            name, secret.hosts[0], kSecretForm));
  }
  secret.header = target.substr(colon + 1);
  if (!network::ParseHeaderNames(secret.header)) {
    return BadSecret(name, "is for something that is no name of a header");
  }
  return secret;
}

Result<void> TakeNetwork(const ParsedArgs& args, const config::Config& config,
                         config::Configured& configured) {
  const std::vector<std::string> rules = args.All("--allow");
  std::optional<network::Level> level;
  if (const auto named = args.Get("--network")) {
    IGLOO_ASSIGN(level, ParseNetwork(*named));
  } else if (!rules.empty() && configured.network.level == network::Level::kNone) {
    level = network::Level::kAllow;
  }
  if (level) {
    configured.network = config::NetworkFor(config, configured.environment.name, level);
    if (!network::Proxied(*level)) configured.secrets.clear();
  }
  network::Wanted& wanted = configured.network;
  for (const std::string& rule : rules) {
    if (auto parsed = network::ParseRule(rule); !parsed) {
      return Wrap("'--allow'", std::move(parsed).error());
    }
    wanted.rules.push_back(rule);
  }
  for (const std::string& place : args.All("--deny")) {
    if (auto parsed = network::ParseDenied(place); !parsed) {
      return Wrap("'--deny'", std::move(parsed).error());
    }
    // Without a network nothing is reached anyway.
    if (wanted.level != network::Level::kNone) wanted.rules.push_back("deny " + place);
  }
  if (args.Has("--raw-sockets")) wanted.raw_sockets = true;
  for (const std::string& each : args.All("--publish")) {
    IGLOO_ASSIGN(const network::PublishedPort port, network::ParsePublished(each));
    wanted.publish.push_back(port);
  }
  for (const std::string& each : args.All("--reach")) {
    const auto port = network::ParsePort(each);
    if (!port) {
      return Fail(Errc::kInvalidArgument, "'--reach " + Printable(each) + "' is no port",
                  "write a number from 1 to 65535, for example --reach 5432");
    }
    wanted.reach.push_back(*port);
  }
  for (const std::string& each : args.All("--secret")) {
    IGLOO_ASSIGN(config::SecretConfig secret, ParseSecret(each));
    AddSecret(std::move(secret), configured.secrets);
  }
  return {};
}

void WarnOfRights(const network::Wanted& wanted, Console& console) {
  if (wanted.level == network::Level::kHost) {
    console.Note("warning: it shares the host's network, with everything that listens on it");
  }
  if (wanted.raw_sockets) {
    console.Note("warning: it may make raw sockets, and with them packets of every kind");
  }
}

}  // namespace igloo::cli

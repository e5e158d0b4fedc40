#include "cli/config/config_output.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/text.h"

namespace igloo::cli {
namespace {

namespace json = boost::json;
using config::Config;
using config::EnvironmentConfig;
using config::Limits;

struct LimitRow {
  std::string_view name;
  std::optional<std::uint64_t> Limits::* field;
  enum class Unit { kCount, kMillis, kBytes, kThousandths } unit;
};

constexpr LimitRow kLimits[] = {
    {"time", &Limits::time_ms, LimitRow::Unit::kMillis},
    {"memory", &Limits::memory_bytes, LimitRow::Unit::kBytes},
    {"cpu", &Limits::cpu_ms, LimitRow::Unit::kMillis},
    {"cpus", &Limits::millicpus, LimitRow::Unit::kThousandths},
    {"processes", &Limits::processes, LimitRow::Unit::kCount},
    {"open_files", &Limits::open_files, LimitRow::Unit::kCount},
    {"file", &Limits::file_bytes, LimitRow::Unit::kBytes},
    {"disk", &Limits::disk_bytes, LimitRow::Unit::kBytes},
    {"disk_files", &Limits::disk_files, LimitRow::Unit::kCount},
    {"output", &Limits::output_bytes, LimitRow::Unit::kBytes},
};

double Thousandths(std::uint64_t value) { return static_cast<double>(value) / 1000.0; }

std::string LimitsText(const Limits& limits) {
  std::string out;
  for (const LimitRow& row : kLimits) {
    const auto& value = limits.*row.field;
    if (!value) continue;
    const std::string number =
        row.unit == LimitRow::Unit::kBytes         ? HumanBytes(*value)
        : row.unit == LimitRow::Unit::kMillis      ? fmt::format("{:g} s", Thousandths(*value))
        : row.unit == LimitRow::Unit::kThousandths ? fmt::format("{:g}", Thousandths(*value))
                                                   : std::to_string(*value);
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", row.name, number);
  }
  return out;
}

json::object LimitsJson(const Limits& limits) {
  json::object out;
  for (const LimitRow& row : kLimits) {
    const std::string_view unit = row.unit == LimitRow::Unit::kBytes    ? "_bytes"
                                  : row.unit == LimitRow::Unit::kMillis ? "_ms"
                                                                        : "";
    const auto& value = limits.*row.field;
    const std::string_view name = row.unit == LimitRow::Unit::kThousandths ? "millicpus" : row.name;
    out[fmt::format("{}{}", name, unit)] = value ? json::value(*value) : json::value(nullptr);
  }
  return out;
}

template <class Range, class Text>
std::string List(const Range& range, Text text) {
  std::string out;
  for (const auto& each : range) out += fmt::format("{}{}", out.empty() ? "" : ", ", text(each));
  return out;
}

std::string Line(std::string_view name, std::string_view value) {
  return value.empty() ? "" : fmt::format("  {:<12} {}\n", name, Printable(value));
}

std::string ShellWords(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

const std::string& Itself(const std::string& text) { return text; }

/// The lines that say what an environment reaches; none when that is nothing, as for all.
std::string NetworkText(const Config& config, const EnvironmentConfig& environment) {
  const network::Wanted wanted = config::NetworkFor(config, environment.name);
  if (!wanted.connected() && wanted.level == config.network) return "";
  return Line("network", network::ToText(wanted.level)) +
         Line("allow", List(wanted.rules, Itself)) +
         Line("publish", List(wanted.publish, [](const auto& each) { return ToText(each); })) +
         Line("reach", List(wanted.reach, [](auto each) { return each; })) +
         Line("secrets", List(environment.network.secrets, Itself)) +
         Line("rights", wanted.raw_sockets ? "raw sockets" : "");
}

std::string DaemonText(const config::DaemonConfig& daemon) {
  const config::DaemonConfig usual;
  const bool http = daemon.transport == "http";
  return Line("transport", http ? "http, at " + daemon.listen : daemon.transport) +
         Line("log level", daemon.log_level == usual.log_level ? "" : daemon.log_level) +
         Line("sequences", daemon.keeps_sequences() ? "kept" : "");
}

/// Where the value of a secret comes from; the value itself is read by nobody here.
std::string SecretText(const config::SecretConfig& secret) {
  return fmt::format("secret {}\n", secret.name) +
         Line(config::Name(secret.source.kind), secret.source.value) +
         Line("hosts", List(secret.hosts, Itself)) + Line("header", secret.header) +
         Line("inside", secret.inside);
}

std::string EnvironmentText(const Config& config, const EnvironmentConfig& environment) {
  std::string out = fmt::format("environment {}\n", environment.name);
  out += Line(config::Name(environment.source.kind), environment.source.value);
  out += Line("description", environment.description);
  if (environment.source.kind == config::SourceKind::kAlias) return out;
  out += Line("interpreter", ShellWords(environment.interpreter));
  out += Line("backend", config::BackendFor(config, environment.name)->name);
  out += Line("limits", LimitsText(config::LimitsFor(config, environment.name)));
  out += NetworkText(config, environment);
  // Names only: a configuration is often shown to others.
  out +=
      Line("variables", List(environment.variables, [](const auto& each) { return each.first; }));
  out += Line("inherited", List(environment.inherit, Itself));
  return out;
}

json::array Strings(const std::vector<std::string>& list) {
  json::array out;
  for (const std::string& each : list) out.emplace_back(ToUtf8(each));
  return out;
}

json::object NetworkJson(const Config& config, const EnvironmentConfig& environment) {
  const network::Wanted wanted = config::NetworkFor(config, environment.name);
  json::array publish;
  for (const network::PublishedPort& each : wanted.publish) publish.emplace_back(ToText(each));
  json::array secrets;
  for (const auto& each : config::SecretsFor(config, environment.name)) {
    secrets.emplace_back(each.name);
  }
  return {{"tier", network::ToText(wanted.level)},
          {"allow", Strings(wanted.rules)},
          {"publish", std::move(publish)},
          {"reach", json::array(wanted.reach.begin(), wanted.reach.end())},
          {"secrets", std::move(secrets)},
          {"raw_sockets", wanted.raw_sockets}};
}

json::array SecretsJson(const Config& config) {
  json::array out;
  for (const auto& [name, secret] : config.secrets) {
    out.push_back(json::object{{"name", name},
                               {"from", config::Name(secret.source.kind)},
                               {"source", ToUtf8(secret.source.value)},
                               {"hosts", Strings(secret.hosts)},
                               {"header", ToUtf8(secret.header)},
                               {"inside", secret.inside}});
  }
  return out;
}

json::object EnvironmentJson(const Config& config, const EnvironmentConfig& environment) {
  json::array variables;
  for (const auto& each : environment.variables) variables.emplace_back(each.first);
  return {{"name", environment.name},
          {"made_from", std::string(config::Name(environment.source.kind))},
          {"source", ToUtf8(environment.source.value)},
          {"description", ToUtf8(environment.description)},
          {"backend", std::string(config::BackendFor(config, environment.name)->name)},
          {"limits", LimitsJson(config::LimitsFor(config, environment.name))},
          {"network", NetworkJson(config, environment)},
          {"variables", std::move(variables)},
          {"inherited", Strings(environment.inherit)},
          {"line", environment.where.line}};
}

json::object At(json::object object, const config::Position& where) {
  object["line"] = where.line;
  object["column"] = where.column;
  return object;
}

std::string AuditText(const config::AuditConfig& audit) {
  if (!audit.enabled) return "off";
  return fmt::format("{}, {} files of {}", audit.code ? "with the code" : "without the code",
                     audit.keep + 1, HumanBytes(audit.rotate_bytes));
}

json::object AuditJson(const config::AuditConfig& audit) {
  return {{"enabled", audit.enabled},
          {"code", audit.code},
          {"rotate_bytes", audit.rotate_bytes},
          {"keep", audit.keep}};
}

std::string SessionsText(const config::SessionConfig& session) {
  return fmt::format("{} at once, unused for {:g} s, {:g} s in all", session.most,
                     Thousandths(session.idle_ms), Thousandths(session.lifetime_ms));
}

json::object SessionsJson(const config::SessionConfig& session) {
  return {{"limit", session.most},
          {"idle_timeout_ms", session.idle_ms},
          {"max_lifetime_ms", session.lifetime_ms}};
}

}  // namespace

std::string ConfigText(const Config& config) {
  std::string out = "every environment\n";
  out += Line("backend", config.backend->name);
  out += Line("limits", LimitsText(config::LimitsFor(config, "")));
  out += Line("network", network::ToText(config.network));
  out += Line("allow", List(config.allow, Itself));
  out += Line("deny", List(config.deny, Itself));
  out += Line("resolver", config.resolver);
  out += Line("kernel", config.kernel);
  out += Line("artifacts", config.artifacts);
  if (!config.project.path.empty()) {
    out += "project\n" + Line("path", config.project.path) +
           Line("mode", config::Name(config.project.mode)) +
           Line("mount point", config.project.mount_point);
    out += Line("inherited", List(config.project.inherit, Itself));
    out += Line("hidden", List(config.project.hidden.hide, Itself));
    out += Line("not hidden", List(config.project.hidden.show, Itself));
  }
  out += "server\n" + Line("tools", config::Name(config.daemon.tools)) + DaemonText(config.daemon) +
         Line("sessions", SessionsText(config.session)) + Line("audit", AuditText(config.audit));
  for (const auto& each : config.environments) out += EnvironmentText(config, each.second);
  for (const auto& each : config.secrets) out += SecretText(each.second);
  if (!config.unavailable.empty()) out += "not available yet, refused when used\n";
  for (const config::Unavailable& missing : config.unavailable) {
    out += Line(fmt::format("line {}", missing.where.line), missing.key);
  }
  return out;
}

std::string ProblemsText(const config::Decoded& decoded) {
  std::string out;
  for (const config::Problem& problem : decoded.problems) {
    out += fmt::format("{}: {}\n", Printable(config::Place(decoded.config.file, problem.where)),
                       Printable(problem.what));
    if (!problem.hint.empty()) out += fmt::format("  hint: {}\n", Printable(problem.hint));
  }
  return out;
}

std::string ConfigJson(const config::Decoded& decoded) {
  const Config& config = decoded.config;
  json::array environments;
  for (const auto& each : config.environments) {
    environments.emplace_back(EnvironmentJson(config, each.second));
  }
  json::array unavailable;
  for (const config::Unavailable& each : config.unavailable) {
    unavailable.emplace_back(At(
        {{"key", each.key}, {"section", each.section}, {"what", ToUtf8(each.what)}}, each.where));
  }
  json::array problems;
  for (const config::Problem& each : decoded.problems) {
    problems.emplace_back(
        At({{"what", ToUtf8(each.what)}, {"hint", ToUtf8(each.hint)}}, each.where));
  }
  json::object document{
      {"file", config.file.empty() ? json::value(nullptr) : json::value(ToUtf8(config.file))},
      {"valid", decoded.problems.empty()},
      {"backend", std::string(config.backend->name)},
      {"limits", LimitsJson(config::LimitsFor(config, ""))},
      {"network", json::object{{"tier", network::ToText(config.network)},
                               {"allow", Strings(config.allow)},
                               {"deny", Strings(config.deny)},
                               {"resolver", ToUtf8(config.resolver)}}},
      {"kernel", ToUtf8(config.kernel)},
      {"secrets", SecretsJson(config)},
      {"audit", AuditJson(config.audit)},
      {"tools", config::Name(config.daemon.tools)},
      {"always_load", config.daemon.always_load},
      {"transport", config.daemon.transport},
      {"listen", ToUtf8(config.daemon.listen)},
      {"log_level", config.daemon.log_level},
      {"terminal_sequences", config.daemon.terminal_sequences},
      {"sessions", SessionsJson(config.session)},
      {"project", nullptr},
      {"environments", std::move(environments)},
      {"unavailable", std::move(unavailable)},
      {"problems", std::move(problems)}};
  if (!config.project.path.empty()) {
    document["project"] = json::object{{"path", ToUtf8(config.project.path)},
                                       {"mode", std::string(config::Name(config.project.mode))},
                                       {"mount_point", ToUtf8(config.project.mount_point)},
                                       {"inherited", Strings(config.project.inherit)},
                                       {"hide", Strings(config.project.hidden.hide)},
                                       {"show_hidden", Strings(config.project.hidden.show)}};
  }
  return json::serialize(document) + "\n";
}

}  // namespace igloo::cli

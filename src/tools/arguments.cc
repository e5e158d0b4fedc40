#include "tools/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "base/base64.h"
#include "base/text.h"
#include "mcp/pch.h"
#include "service/given_path.h"

namespace igloo::tools {
namespace {

namespace json = boost::json;

/// The arguments that a tool knows, and what somebody is told who names another one.
struct Known {
  std::span<const std::string_view> names;
  std::string_view list;
};

constexpr std::array<std::string_view, 11> kNames = {
    "code",    "env",         "session", "session_action",
    "echo",    "max_output",  "files",   "timeout_seconds",
    "command", "environment", "fork_of"};
constexpr Known kKnown = {kNames,
                          "the arguments are code, env, session, fork_of, session_action, echo, "
                          "timeout_seconds, files and max_output"};

constexpr std::array<std::string_view, 5> kOriginalNames = {"code", "env", "session", "command",
                                                            "environment"};
constexpr Known kKnownOriginal = {kOriginalNames, "the arguments are code, env and session"};

constexpr std::pair<std::string_view, SessionAction> kActions[] = {
    {"close", SessionAction::kClose},
    {"reset", SessionAction::kReset},
    {"interrupt", SessionAction::kInterrupt},
    {"list", SessionAction::kList}};

std::string_view KindOf(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "an array";
    case json::kind::object:
      return "an object";
    default:
      return "a number";
  }
}

std::unexpected<Error> Wrong(std::string_view name, std::string_view wanted,
                             const json::value& value) {
  return Fail(Errc::kInvalidArgument,
              fmt::format("'{}' must be {}, and is {}", name, wanted, KindOf(value)));
}

/// Null is how some clients leave an argument out.
const json::value* Get(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Result<std::optional<std::string>> Text(const json::object& object, std::string_view name) {
  const json::value* value = Get(object, name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) return Wrong(name, "a string", *value);
  return std::string(value->as_string());
}

Result<std::optional<double>> Number(const json::object& object, std::string_view name) {
  const json::value* value = Get(object, name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) return Wrong(name, "a number", *value);
  return value->to_number<double>();
}

Result<std::optional<bool>> YesOrNo(const json::object& object, std::string_view name) {
  const json::value* value = Get(object, name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_bool()) return Wrong(name, "true or false", *value);
  return value->as_bool();
}

/// A text under its name, or under the one that it had in older servers.
Result<std::string> Named(const json::object& object, std::string_view name, std::string_view older,
                          std::string_view hint) {
  IGLOO_ASSIGN(auto text, Text(object, name));
  IGLOO_ASSIGN(auto old, Text(object, older));
  if (text && old && *text != *old) {
    return Fail(Errc::kInvalidArgument,
                fmt::format("'{}' and '{}' say different things", name, older),
                fmt::format("give '{}' only", name));
  }
  if (!text) text = std::move(old);
  if (!text) {
    return Fail(Errc::kInvalidArgument, fmt::format("'{}' is missing", name), std::string(hint));
  }
  return *std::move(text);
}

Result<environment::GivenFile> ReadGiven(const json::value& value, std::size_t index) {
  const std::string at = fmt::format("files[{}]", index);
  if (!value.is_object()) return Wrong(at, "an object {path, content}", value);
  const json::object& object = value.as_object();
  for (const auto& each : object) {
    if (each.key() == "path" || each.key() == "content" || each.key() == "base64") continue;
    return Fail(Errc::kInvalidArgument,
                fmt::format("{} has no '{}'", at, Printable(Quoted(each.key()))),
                "a file has 'path' and either 'content' or 'base64'");
  }
  IGLOO_ASSIGN(const auto path, Text(object, "path"));
  IGLOO_ASSIGN(auto content, Text(object, "content"));
  IGLOO_ASSIGN(const auto encoded, Text(object, "base64"));
  if (!path || content.has_value() == encoded.has_value()) {
    return Fail(Errc::kInvalidArgument, at + " needs 'path' and either 'content' or 'base64'");
  }
  if (auto fine = service::CheckGivenPath(*path); !fine) return Wrap(at, std::move(fine).error());
  if (encoded) {
    auto bytes = FromBase64(*encoded);
    if (!bytes) {
      return Fail(Errc::kInvalidArgument, at + ": 'base64' is not valid base64",
                  "give text as 'content' instead");
    }
    content = *std::move(bytes);
  }
  return environment::GivenFile{.path = *path, .content = *std::move(content)};
}

Result<std::vector<environment::GivenFile>> ReadFiles(const json::object& arguments) {
  std::vector<environment::GivenFile> files;
  const json::value* value = Get(arguments, "files");
  if (value == nullptr) return files;
  if (!value->is_array()) return Wrong("files", "an array of {path, content}", *value);
  if (value->as_array().size() > kMostFiles) {
    return Fail(Errc::kInvalidArgument, fmt::format("there are {} files", value->as_array().size()),
                fmt::format("give at most {}, or one archive that the code unpacks", kMostFiles));
  }
  for (std::size_t i = 0; i < value->as_array().size(); ++i) {
    IGLOO_ASSIGN(environment::GivenFile file, ReadGiven(value->as_array()[i], i));
    for (const environment::GivenFile& other : files) {
      if (other.path != file.path) continue;
      return Fail(Errc::kInvalidArgument,
                  fmt::format("files[{}]: '{}' is given twice", i, Printable(Quoted(file.path))));
    }
    files.push_back(std::move(file));
  }
  return files;
}

Result<void> CheckNames(const json::object& arguments, const Known& known) {
  for (const auto& each : arguments) {
    if (std::ranges::find(known.names, std::string_view(each.key())) != known.names.end()) continue;
    // Null is how some clients leave an argument out.
    if (each.value().is_null() &&
        std::ranges::find(kNames, std::string_view(each.key())) != kNames.end())
      continue;
    const std::string near = Nearest(Quoted(each.key()), known.names.data(), known.names.size());
    return Fail(Errc::kInvalidArgument,
                fmt::format("there is no argument '{}'", Printable(Quoted(each.key()))),
                near.empty() ? std::string(known.list) : fmt::format("did you mean '{}'?", near));
  }
  return {};
}

Result<std::optional<SessionAction>> ReadAction(const json::object& arguments) {
  IGLOO_ASSIGN(const auto name, Text(arguments, "session_action"));
  // An empty one is how some clients leave an argument out.
  if (!name || name->empty()) return std::nullopt;
  for (const auto& [known, action] : kActions) {
    if (*name == known) return action;
  }
  return Fail(Errc::kInvalidArgument,
              fmt::format("there is no session_action '{}'", Printable(Quoted(*name))),
              "those that there are: close, reset, interrupt, list");
}

Result<void> CheckAction(const json::object& arguments, SessionAction action) {
  for (const std::string_view name : {"code", "command"}) {
    IGLOO_ASSIGN(const auto code, Text(arguments, name));
    if (!code || code->empty()) continue;
    return Fail(Errc::kInvalidArgument, "'code' and 'session_action' cannot come in one call",
                "leave one of them out; a call without session_action runs the code");
  }
  IGLOO_ASSIGN(const auto session, Text(arguments, "session"));
  if (action == SessionAction::kList || (session && !session->empty())) return {};
  return Fail(
      Errc::kInvalidArgument, "'session' is missing",
      fmt::format("name the session to {}; session_action \"list\" shows them", Name(action)));
}

}  // namespace

std::string_view Name(SessionAction action) {
  for (const auto& [name, each] : kActions) {
    if (each == action) return name;
  }
  return "?";
}

Result<RunArguments> ReadOriginalArguments(const json::object& arguments) {
  IGLOO_TRY(CheckNames(arguments, kKnownOriginal));
  return ReadArguments(arguments);
}

Result<RunArguments> ReadArguments(const json::object& arguments) {
  IGLOO_TRY(CheckNames(arguments, kKnown));
  RunArguments out;
  IGLOO_ASSIGN(out.session, Text(arguments, "session"));
  if (out.session && out.session->empty()) out.session.reset();
  IGLOO_ASSIGN(out.action, ReadAction(arguments));
  if (out.action) {
    IGLOO_TRY(CheckAction(arguments, *out.action));
    return out;
  }
  IGLOO_ASSIGN(out.code, Named(arguments, "code", "command",
                               "give the code to run as a string; an empty one is allowed"));
  IGLOO_ASSIGN(out.environment, Named(arguments, "env", "environment",
                                      "name the environment to run it in, such as \"python\""));
  IGLOO_ASSIGN(out.echo, YesOrNo(arguments, "echo"));
  IGLOO_ASSIGN(out.fork_of, Text(arguments, "fork_of"));
  if (out.fork_of && out.fork_of->empty()) out.fork_of.reset();
  if (out.fork_of && !out.session) out.session = kNewSession;
  IGLOO_ASSIGN(const auto seconds, Number(arguments, "timeout_seconds"));
  if (seconds) {
    if (!(*seconds > 0) || *seconds > static_cast<double>(kLongestSeconds)) {
      return Fail(Errc::kInvalidArgument, fmt::format("'timeout_seconds' is {:g}", *seconds),
                  fmt::format("it can be more than 0 and at most {}", kLongestSeconds));
    }
    out.time_ms = static_cast<std::uint64_t>(std::ceil(*seconds * 1000));
  }
  IGLOO_ASSIGN(const auto most, Number(arguments, "max_output"));
  if (most) {
    if (!(*most >= 100) || *most > static_cast<double>(kMostOutput)) {
      return Fail(Errc::kInvalidArgument, fmt::format("'max_output' is {:g}", *most),
                  fmt::format("it can be 100 to {} bytes", kMostOutput));
    }
    out.max_output = static_cast<std::size_t>(*most);
  }
  IGLOO_ASSIGN(out.files, ReadFiles(arguments));
  return out;
}

}  // namespace igloo::tools

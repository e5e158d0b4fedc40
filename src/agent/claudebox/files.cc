#include "agent/claudebox/files.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "environment/names.h"

namespace igloo::agent::claudebox {
namespace {

namespace json = boost::json;

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::unexpected<Error> BadLine(std::string_view file, std::size_t line, std::string_view what,
                               std::string_view hint) {
  return Fail(Errc::kInvalidArgument, fmt::format("{}:{}: {}", Printable(file), line, what),
              std::string(hint));
}

/// Calls `take` with every line that says something: its number and its two sides of '='.
template <class Take>
Result<void> ForEachLine(std::string_view text, std::string_view file, Take take) {
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || line.contains('\0')) {
      return BadLine(file, number, "this line has no '='", "write: key = value");
    }
    IGLOO_TRY(take(number, Trimmed(line.substr(0, equals)), Trimmed(line.substr(equals + 1))));
  }
  return {};
}

std::string Unquoted(std::string_view value) {
  const bool quoted = value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
                      value.front() == value.back();
  return std::string(quoted ? value.substr(1, value.size() - 2) : value);
}

Result<std::vector<std::string>> Texts(const json::value& value, std::string_view file,
                                       std::string_view key) {
  std::vector<std::string> texts;
  const json::array* array = value.if_array();
  for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
    const json::string* text = (*array)[i].if_string();
    if (text == nullptr)
      array = nullptr;
    else
      texts.emplace_back(*text);
  }
  if (array != nullptr) return texts;
  return Fail(Errc::kInvalidArgument,
              fmt::format("{}: '{}' is no list of texts", Printable(file), key),
              fmt::format("write: \"{}\": [\"...\"]", key));
}

Result<void> ReadEnv(const json::value& value, std::string_view file, Profile& profile) {
  const json::object* table = value.if_object();
  if (table == nullptr) {
    IGLOO_ASSIGN(profile.passed, Texts(value, file, "env"));
    return {};
  }
  for (const auto& [name, content] : *table) {
    const json::string* text = content.if_string();
    if (text == nullptr || !environment::IsVariableName(std::string(name))) {
      return Fail(Errc::kInvalidArgument,
                  fmt::format("{}: '{}' in 'env' is no variable with a text", Printable(file),
                              Printable(name)),
                  "write: \"env\": {\"NAME\": \"value\"}");
    }
    profile.set.emplace_back(name, *text);
  }
  return {};
}

}  // namespace

void Add(const Settings& more, Settings& settings) {
  if (more.program) settings.program = more.program;
  settings.home.insert(settings.home.end(), more.home.begin(), more.home.end());
  settings.path.insert(settings.path.end(), more.path.begin(), more.path.end());
}

Result<Settings> ParseSettings(std::string_view text, std::string_view file) {
  Settings settings;
  const auto take = [&](std::size_t line, std::string_view key,
                        std::string_view value) -> Result<void> {
    if (value.empty()) return BadLine(file, line, "there is no value", "write: key = value");
    if (key == "cmd")
      settings.program = value;
    else if (key == "mount_home")
      settings.home.emplace_back(value);
    else if (key == "path_add")
      settings.path.emplace_back(value);
    else
      return BadLine(file, line, fmt::format("there is no key '{}'", Printable(key)),
                     "the keys are cmd, mount_home and path_add");
    return {};
  };
  IGLOO_TRY(ForEachLine(text, file, take));
  return settings;
}

Result<Variables> ParseVariables(std::string_view text, std::string_view file) {
  Variables variables;
  const auto take = [&](std::size_t line, std::string_view key,
                        std::string_view value) -> Result<void> {
    if (key.starts_with("export ")) key = Trimmed(key.substr(7));
    if (!environment::IsVariableName(std::string(key))) {
      return BadLine(file, line, fmt::format("'{}' is no name of a variable", Printable(key)),
                     "write: NAME=value");
    }
    variables.emplace_back(key, Unquoted(value));
    return {};
  };
  IGLOO_TRY(ForEachLine(text, file, take));
  return variables;
}

Result<Profile> ParseProfile(std::string_view text, std::string_view file) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error, {}, {.max_depth = 8});
  const json::object* object = error ? nullptr : value.if_object();
  if (object == nullptr) {
    return Fail(Errc::kInvalidArgument, Printable(file) + " is no JSON object",
                "write: {\"env\": {}, \"mounts\": [], \"network\": \"inet\"}");
  }
  Profile profile;
  for (const auto& [key, content] : *object) {
    if (key == "env") {
      IGLOO_TRY(ReadEnv(content, file, profile));
    } else if (key == "mounts") {
      IGLOO_ASSIGN(profile.home, Texts(content, file, "mounts"));
    } else if (key == "network" && content.is_string()) {
      profile.network = content.get_string();
    } else {
      return Fail(Errc::kInvalidArgument,
                  fmt::format("{}: '{}' is no key of a profile", Printable(file), Printable(key)),
                  "the keys are env, mounts and network (a text)");
    }
  }
  return profile;
}

}  // namespace igloo::agent::claudebox

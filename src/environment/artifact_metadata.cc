#include <algorithm>
#include <array>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <iterator>
#include <span>

#include "base/text.h"
#include "environment/artifact.h"
#include "environment/interpreter.h"
#include "environment/names.h"
#include "language/language.h"

namespace igloo::environment {
namespace {

namespace json = boost::json;

constexpr std::string_view kStore = "/nix/store/";
constexpr std::size_t kMaxClosure = 16'384;
constexpr std::size_t kMaxTexts = 64;
constexpr std::uint64_t kSchema = 1;  // the newest that is understood

std::unexpected<Error> Bad(std::string what, std::string hint = {}) {
  return Fail(Errc::kInvalidArgument, "metadata.json: " + std::move(what), std::move(hint));
}

bool HasNul(std::string_view text) { return text.contains('\0'); }

enum class Need { kRequired, kOptional };

Result<std::string> TakeText(const json::object& object, std::string_view key, Need need) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr && need == Need::kOptional) return std::string();
  if (value == nullptr) return Bad("'" + std::string(key) + "' is missing");
  if (!value->is_string()) return Bad("'" + std::string(key) + "' is not a string");
  // SECURITY: the kernel ends a path there, and would see another one than we have checked.
  if (HasNul(value->get_string())) return Bad("'" + std::string(key) + "' holds a zero byte");
  return std::string(value->get_string());
}

Result<std::uint64_t> TakeNumber(const json::object& object, std::string_view key,
                                 std::uint64_t otherwise, std::uint64_t least, std::uint64_t most) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr) return otherwise;
  boost::system::error_code error;
  const auto number = value->to_number<std::uint64_t>(error);
  if (error || number < least || number > most) {
    return Bad("'" + std::string(key) + "' is not a whole number from " + std::to_string(least) +
               " to " + std::to_string(most));
  }
  return number;
}

/// At most 64 texts that are not empty and have no zero byte.
Result<std::vector<std::string>> TakeTexts(const json::object& object, std::string_view key) {
  std::vector<std::string> texts;
  const json::value* value = object.if_contains(key);
  if (value == nullptr) return texts;
  const json::array* list = value->if_array();
  if (list == nullptr || list->size() > kMaxTexts) {
    return Bad("'" + std::string(key) + "' is not a list of at most 64 strings");
  }
  for (const json::value& each : *list) {
    const json::string* text = each.if_string();
    if (text == nullptr || text->empty() || HasNul(*text)) {
      return Bad("'" + std::string(key) + "' holds something that is not a usable string");
    }
    texts.emplace_back(*text);
  }
  return texts;
}

/// Like TakeNumber, but of a key without a default.
Result<std::optional<std::uint64_t>> TakeOptional(const json::object& object, std::string_view key,
                                                  std::uint64_t least, std::uint64_t most) {
  if (!object.contains(key)) return std::nullopt;
  IGLOO_ASSIGN(const std::uint64_t number, TakeNumber(object, key, 0, least, most));
  return number;
}

/// One of a few words.
Result<std::string> TakeChoice(const json::object& object, std::string_view key,
                               std::string_view otherwise,
                               std::span<const std::string_view> choices) {
  IGLOO_ASSIGN(std::string word, TakeText(object, key, Need::kOptional));
  if (word.empty()) return std::string(otherwise);
  if (std::ranges::find(choices, word) != choices.end()) return word;
  std::string known;
  for (const std::string_view each : choices) {
    known += (known.empty() ? "" : ", ") + std::string(each);
  }
  return Bad("'" + std::string(key) + "' is '" + Printable(word) + "'", "write one of: " + known);
}

Result<void> CheckStorePath(std::string_view path, std::string_view key) {
  if (IsStorePath(path)) return {};
  return Bad("'" + std::string(key) + "' holds '" + Printable(path) + "', which is no store path",
             "store paths look like /nix/store/HASH-name");
}

/// A part of a path that leads to where it is already, or up.
bool IsDots(std::string_view part) { return part == "." || part == ".."; }

Result<void> TakeClosure(const json::object& object, ArtifactMetadata& metadata) {
  const json::value* value = object.if_contains("closure");
  if (value == nullptr) return {};
  if (const json::string* file = value->if_string()) {
    // SECURITY: only a file that lies in the store, right below a store path.
    const std::size_t slash = file->rfind('/');
    const std::string_view owner = std::string_view(*file).substr(0, slash);
    const std::string_view name = std::string_view(*file).substr(slash + 1);
    const bool plain =
        slash != json::string::npos && !name.empty() && !IsDots(name) && !HasNul(name);
    if (!plain) return CheckStorePath(*file, "closure");
    metadata.closure_file = *file;
    return CheckStorePath(owner, "closure");
  }
  const json::array* list = value->if_array();
  if (list == nullptr) return Bad("'closure' is neither a list nor a file in the store");
  if (list->size() > kMaxClosure) return Bad("'closure' has more than 16384 paths");
  for (const json::value& each : *list) {
    const json::string* path = each.if_string();
    if (path == nullptr) return Bad("'closure' holds something that is not a string");
    IGLOO_TRY(CheckStorePath(*path, "closure"));
    metadata.closure.emplace_back(*path);
  }
  return {};
}

Result<void> TakeVariables(const json::object& object, ArtifactMetadata& metadata) {
  const json::value* value = object.if_contains("env");
  if (value == nullptr) return {};
  if (!value->is_object()) return Bad("'env' is not an object");
  for (const auto& [name, text] : value->get_object()) {
    const bool usable = text.is_string() && !name.empty() &&
                        std::string_view(name).find_first_of(std::string_view("=\0", 2)) ==
                            std::string_view::npos &&
                        !HasNul(text.get_string());
    if (!usable) return Bad("'env' holds '" + Printable(name) + "', which is no usable variable");
    metadata.variables.emplace(name, text.get_string());
  }
  return {};
}

Result<void> CheckName(std::string_view name) {
  if (IsName(name)) return {};
  return Bad("'" + Printable(name) + "' is not a name for an environment", std::string(kNameRule));
}

Result<void> TakeNames(const json::object& object, ArtifactMetadata& metadata) {
  IGLOO_ASSIGN(metadata.name, TakeText(object, "name", Need::kRequired));
  IGLOO_TRY(CheckName(metadata.name));
  IGLOO_ASSIGN(metadata.aliases, TakeTexts(object, "aliases"));
  for (const std::string& alias : metadata.aliases) IGLOO_TRY(CheckName(alias));
  IGLOO_ASSIGN(metadata.description, TakeText(object, "description", Need::kOptional));
  return {};
}

std::vector<std::string> WordsOf(std::string_view line) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    if (!word.empty()) words.emplace_back(word);
    line.remove_prefix(std::min(line.size(), word.size() + 1));
  }
  return words;
}

/// A command line, as nix-sandbox-mcp planned to write it ("python3 -c"), with "stdin_mode" beside
/// it. Where a type is named that says the same, and better.
Result<void> TakeCommandLine(const json::object& object, ArtifactMetadata& metadata) {
  constexpr std::string_view kModes[] = {"arg", "pipe"};
  IGLOO_ASSIGN(const std::string mode, TakeChoice(object, "stdin_mode", "", kModes));
  IGLOO_ASSIGN(const std::string line, TakeText(object, "interpreter", Need::kOptional));
  if (!metadata.interpreter_type.empty()) return {};
  // Where code is named that is no file, the words say how it is passed.
  if (object.contains("code") && metadata.passing != CodePassing::kFile) {
    metadata.interpreter = WordsOf(line);
    return {};
  }
  Start start = StartFor(WordsOf(line));
  metadata.interpreter = std::move(start.interpreter);
  metadata.interpreter_type = std::move(start.language);
  if (object.contains("code")) return {};
  metadata.passing = start.passing;
  // An interpreter that gets a file needs to be told neither.
  if (!mode.empty() && metadata.interpreter_type.empty()) {
    metadata.passing = mode == "arg" ? CodePassing::kArgument : CodePassing::kInput;
  }
  return {};
}

bool IsCommandLine(const json::object& object) {
  const json::value* value = object.if_contains("interpreter");
  return value != nullptr && value->is_string() && !WordsOf(value->get_string()).empty();
}

Result<void> TakeInterpreter(const json::object& object, ArtifactMetadata& metadata) {
  const bool line = IsCommandLine(object);
  if (!line) {
    IGLOO_ASSIGN(metadata.interpreter, TakeTexts(object, "interpreter"));
  }
  IGLOO_ASSIGN(metadata.image, TakeText(object, "image", Need::kOptional));
  const bool brought = line || !metadata.interpreter.empty() || !metadata.image.empty();
  const Need need = brought ? Need::kOptional : Need::kRequired;
  IGLOO_ASSIGN(metadata.interpreter_type, TakeText(object, "interpreter_type", need));
  const bool known = language::IsInterpreterType(metadata.interpreter_type);
  if (!known && (need == Need::kRequired || !metadata.interpreter_type.empty())) {
    return Bad("Unknown interpreter_type: '" + Printable(metadata.interpreter_type) +
               "'. Must be one of: python, bash, node");
  }
  constexpr std::string_view kPassings[] = {"file", "argument", "input"};
  IGLOO_ASSIGN(const std::string code, TakeChoice(object, "code", "file", kPassings));
  metadata.passing = code == "argument" ? CodePassing::kArgument
                     : code == "input"  ? CodePassing::kInput
                                        : CodePassing::kFile;
  if (line) IGLOO_TRY(TakeCommandLine(object, metadata));
  IGLOO_ASSIGN(metadata.code_file, TakeText(object, "code_file", Need::kOptional));
  // SECURITY: it becomes a file's name right below a directory of igloo's.
  if (!metadata.code_file.empty() && !IsName(metadata.code_file)) {
    return Bad("'" + Printable(metadata.code_file) + "' is not a name for the code's file",
               std::string(kNameRule));
  }
  return {};
}

Result<void> TakeLimits(const json::object& object, ArtifactMetadata& metadata) {
  IGLOO_ASSIGN(metadata.timeout_seconds, TakeNumber(object, "timeout_seconds", 30, 1, 86'400));
  IGLOO_ASSIGN(metadata.memory_mb, TakeNumber(object, "memory_mb", 512, 16, 1U << 20));
  IGLOO_ASSIGN(metadata.processes, TakeOptional(object, "processes", 1, 1'000'000));
  IGLOO_ASSIGN(metadata.open_files, TakeOptional(object, "open_files", 16, 1'000'000));
  IGLOO_ASSIGN(metadata.warm, TakeOptional(object, "warm", 0, 64));
  IGLOO_ASSIGN(metadata.preload, TakeTexts(object, "preload"));
  constexpr std::string_view kTiers[] = {"none", "allow", "internet", "host"};
  IGLOO_ASSIGN(metadata.network, TakeChoice(object, "network", "none", kTiers));
  std::vector<std::string_view> walls;
  std::ranges::transform(wall::All(), std::back_inserter(walls), &wall::Wall::name);
  IGLOO_ASSIGN(metadata.backend, TakeChoice(object, "backend", wall::kDefault.name, walls));
  return {};
}

/// Empty, or an absolute path that says plainly where it leads.
Result<void> CheckPrefix(std::string_view prefix) {
  if (!prefix.empty() && prefix[0] != '/') return Bad("'store_prefix' is not an absolute path");
  for (std::string_view rest = prefix; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    if (IsDots(part)) {
      return Bad("'store_prefix' has a '.' or '..' part", "write the path without them");
    }
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  return {};
}

Result<void> TakeStore(const json::object& object, ArtifactMetadata& metadata) {
  IGLOO_TRY(TakeClosure(object, metadata));
  IGLOO_ASSIGN(metadata.root, TakeText(object, "root", Need::kOptional));
  if (!metadata.root.empty()) IGLOO_TRY(CheckStorePath(metadata.root, "root"));
  if (!metadata.image.empty() && (object.contains("closure") || object.contains("root"))) {
    return Bad("it has an 'image' and store paths", "keep either 'image' or 'root' and 'closure'");
  }
  IGLOO_ASSIGN(metadata.store_prefix, TakeText(object, "store_prefix", Need::kOptional));
  return CheckPrefix(metadata.store_prefix);
}

Result<ArtifactMetadata> Decode(const json::object& object) {
  ArtifactMetadata metadata;
  IGLOO_ASSIGN(metadata.schema, TakeNumber(object, "schema", 0, 1, UINT32_MAX));
  if (metadata.schema > kSchema) {
    return Bad("it is made for a newer igloo: its schema is " + std::to_string(metadata.schema) +
                   ", and this one understands " + std::to_string(kSchema),
               "update igloo, or build it with the mkSandbox of this igloo");
  }
  IGLOO_TRY(TakeNames(object, metadata));
  IGLOO_TRY(TakeInterpreter(object, metadata));
  IGLOO_TRY(TakeLimits(object, metadata));
  IGLOO_TRY(TakeVariables(object, metadata));
  IGLOO_TRY(TakeStore(object, metadata));
  return metadata;
}

}  // namespace

bool IsStorePath(std::string_view path) {
  constexpr std::size_t kHash = 32;
  if (!path.starts_with(kStore)) return false;
  const std::string_view name = path.substr(kStore.size());
  if (name.size() < kHash + 2 || name.size() > kHash + 1 + 211 || name[kHash] != '-') return false;
  constexpr std::string_view kHashLetters = "0123456789abcdfghijklmnpqrsvwxyz";
  const auto fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("+-._?=").contains(c);
  };
  return name.substr(0, kHash).find_first_not_of(kHashLetters) == std::string_view::npos &&
         std::ranges::all_of(name.substr(kHash + 1), fine);
}

std::optional<StorePlace> FindStorePlace(std::string_view path) {
  for (std::size_t at = path.find(kStore); at != std::string_view::npos;
       at = path.find(kStore, at + 1)) {
    const std::string_view below = path.substr(at);
    const std::string_view whole = below.substr(0, below.find('/', kStore.size()));
    if (IsStorePath(whole)) return StorePlace{std::string(path.substr(0, at)), std::string(whole)};
  }
  return std::nullopt;
}

Result<std::vector<std::string>> ParseClosure(std::string_view text) {
  std::vector<std::string> paths;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty()) continue;
    // SECURITY: the line is not repeated: the file may be another one than it should be.
    if (!IsStorePath(line)) {
      return Fail(Errc::kInvalidArgument,
                  "the list of the closure: line " + std::to_string(number) + " is no store path",
                  "store paths look like /nix/store/HASH-name");
    }
    if (paths.size() == kMaxClosure) return Bad("'closure' has more than 16384 paths");
    paths.emplace_back(line);
  }
  return paths;
}

Result<ArtifactMetadata> ParseArtifactMetadata(std::string_view text) {
  boost::system::error_code error;
  // Most are small, and there may be hundreds of them.
  std::array<unsigned char, 4096> room;
  json::monotonic_resource memory(room.data(), room.size());
  const json::value value = json::parse(text, error, &memory);
  if (error) return Bad("this is not JSON: " + error.message());
  const json::object* object = value.if_object();
  if (object == nullptr) return Bad("this is not a JSON object");
  return Decode(*object);
}

}  // namespace igloo::environment

#include "nix/record.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/text.h"
#include "environment/artifact.h"

namespace igloo::nix {
namespace {

namespace json = boost::json;

std::optional<json::object> ObjectOf(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

std::string Text(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  const json::string* text = value != nullptr ? value->if_string() : nullptr;
  return text != nullptr ? std::string(*text) : "";
}

bool Flag(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

const json::object* Object(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr ? value->if_object() : nullptr;
}

Built BuiltOf(const json::object& object) {
  return {.digest = Text(object, "digest"),
          .lock = Text(object, "lock"),
          .out = Text(object, "out"),
          .prefix = Text(object, "prefix"),
          .reference = Text(object, "reference"),
          .flake = Text(object, "flake"),
          .locked = Text(object, "locked"),
          .artifact = Flag(object, "artifact"),
          .own_packages = Flag(object, "own_packages"),
          .trusted = Text(object, "trusted")};
}

}  // namespace

std::string ToJson(const Record& record) {
  json::object document{{"schema", 1}, {"project", ToUtf8(record.project)}};
  if (const auto& built = record.built) {
    document["built"] = json::object{{"digest", built->digest},
                                     {"lock", built->lock},
                                     {"out", built->out},
                                     {"prefix", ToUtf8(built->prefix)},
                                     {"reference", built->reference},
                                     {"flake", built->flake},
                                     {"locked", built->locked},
                                     {"artifact", built->artifact},
                                     {"own_packages", built->own_packages},
                                     {"trusted", built->trusted}};
  }
  if (const auto& failure = record.failure) {
    document["failure"] = json::object{{"digest", failure->digest},
                                       {"what", ToUtf8(failure->what)},
                                       {"hint", ToUtf8(failure->hint)}};
  }
  return json::serialize(document) + "\n";
}

Result<Record> ParseRecord(std::string_view text) {
  const auto object = ObjectOf(text);
  if (!object) return Fail(Errc::kFailedPrecondition, "a record of igloo's own is damaged");
  Record record{.project = Text(*object, "project")};
  if (const json::object* built = Object(*object, "built")) {
    record.built = BuiltOf(*built);
    // SECURITY: what is mounted comes from here.
    if (!environment::IsStorePath(record.built->out)) {
      return Fail(Errc::kFailedPrecondition, "a record of igloo's own is damaged");
    }
  }
  if (const json::object* failure = Object(*object, "failure")) {
    record.failure = {.digest = Text(*failure, "digest"),
                      .what = Text(*failure, "what"),
                      .hint = Text(*failure, "hint")};
  }
  return record;
}

std::string LockedSource(std::string_view lock) {
  const auto document = ObjectOf(lock);
  const json::object* at = document ? &*document : nullptr;
  for (const std::string_view key : {"nodes", "source", "locked"}) {
    if (at != nullptr) at = Object(*at, key);
  }
  if (at == nullptr) return {};
  const std::string type = Text(*at, "type");
  const std::string revision = Text(*at, "rev");
  if (!Text(*at, "owner").empty()) {
    return fmt::format("{}:{}/{}/{}", type, Text(*at, "owner"), Text(*at, "repo"), revision);
  }
  const std::string place = Text(*at, "url").empty() ? Text(*at, "path") : Text(*at, "url");
  const std::string pin = revision.empty() ? Text(*at, "narHash") : revision;
  return fmt::format("{}:{} at {}", type, place, pin);
}

bool IsLock(std::string_view text) {
  const auto document = ObjectOf(text);
  return document && Object(*document, "nodes") != nullptr;
}

Result<std::string> OutOf(std::string_view text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  const auto bad = [] {
    return Fail(Errc::kProtocol, "Nix said something else than what it made");
  };
  const json::array* list = error ? nullptr : value.if_array();
  const json::object* first =
      list != nullptr && !list->empty() ? list->front().if_object() : nullptr;
  const json::object* outputs = first != nullptr ? Object(*first, "outputs") : nullptr;
  if (outputs == nullptr || outputs->empty()) return bad();
  std::string out = Text(*outputs, "out");
  if (out.empty() && outputs->begin()->value().is_string()) {
    out = std::string(outputs->begin()->value().get_string());
  }
  if (!environment::IsStorePath(out)) return bad();
  return out;
}

}  // namespace igloo::nix

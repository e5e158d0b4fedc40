#include "nix/record.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/text.h"
#include "environment/artifact.h"
#include "environment/record_json.h"

namespace igloo::nix {
namespace {

namespace json = boost::json;
using environment::FlagAt;
using environment::ObjectAt;
using environment::ObjectOf;
using environment::TextAt;

Built BuiltOf(const json::object& object) {
  return {.digest = TextAt(object, "digest"),
          .lock = TextAt(object, "lock"),
          .out = TextAt(object, "out"),
          .prefix = TextAt(object, "prefix"),
          .reference = TextAt(object, "reference"),
          .flake = TextAt(object, "flake"),
          .locked = TextAt(object, "locked"),
          .artifact = FlagAt(object, "artifact"),
          .own_packages = FlagAt(object, "own_packages"),
          .trusted = TextAt(object, "trusted")};
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
  Record record{.project = TextAt(*object, "project")};
  if (const json::object* built = ObjectAt(*object, "built")) {
    record.built = BuiltOf(*built);
    // SECURITY: what is mounted comes from here.
    if (!environment::IsStorePath(record.built->out)) {
      return Fail(Errc::kFailedPrecondition, "a record of igloo's own is damaged");
    }
  }
  if (const json::object* failure = ObjectAt(*object, "failure")) {
    record.failure = {.digest = TextAt(*failure, "digest"),
                      .what = TextAt(*failure, "what"),
                      .hint = TextAt(*failure, "hint")};
  }
  return record;
}

std::string LockedSource(std::string_view lock) {
  const auto document = ObjectOf(lock);
  const json::object* at = document ? &*document : nullptr;
  for (const std::string_view key : {"nodes", "source", "locked"}) {
    if (at != nullptr) at = ObjectAt(*at, key);
  }
  if (at == nullptr) return {};
  const std::string type = TextAt(*at, "type");
  const std::string revision = TextAt(*at, "rev");
  if (!TextAt(*at, "owner").empty()) {
    return fmt::format("{}:{}/{}/{}", type, TextAt(*at, "owner"), TextAt(*at, "repo"), revision);
  }
  const std::string place = TextAt(*at, "url").empty() ? TextAt(*at, "path") : TextAt(*at, "url");
  const std::string pin = revision.empty() ? TextAt(*at, "narHash") : revision;
  return fmt::format("{}:{} at {}", type, place, pin);
}

bool IsLock(std::string_view text) {
  const auto document = ObjectOf(text);
  return document && ObjectAt(*document, "nodes") != nullptr;
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
  const json::object* outputs = first != nullptr ? ObjectAt(*first, "outputs") : nullptr;
  if (outputs == nullptr || outputs->empty()) return bad();
  std::string out = TextAt(*outputs, "out");
  if (out.empty() && outputs->begin()->value().is_string()) {
    out = std::string(outputs->begin()->value().get_string());
  }
  if (!environment::IsStorePath(out)) return bad();
  return out;
}

}  // namespace igloo::nix

#include "image/record.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "base/text.h"
#include "environment/names.h"
#include "environment/record_json.h"

namespace igloo::image {
namespace {

namespace json = boost::json;
using environment::NumberAt;
using environment::TextAt;
using environment::TextsAt;

std::unexpected<Error> Bad(const char* what) { return Fail(Errc::kProtocol, what); }

Result<json::object> ParseObject(std::string_view text) {
  auto object = environment::ObjectOf(text);
  if (!object) return Bad("what is known of an image is no JSON object");
  return *std::move(object);
}

}  // namespace

bool IsDigest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<Record> ParseRecord(std::string_view text) {
  IGLOO_ASSIGN(const json::object object, ParseObject(text));
  if (const json::value* error = object.if_contains("error"); error && error->is_object()) {
    return Fail(Errc::kFailedPrecondition, Printable(TextAt(error->get_object(), "what")),
                Printable(TextAt(error->get_object(), "hint")));
  }
  if (NumberAt(object, "schema") != 1) return Bad("an image was unpacked by a newer igloo");
  Record out{.digest = TextAt(object, "digest"),
             .entrypoint = TextsAt(object, "entrypoint"),
             .command = TextsAt(object, "command"),
             .working_directory = TextAt(object, "working_directory"),
             .user = TextAt(object, "user"),
             .entries = NumberAt(object, "entries"),
             .bytes = NumberAt(object, "bytes"),
             .notes = TextsAt(object, "notes")};
  if (!out.digest.empty() && !IsDigest(out.digest)) return Bad("an image has no digest");
  for (const std::string& each : TextsAt(object, "env")) {
    const std::size_t equals = each.find('=');
    if (equals == std::string::npos || each.contains('\0')) continue;
    if (environment::IsVariableName(each.substr(0, equals))) {
      out.variables[each.substr(0, equals)] = each.substr(equals + 1);
    }
  }
  return out;
}

Result<Names> ParseNames(std::string_view text) {
  IGLOO_ASSIGN(const json::object object, ParseObject(text));
  if (NumberAt(object, "schema") != 1) return Bad("the list of images is of a newer igloo");
  Names names;
  const json::value* all = object.if_contains("names");
  if (all == nullptr || !all->is_object()) return names;
  for (const auto& [name, value] : all->get_object()) {
    if (!value.is_object()) continue;
    Names::Entry entry{TextAt(value.get_object(), "digest"), TextAt(value.get_object(), "stamp")};
    if (IsDigest(entry.digest)) names.all.emplace(name, std::move(entry));
  }
  return names;
}

std::string ToJson(const Names& names) {
  json::object all;
  for (const auto& [name, entry] : names.all) {
    all[name] = json::object{{"digest", entry.digest}, {"stamp", entry.stamp}};
  }
  return json::serialize(json::object{{"schema", 1}, {"names", std::move(all)}}) + "\n";
}

}  // namespace igloo::image

#include "image/unpack/answer.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/text.h"

namespace igloo::image::unpack {
namespace {

namespace json = boost::json;

json::array Texts(const std::vector<std::string>& texts) {
  json::array out;
  for (const std::string& text : texts) out.emplace_back(ToUtf8(text));
  return out;
}

json::array NotesOf(const Dropped& dropped) {
  json::array notes;
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count > 0) notes.emplace_back(std::to_string(count) + what);
  };
  add(dropped.devices, " devices, pipes or sockets of the image were left out");
  add(dropped.privileged, " programs of the image lost their set-id bits");
  add(dropped.names, " names with control characters were left out");
  return notes;
}

}  // namespace

std::string ToJson(const Summary& summary) {
  const Config& config = summary.config;
  return json::serialize(json::object{{"schema", 1},
                                      {"digest", summary.digest},
                                      {"env", Texts(config.env)},
                                      {"entrypoint", Texts(config.entrypoint)},
                                      {"command", Texts(config.command)},
                                      {"working_directory", ToUtf8(config.working_directory)},
                                      {"user", ToUtf8(config.user)},
                                      {"entries", summary.entries},
                                      {"bytes", summary.bytes},
                                      {"notes", NotesOf(summary.dropped)}});
}

std::string ToJson(const Error& error) {
  return json::serialize(json::object{
      {"error", json::object{{"what", ToUtf8(error.what)}, {"hint", ToUtf8(error.hint)}}}});
}

}  // namespace igloo::image::unpack

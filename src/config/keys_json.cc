#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "config/example.h"
#include "config/schema.h"

namespace igloo::config {
namespace {

namespace json = boost::json;

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kText:
      return "text";
    case Kind::kName:
      return "name";
    case Kind::kPath:
      return "path";
    case Kind::kInside:
      return "inside";
    case Kind::kResolvers:
      return "resolvers";
    case Kind::kChoice:
      return "choice";
    case Kind::kFlag:
      return "flag";
    case Kind::kCount:
      return "count";
    case Kind::kSeconds:
      return "seconds";
    case Kind::kMegabytes:
      return "megabytes";
    case Kind::kCpus:
      return "cpus";
    case Kind::kTexts:
      return "texts";
    case Kind::kVariables:
      return "variables";
    case Kind::kRules:
      return "rules";
    case Kind::kDenied:
      return "denied";
    case Kind::kHosts:
      return "hosts";
    case Kind::kPublished:
      return "published";
    case Kind::kPorts:
      return "ports";
    case Kind::kTextTable:
      return "text table";
  }
  return "";
}

json::array WordList(std::string_view text) {
  json::array words;
  for (const std::string_view word : Words(text)) words.emplace_back(word);
  return words;
}

json::object KeyJson(const Key& key) {
  json::object out{{"path", key.path}, {"kind", KindName(key.shape.kind)}};
  if (key.shape.kind == Kind::kChoice) {
    out["choices"] = WordList(key.shape.choices);
    out["later"] = WordList(key.shape.later);
  }
  if (key.shape.most != 0) {
    out["least"] = key.shape.least;
    out["most"] = key.shape.most;
  }
  // What a key falls back to is written the same way in TOML and in JSON; a test sees to it.
  if (!key.fallback.empty()) {
    boost::system::error_code error;
    out["fallback"] = json::parse(key.fallback, error);
  }
  out["served"] = key.served == Served::kNow;
  out["description"] = key.description;
  return out;
}

}  // namespace

std::string KeysAsJson() {
  std::string out = "{\n  \"sections\": [";
  std::string_view separator = "\n";
  for (const Section& section : Sections()) {
    const json::object row{{"path", section.path}, {"description", section.description}};
    out += fmt::format("{}    {}", separator, json::serialize(row));
    separator = ",\n";
  }
  out += "\n  ],\n  \"keys\": [";
  separator = "\n";
  // One line a key: a change of the table is read as such.
  for (const Key& key : Keys()) {
    out += fmt::format("{}    {}", separator, json::serialize(KeyJson(key)));
    separator = ",\n";
  }
  return out + "\n  ]\n}\n";
}

}  // namespace igloo::config

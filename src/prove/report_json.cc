#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/text.h"
#include "prove/case.h"
#include "prove/report.h"

namespace igloo::prove {
namespace {

namespace json = boost::json;

json::object Encode(const Attempt& attempt) {
  return {{"ending", std::string(Name(attempt.ending))}, {"said", ToUtf8(attempt.said)}};
}

json::object Encode(const Row& row) {
  return {
      {"name", row.name},         {"promise", row.promise},         {"attack", row.text},
      {"promised", row.promised}, {"control", Encode(row.control)}, {"behind", Encode(row.behind)},
      {"counts", row.Counts()}};
}

json::object Encode(const WallReport& wall) {
  json::object out{{"name", wall.name},
                   {"description", wall.description},
                   {"caveat", wall.caveat},
                   {"stands", wall.Stands()}};
  if (wall.missing) {
    out["missing"] = {{"what", ToUtf8(wall.missing->what)}, {"hint", ToUtf8(wall.missing->hint)}};
    return out;
  }
  json::array unproven, rows;
  for (const std::string& each : wall.Unproven()) unproven.emplace_back(each);
  for (const Row& each : wall.rows) rows.push_back(Encode(each));
  out["attacks"] = wall.rows.size();
  out["proofs"] = wall.Count(&Row::Counts);
  out["leaks"] = wall.Count(&Row::Leaked);
  out["not_run"] = wall.Count(&Row::NotRun);
  out["unproven_promises"] = std::move(unproven);
  out["rows"] = std::move(rows);
  return out;
}

}  // namespace

std::string ToJson(const Report& report) {
  json::array walls, promises, complaints;
  for (const WallReport& each : report.walls) walls.push_back(Encode(each));
  for (const Promise& each : Promises()) {
    promises.push_back(
        json::object{{"id", std::string(each.id)}, {"text", std::string(each.text)}});
  }
  for (const std::string& each : report.Complaints()) complaints.emplace_back(ToUtf8(each));
  const WallReport* strongest = report.Strongest();
  const json::object document{
      {"report", "igloo doctor --prove"},
      {"format", 1},
      {"igloo", report.machine.igloo},
      {"time", report.machine.time},
      {"machine",
       {{"host", ToUtf8(report.machine.host)},
        {"kernel", ToUtf8(report.machine.kernel)},
        {"architecture", ToUtf8(report.machine.architecture)},
        {"user", report.machine.user}}},
      {"good", report.Good()},
      {"complaints", std::move(complaints)},
      {"recommended", strongest != nullptr ? json::value(strongest->name) : json::value(nullptr)},
      {"promises", std::move(promises)},
      {"walls", std::move(walls)}};
  return json::serialize(document) + "\n";
}

}  // namespace igloo::prove

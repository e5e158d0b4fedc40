#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "agent/summary.h"
#include "cli/agent/launch.h"

namespace igloo::cli {
namespace {

using Kind = agent::SummaryRow::Kind;

std::vector<agent::SummarySection> Sections(const PreparedBox& prepared) {
  return agent::Summarize(prepared.box, prepared.plan, [](const std::string& path) {
    return ::access(path.c_str(), F_OK) == 0;
  });
}

std::string_view Name(Kind kind) {
  switch (kind) {
    case Kind::kPlain:
      return "plain";
    case Kind::kWritable:
      return "writable";
    case Kind::kMissing:
      return "missing";
    case Kind::kRemark:
      return "remark";
    case Kind::kGranted:
      return "granted";
  }
  return "?";
}

std::string Painted(std::string_view code, std::string_view text, bool colours) {
  return colours ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

}  // namespace

std::string SummaryText(const PreparedBox& prepared, bool colours, const SummaryWords& words) {
  std::string text;
  for (const agent::SummarySection& section : Sections(prepared)) {
    if (section.title == words.without) continue;
    const bool renamed = section.title == words.title;
    text += Painted("1", renamed ? words.instead : section.title, colours) + "\n";
    std::string last;
    for (const agent::SummaryRow& row : section.rows) {
      // A label stands once for the rows that share it.
      const std::string label = row.label == last ? "" : row.label;
      last = row.label;
      const char* tone = row.kind == Kind::kWritable  ? "33"
                         : row.kind == Kind::kMissing ? "32"
                         : row.kind == Kind::kRemark  ? "33"
                         : row.kind == Kind::kGranted ? "33"
                                                      : "0";
      text += fmt::format("  {:<14} {}", label, Painted(tone, row.text, colours));
      if (!row.reason.empty()) text += "  " + Painted("2", "(" + row.reason + ")", colours);
      text += "\n";
    }
  }
  return text;
}

std::string SummaryJson(const PreparedBox& prepared) {
  namespace json = boost::json;
  json::array sections;
  for (const agent::SummarySection& section : Sections(prepared)) {
    json::array rows;
    for (const agent::SummaryRow& row : section.rows) {
      rows.push_back(json::object{{"label", row.label},
                                  {"text", row.text},
                                  {"reason", row.reason},
                                  {"kind", Name(row.kind)}});
    }
    sections.push_back(json::object{{"title", section.title}, {"rows", std::move(rows)}});
  }
  return json::serialize(json::object{{"box", prepared.box.name},
                                      {"project", prepared.box.project},
                                      {"sections", std::move(sections)}}) +
         "\n";
}

}  // namespace igloo::cli

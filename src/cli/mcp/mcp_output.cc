#include "cli/mcp/mcp_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/text.h"

namespace igloo::cli {
namespace {

namespace json = boost::json;
using clients::Change;

std::string_view Name(clients::Format format) {
  switch (format) {
    case clients::Format::kJson:
      return "json";
    case clients::Format::kJsonc:
      return "jsonc";
    case clients::Format::kToml:
      return "toml";
  }
  return "";
}

std::string_view Name(Change change, bool install) {
  switch (change) {
    case Change::kNone:
      return install ? "unchanged" : "absent";
    case Change::kAdded:
      return "added";
    case Change::kUpdated:
      return "updated";
    case Change::kReplaced:
      return "replaced";
    case Change::kRemoved:
      return "removed";
    case Change::kForeign:
      return "foreign";
  }
  return "";
}

json::value OrNull(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(ToUtf8(text));
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    out.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return out;
}

/// The lines in which two texts differ, between the first difference and the last.
std::string Difference(std::string_view before, std::string_view after) {
  std::vector<std::string_view> gone = Lines(before), come = Lines(after);
  const auto same = std::ranges::mismatch(gone, come);
  gone.erase(gone.begin(), same.in1);
  come.erase(come.begin(), same.in2);
  while (!gone.empty() && !come.empty() && gone.back() == come.back()) {
    gone.pop_back();
    come.pop_back();
  }
  std::string out;
  for (const auto& [mark, lines] : {std::pair{'-', &gone}, {'+', &come}}) {
    for (std::string_view line : *lines) {
      while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
      out += fmt::format("  {} {}\n", mark, Printable(line));
    }
  }
  return out;
}

}  // namespace

std::string DoneText(const clients::Order& order, const clients::Done& done) {
  const bool install = order.action == clients::Action::kInstall;
  const std::string file = Printable(order.file);
  const std::string what = fmt::format("'{}'", order.server.name);
  const Change change = done.edit.change;
  if (change == Change::kNone) {
    return install ? fmt::format("{} is there already, nothing to change: {}\n", what, file)
                   : fmt::format("there is no {} to remove: {}\n", what, file);
  }
  std::string out;
  if (order.dry_run) out += "not done, only shown: ";
  if (change == Change::kRemoved) {
    out += fmt::format("removed {} from {}: {}\n", what, order.client->title, file);
    if (done.deleted_file) out += "  the file is gone: igloo had made it\n";
  } else {
    out += fmt::format("{} {} {} {}: {}\n", Name(change, install), what,
                       change == Change::kAdded ? "to" : "in", order.client->title, file);
    if (done.made_file) out += "  the file is new\n";
  }
  if (order.dry_run) return out + Difference(done.old_text, done.edit.text);
  if (!done.backup.empty()) out += fmt::format("  backup: {}\n", Printable(done.backup));
  if (change != Change::kRemoved) out += fmt::format("  next: {}\n", order.client->after);
  return out;
}

std::string DoneJson(const clients::Order& order, const clients::Done& done) {
  const bool install = order.action == clients::Action::kInstall;
  const json::object document{{"client", std::string(order.client->name)},
                              {"file", ToUtf8(order.file)},
                              {"name", order.server.name},
                              {"result", std::string(Name(done.edit.change, install))},
                              {"changed", done.edit.change != Change::kNone && !order.dry_run},
                              {"dry_run", order.dry_run},
                              {"made_file", done.made_file},
                              {"deleted_file", done.deleted_file},
                              {"backup", OrNull(done.backup)},
                              {"block", ToUtf8(done.edit.block)}};
  return json::serialize(document) + "\n";
}

std::string PrintedJson(const clients::Client& client, const std::string& file,
                        const std::string& text) {
  const json::object document{{"client", std::string(client.name)},
                              {"file", OrNull(file)},
                              {"format", std::string(Name(client.format))},
                              {"text", text}};
  return json::serialize(document) + "\n";
}

}  // namespace igloo::cli

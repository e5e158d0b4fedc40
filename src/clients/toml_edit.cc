#include "clients/toml_edit.h"

#include <fmt/format.h>

#include <algorithm>

#include "clients/render.h"
#include "clients/toml_scan.h"

namespace igloo::clients {
namespace {

using Kind = TomlStatement::Kind;
using Path = std::vector<std::string>;

/// Statements that follow each other and belong to the block.
struct Range {
  std::size_t begin = 0, end = 0;
};

/// The block of a server: its own table with everything below it, which may stand in pieces.
struct Located {
  std::vector<TomlStatement> statements = {};
  std::vector<Range> ranges = {};
  Path path = {};
};

bool IsBelow(const Path& path, const Path& above) {
  return path.size() >= above.size() && std::equal(above.begin(), above.end(), path.begin());
}

std::unexpected<Mistake> Unedited(const TomlStatement& statement, std::string what) {
  return std::unexpected(
      Mistake{statement.begin, std::move(what), "write it as a table with a header of its own"});
}

/// Forms that mean the same and that this editor leaves alone, because what it adds would not join
/// them or what it removes would not be all.
Scanned<void> CheckForms(const Client& client, const Path& block, const TomlStatement& each,
                         const Path& table) {
  const bool is_servers = each.path.size() == 1 && each.path[0] == client.key;
  if (is_servers && each.kind != Kind::kTable) {
    return Unedited(each, fmt::format("'{}' is not a table that others can join", client.key));
  }
  if (each.kind == Kind::kTableArray && each.path == block) {
    return Unedited(each, fmt::format("'{}.{}' is a list of tables", block[0], block[1]));
  }
  if (each.kind == Kind::kPair && IsBelow(each.path, block) && !IsBelow(table, block)) {
    return Unedited(each,
                    fmt::format("'{}.{}' is written inside another table", block[0], block[1]));
  }
  return {};
}

Scanned<Located> Locate(const Client& client, std::string_view name, std::string_view text) {
  Located out;
  out.path = {std::string(client.key), std::string(name)};
  IGLOO_ASSIGN(out.statements, ScanToml(text));
  Path table;
  bool inside = false;
  for (const TomlStatement& each : out.statements) {
    IGLOO_TRY(CheckForms(client, out.path, each, table));
    if (each.kind != Kind::kPair) {
      table = each.path;
      const bool was_inside = inside;
      inside = IsBelow(each.path, out.path);
      if (inside && !was_inside) out.ranges.push_back({each.begin, each.end});
    }
    if (inside) out.ranges.back().end = each.end;
  }
  return out;
}

FieldFinder FieldsOf(const Located& at) {
  return [&at](std::string_view key) -> const Node* {
    for (const TomlStatement& each : at.statements) {
      if (each.kind == Kind::kPair && each.path.size() == 3 && each.path[0] == at.path[0] &&
          each.path[1] == at.path[1] && each.path[2] == key) {
        return &each.value;
      }
    }
    return nullptr;
  };
}

std::string TextOf(std::string_view text, const std::vector<Range>& ranges) {
  std::string out;
  for (const Range& range : ranges) out += text.substr(range.begin, range.end - range.begin);
  return out;
}

/// At the end, because a header ends the table above it wherever it stands.
Edit Append(const Client& client, const Server& server, std::string_view text) {
  const std::string_view newline = NewlineOf(text);
  Edit edit{.change = Change::kAdded};
  edit.undo.emplace();
  const bool empty = text.empty() || text == kByteOrderMark;
  if (!empty) edit.undo->before = newline;
  if (!empty && !text.ends_with('\n')) edit.undo->before += newline;
  edit.block = TomlBlock(client, server, newline);
  edit.text = std::string(text) + edit.undo->before + edit.block;
  return edit;
}

/// Cuts the pieces of a block. A blank line before each piece goes with it when one follows, too,
/// or the file ends there: one of the two was the block's.
std::string Without(std::string_view text, const std::vector<Range>& ranges,
                    std::string_view before) {
  std::vector<Replacement> cuts;
  for (const Range& range : ranges) {
    std::size_t begin = range.begin;
    const std::string_view above = text.substr(0, begin);
    if (&range == &ranges.front() && !before.empty() && above.ends_with(before)) {
      begin -= before.size();
    } else {
      const std::string_view rest = text.substr(range.end);
      const bool blank_follows = rest.empty() || rest.starts_with('\n') || rest.starts_with("\r\n");
      if (blank_follows && above.ends_with("\n\n")) begin -= 1;
      if (blank_follows && above.ends_with("\n\r\n")) begin -= 2;
    }
    cuts.push_back({begin, range.end, ""});
  }
  return Replace(text, std::move(cuts));
}

}  // namespace

Scanned<Edit> InstallToml(const Client& client, const Server& server, std::string_view text,
                          Foreign foreign) {
  IGLOO_ASSIGN(const Located at, Locate(client, server.name, text));
  if (at.ranges.empty()) return Append(client, server, text);
  const FieldFinder fields = FieldsOf(at);
  const auto launch = ReadLaunch(client, fields);
  Edit edit{.text = std::string(text), .block = TextOf(text, at.ranges)};
  edit.offset = at.ranges.front().begin;
  if (launch == Launch{server.command, server.args}) return edit;
  if (IsIgloo(launch)) {
    edit.change = Change::kUpdated;
    edit.text = Replace(text, UpdatesFor(client, server, fields));
  } else if (foreign == Foreign::kKeep) {
    edit.change = Change::kForeign;
  } else {
    edit.change = Change::kReplaced;
    std::vector<Replacement> parts;
    parts.reserve(at.ranges.size());
    for (const Range& range : at.ranges) parts.push_back({range.begin, range.end, ""});
    parts.front().text = TomlBlock(client, server, NewlineOf(text));
    edit.text = Replace(text, std::move(parts));
  }
  return edit;
}

Scanned<Edit> RemoveToml(const Client& client, std::string_view name, std::string_view text,
                         const std::optional<Undo>& undo, Foreign foreign) {
  IGLOO_ASSIGN(const Located at, Locate(client, name, text));
  Edit edit{.text = std::string(text), .block = TextOf(text, at.ranges)};
  if (at.ranges.empty()) return edit;
  edit.offset = at.ranges.front().begin;
  if (foreign == Foreign::kKeep && !IsIgloo(ReadLaunch(client, FieldsOf(at)))) {
    edit.change = Change::kForeign;
    return edit;
  }
  edit.change = Change::kRemoved;
  // Without a newline of its own the text that stood before would run into what follows now.
  const bool last = at.ranges.back().end == text.size();
  edit.text = Without(text, at.ranges, undo && last ? undo->before : "");
  return edit;
}

}  // namespace igloo::clients

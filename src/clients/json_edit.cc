#include "clients/json_edit.h"

#include <fmt/format.h>

#include "clients/json_scan.h"
#include "clients/render.h"

namespace igloo::clients {
namespace {

constexpr std::string_view kBlank = " \t", kBlankOrNewline = " \t\r\n";

Dialect DialectOf(const Client& client) {
  return client.format == Format::kJson ? Dialect::kJson : Dialect::kJsonc;
}

/// A scanned text, and how far the way to the block exists in it. Indexes, because the tree moves.
struct Located {
  JsonText json = {};
  std::size_t servers = kNowhere;  ///< in the root's members
  std::size_t block = kNowhere;    ///< in the members of that

  const Member& servers_member() const { return json.root.members[servers]; }
  const Member& block_member() const { return servers_member().value.members[block]; }
};

/// kNowhere when there is none; a mistake when there are two, of which a client sees only one.
Scanned<std::size_t> IndexOf(const Node& object, std::string_view key) {
  std::size_t found = kNowhere;
  for (std::size_t i = 0; i < object.members.size(); ++i) {
    if (object.members[i].key != key) continue;
    if (found != kNowhere) {
      return std::unexpected(Mistake{object.members[i].key_begin,
                                     fmt::format("'{}' stands here a second time", key),
                                     "keep one of them"});
    }
    found = i;
  }
  return found;
}

Scanned<Located> Locate(const Client& client, std::string_view name, std::string_view text) {
  Located out;
  IGLOO_ASSIGN(out.json, ScanJson(text, DialectOf(client)));
  if (out.json.empty) return out;
  const Node& root = out.json.root;
  if (root.type != Node::Type::kObject) {
    return std::unexpected(
        Mistake{root.begin, "the file should hold an object", "it should begin with '{'"});
  }
  IGLOO_ASSIGN(out.servers, IndexOf(root, client.key));
  if (out.servers == kNowhere) return out;
  const Node& servers = out.servers_member().value;
  if (servers.type != Node::Type::kObject) {
    return std::unexpected(Mistake{servers.begin,
                                   fmt::format("'{}' should be an object", client.key),
                                   fmt::format("write \"{}\": {{}}", client.key)});
  }
  IGLOO_ASSIGN(out.block, IndexOf(servers, name));
  return out;
}

FieldFinder FieldsOf(const Node& block) {
  return [&block](std::string_view key) -> const Node* {
    for (const Member& member : block.members) {
      if (member.key == key) return &member.value;
    }
    return nullptr;
  };
}

/// The blanks that a line begins with, up to `at`; nullopt when something else stands before `at`.
std::optional<std::string> IndentBefore(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && kBlank.contains(text[begin - 1])) --begin;
  if (begin > 0 && text[begin - 1] != '\n') return std::nullopt;
  return std::string(text.substr(begin, at - begin));
}

std::string IndentOfLine(std::string_view text, std::size_t at) {
  const std::size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  if (begin == 0 && text.starts_with(kByteOrderMark)) begin = kByteOrderMark.size();
  std::size_t end = begin;
  while (end < at && kBlank.contains(text[end])) ++end;
  return std::string(text.substr(begin, end - begin));
}

/// One level of indentation, as the document's own members show it.
std::string UnitOf(const Node& root, std::string_view text) {
  for (const Member& member : root.members) {
    const auto indent = IndentBefore(text, member.key_begin);
    if (indent && !indent->empty()) return *indent;
  }
  return "  ";
}

/// Where and how a member joins an object.
struct Slot {
  std::size_t comma_at = kNowhere;  ///< a comma is needed there
  std::size_t at = 0;
  Layout layout = {};
  std::string before = {}, after = {};
};

Slot SlotBehind(const Node& object, const Node& root, std::string_view text) {
  const Member& last = object.members.back();
  Slot slot;
  const bool has_comma = last.comma != kNowhere;
  const std::size_t from = has_comma ? last.comma + 1 : last.value.end;
  if (!has_comma) slot.comma_at = from;
  // A comment behind the last member is about that one and stays on its line.
  slot.at = EndOfLineComments(text, from);
  const auto indent = IndentBefore(text, last.key_begin);
  slot.layout.newline = NewlineOf(text);
  slot.layout.unit = UnitOf(root, text);
  // Behind a comment to the end of the line there is no place on that line.
  slot.layout.own_lines = indent.has_value() || slot.at != from;
  slot.layout.indent = indent.value_or(IndentOfLine(text, object.begin) + slot.layout.unit);
  const bool tight = text[last.value.begin - 1] == ':';
  if (!slot.layout.own_lines && tight) slot.layout.spacing = Spacing::kTight;
  slot.before = slot.layout.own_lines ? std::string(slot.layout.newline) + slot.layout.indent
                : tight               ? ""
                                      : " ";
  // Who ends lines with commas goes on doing so.
  slot.after = has_comma ? "," : "";
  return slot;
}

Slot SlotInside(const Node& object, const Node& root, std::string_view text) {
  Slot slot;
  const std::size_t close = object.end - 1;
  // Behind the comments that an otherwise empty object may hold.
  slot.at = close;
  while (slot.at > object.begin + 1 && kBlankOrNewline.contains(text[slot.at - 1])) --slot.at;
  const bool one_line =
      !root.members.empty() &&
      text.substr(root.begin, root.end - root.begin).find('\n') == std::string_view::npos;
  slot.layout.newline = NewlineOf(text);
  slot.layout.unit = UnitOf(root, text);
  slot.layout.own_lines = !one_line;
  if (one_line) {
    if (text[root.members.front().value.begin - 1] == ':') slot.layout.spacing = Spacing::kTight;
    return slot;
  }
  const std::string closing = IndentOfLine(text, object.begin);
  slot.layout.indent = closing + slot.layout.unit;
  slot.before = std::string(slot.layout.newline) + slot.layout.indent;
  const bool closes_on_own_line =
      text.substr(slot.at, close - slot.at).find('\n') != std::string_view::npos;
  if (!closes_on_own_line) slot.after = std::string(slot.layout.newline) + closing;
  return slot;
}

/// The place for the first block of a file that has nothing in it.
Slot SlotInNothing(std::string_view text) {
  Slot slot;
  slot.at = text.size();
  slot.layout.newline = NewlineOf(text);
  slot.layout.indent = slot.layout.unit;
  const bool bare = text.empty() || text == kByteOrderMark || text.ends_with('\n');
  const std::string line(slot.layout.newline);
  slot.before = (bare ? "" : line) + "{" + line + slot.layout.indent;
  slot.after = line + "}" + line;
  return slot;
}

/// Opens the object around the block, in a slot for that object.
void OpenServers(const Client& client, Slot& slot) {
  Layout& layout = slot.layout;
  const std::string line =
      layout.own_lines ? std::string(layout.newline) + layout.indent : std::string();
  slot.before += fmt::format("\"{}\"{}{{", client.key, Colon(layout));
  slot.after.insert(0, line + "}");
  layout.indent += layout.unit;
  if (layout.own_lines) slot.before += std::string(layout.newline) + layout.indent;
}

Edit Insert(const Client& client, const Server& server, std::string_view text, Slot slot,
            int created_levels) {
  slot.before += fmt::format("\"{}\"{}", server.name, Colon(slot.layout));
  Edit edit{.change = Change::kAdded};
  const std::string value = JsonBlock(client, server, slot.layout);
  edit.block = slot.before + value + slot.after;
  edit.undo = Undo{.created_levels = created_levels,
                   .comma = slot.comma_at != kNowhere,
                   .before = slot.before,
                   .after = slot.after};
  std::vector<Replacement> parts;
  if (slot.comma_at == slot.at) {
    parts.push_back({slot.at, slot.at, "," + edit.block});
  } else {
    if (slot.comma_at != kNowhere) parts.push_back({slot.comma_at, slot.comma_at, ","});
    parts.push_back({slot.at, slot.at, edit.block});
  }
  edit.text = Replace(text, std::move(parts));
  return edit;
}

/// The bytes that go when a member goes, with the comma that nothing needs any more.
std::string WithoutMember(std::string_view text, const Node& object, std::size_t index) {
  const Member& member = object.members[index];
  const auto blanks_end = [&](std::size_t at) {
    while (at < text.size() && kBlank.contains(text[at])) ++at;
    return at;
  };
  const bool followed = member.comma != kNowhere;
  std::size_t end = followed ? member.comma + 1 : member.value.end;
  std::size_t begin = member.key_begin;
  const std::size_t rest = blanks_end(end);
  const bool ends_line = rest == text.size() || text[rest] == '\n' || text[rest] == '\r';
  if (const auto indent = IndentBefore(text, begin); indent && ends_line) {
    begin -= indent->size();
    if (begin > 0) --begin;
    if (begin > 0 && text[begin - 1] == '\r') --begin;
  } else if (followed) {
    end = rest;
  } else {
    while (begin > object.begin + 1 && kBlank.contains(text[begin - 1])) --begin;
  }
  std::vector<Replacement> cuts;
  if (followed) {
    cuts.push_back({begin, member.value.end, ""});
    cuts.push_back({member.comma, end, ""});
  } else {
    cuts.push_back({begin, end, ""});
    if (index > 0) {
      const std::size_t comma = object.members[index - 1].comma;
      cuts.push_back({comma, comma + 1, ""});
    }
  }
  return Replace(text, std::move(cuts));
}

/// The very bytes that Install put there, when they still stand there.
std::optional<std::string> TakeBack(const Client& client, std::string_view name,
                                    std::string_view text, const Located& at, const Undo& undo) {
  const Node& value = at.block_member().value;
  if (value.begin < undo.before.size()) return std::nullopt;
  const std::size_t begin = value.begin - undo.before.size();
  if (text.substr(begin, undo.before.size()) != undo.before ||
      !text.substr(value.end).starts_with(undo.after)) {
    return std::nullopt;
  }
  std::vector<Replacement> cuts = {{begin, value.end + undo.after.size(), ""}};
  if (undo.comma) {
    const Node& object = undo.created_levels == 0 ? at.servers_member().value : at.json.root;
    const std::size_t index = undo.created_levels == 0 ? at.block : at.servers;
    if (index == 0 || index == kNowhere) return std::nullopt;
    const Member& previous = object.members[index - 1];
    if (previous.comma != previous.value.end || previous.comma >= begin) return std::nullopt;
    cuts.push_back({previous.comma, previous.comma + 1, ""});
  }
  std::string out = Replace(text, std::move(cuts));
  // Somebody may have written around it in a way that only its own commas held together.
  const auto rest = Locate(client, name, out);
  if (!rest || rest->block != kNowhere) return std::nullopt;
  return out;
}

bool IsBare(const Node& object, std::string_view text) {
  return object.members.empty() &&
         text.substr(object.begin + 1, object.end - object.begin - 2)
                 .find_first_not_of(kBlankOrNewline) == std::string_view::npos;
}

Scanned<std::string> TakeOut(const Client& client, std::string_view name, std::string_view text,
                             const Located& at, int created_levels) {
  std::string out = WithoutMember(text, at.servers_member().value, at.block);
  if (created_levels >= 1) {
    IGLOO_ASSIGN(const Located rest, Locate(client, name, out));
    if (IsBare(rest.servers_member().value, out)) {
      out = WithoutMember(out, rest.json.root, rest.servers);
    }
  }
  IGLOO_ASSIGN(const JsonText rest, ScanJson(out, DialectOf(client)));
  if (created_levels >= 2 && IsBare(rest.root, out)) {
    out = Cut(out, rest.root.begin, rest.root.end);
    if (out.find_first_not_of(kBlankOrNewline) == std::string::npos) out.clear();
  }
  return out;
}

/// The block with its name, as it stands in the text.
void Show(Edit& edit, const Member& block, std::string_view text) {
  edit.offset = block.key_begin;
  edit.block = text.substr(block.key_begin, block.value.end - block.key_begin);
}

}  // namespace

Scanned<Edit> InstallJson(const Client& client, const Server& server, std::string_view text,
                          Foreign foreign) {
  IGLOO_ASSIGN(const Located at, Locate(client, server.name, text));
  const Node& root = at.json.root;
  if (at.block == kNowhere) {
    Slot slot;
    int created = 0;
    if (at.json.empty) {
      slot = SlotInNothing(text);
      created = 2;
    } else {
      const Node& object = at.servers == kNowhere ? root : at.servers_member().value;
      slot =
          object.members.empty() ? SlotInside(object, root, text) : SlotBehind(object, root, text);
      created = at.servers == kNowhere ? 1 : 0;
    }
    if (created > 0) OpenServers(client, slot);
    return Insert(client, server, text, std::move(slot), created);
  }
  const Member& block = at.block_member();
  const FieldFinder fields = FieldsOf(block.value);
  const auto launch = ReadLaunch(client, fields);
  Edit edit{.text = std::string(text)};
  Show(edit, block, text);
  if (launch == Launch{server.command, server.args}) return edit;
  if (IsIgloo(launch)) {
    edit.change = Change::kUpdated;
    edit.text = Replace(text, UpdatesFor(client, server, fields));
  } else if (foreign == Foreign::kKeep) {
    edit.change = Change::kForeign;
  } else {
    Layout layout{.newline = NewlineOf(text), .unit = UnitOf(root, text)};
    const auto indent = IndentBefore(text, block.key_begin);
    layout.own_lines = indent.has_value();
    layout.indent = indent.value_or("");
    edit.change = Change::kReplaced;
    edit.text =
        Replace(text, {{block.value.begin, block.value.end, JsonBlock(client, server, layout)}});
  }
  return edit;
}

Scanned<Edit> RemoveJson(const Client& client, std::string_view name, std::string_view text,
                         const std::optional<Undo>& undo, Foreign foreign) {
  IGLOO_ASSIGN(const Located at, Locate(client, name, text));
  Edit edit{.text = std::string(text)};
  if (at.block == kNowhere) return edit;
  const Member& block = at.block_member();
  Show(edit, block, text);
  if (foreign == Foreign::kKeep && !IsIgloo(ReadLaunch(client, FieldsOf(block.value)))) {
    edit.change = Change::kForeign;
    return edit;
  }
  edit.change = Change::kRemoved;
  if (undo) {
    if (auto exact = TakeBack(client, name, text, at, *undo)) {
      edit.text = *std::move(exact);
      return edit;
    }
  }
  IGLOO_ASSIGN(edit.text, TakeOut(client, name, text, at, undo ? undo->created_levels : 0));
  return edit;
}

}  // namespace igloo::clients

#include "agent/state/json_text.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <unordered_set>

#include "base/text.h"
#include "clients/json_scan.h"

namespace igloo::agent {
namespace {

using clients::Member;
using clients::Node;

/// A value takes a hundred bytes while it is read, and two in a hostile text ("0,0,0").
constexpr std::ptrdiff_t kMaxValues = 2'000'000;

std::string_view Slice(std::string_view text, std::size_t begin, std::size_t end) {
  return text.substr(begin, end - begin);
}

/// A key that stands twice somewhere; nullptr when there is none.
const Member* FindRepeated(const Node& node) {
  std::unordered_set<std::string_view> seen;
  for (const Member& member : node.members) {
    if (!seen.insert(member.key).second) return &member;
    if (const Member* found = FindRepeated(member.value)) return found;
  }
  for (const Node& item : node.items) {
    if (const Member* found = FindRepeated(item)) return found;
  }
  return nullptr;
}

JsonStyle StyleOf(std::string_view text, const Node& root) {
  JsonStyle style;
  style.newline = std::string(clients::NewlineOf(text));
  if (root.members.empty()) {
    style.lines = true;
    return style;
  }
  const Member& first = root.members.front();
  const std::string_view gap = Slice(text, root.begin + 1, first.key_begin);
  const std::size_t newline = gap.rfind('\n');
  style.lines = newline != std::string_view::npos;
  if (style.lines) style.indent = std::string(gap.substr(newline + 1));
  style.colon = std::string(Slice(text, first.key_end, first.value.begin));
  return style;
}

std::string Break(const JsonStyle& style, int depth) {
  if (!style.lines) return "";
  std::string out = style.newline;
  for (int i = 0; i < depth; ++i) out += style.indent;
  return out;
}

std::string_view Between(const JsonStyle& style) {
  return !style.lines && style.colon.size() > 1 ? ", " : ",";
}

void Append(std::string& out, const JsonView& view, const JsonStyle& style, int depth) {
  const Node& node = *view.node;
  const bool object = node.type == Node::Type::kObject;
  const std::size_t count = object ? node.members.size() : node.items.size();
  if (count == 0) {
    out += object ? "{}" : node.type == Node::Type::kArray ? "[]" : view.text();
    return;
  }
  out += object ? '{' : '[';
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += Between(style);
    out += Break(style, depth + 1);
    if (object) {
      const Member& member = node.members[i];
      out += Slice(view.document->text(), member.key_begin, member.key_end);
      out += style.colon;
      Append(out, {view.document, &member.value}, style, depth + 1);
    } else {
      Append(out, {view.document, &node.items[i]}, style, depth + 1);
    }
  }
  out += Break(style, depth);
  out += object ? '}' : ']';
}

/// What stands between the braces and the members of an object.
struct Gaps {
  std::string first, between, colon, last;
};

Gaps GapsOf(const JsonView& like, const JsonStyle& style, int depth) {
  const std::string line = Break(style, depth + 1);
  Gaps gaps{.first = line,
            .between = std::string(Between(style)) + line,
            .colon = style.colon,
            .last = Break(style, depth)};
  if (!like.is_object() || like.node->members.empty()) return gaps;
  const std::string_view text = like.document->text();
  const std::vector<Member>& members = like.node->members;
  const Member& first = members.front();
  gaps.first = Slice(text, like.node->begin + 1, first.key_begin);
  gaps.colon = Slice(text, first.key_end, first.value.begin);
  gaps.last = Slice(text, members.back().value.end, like.node->end - 1);
  gaps.between = members.size() > 1
                     ? std::string(Slice(text, first.value.end, members[1].key_begin))
                 : gaps.first.empty() ? std::string(Between(style))
                                      : "," + gaps.first;
  return gaps;
}

}  // namespace

Result<JsonDocument> JsonDocument::Parse(std::string_view file, std::string text) {
  const auto is_separator = [](char c) { return c == ',' || c == '[' || c == '{'; };
  if (text.size() > kMaxStateFile || std::ranges::count_if(text, is_separator) > kMaxValues) {
    return Fail(Errc::kExhausted,
                std::string(file) + ": too large to be merged (" + HumanBytes(text.size()) + ")");
  }
  JsonDocument document;
  document.text_ = std::make_unique<const std::string>(std::move(text));
  auto scanned = clients::ScanJson(*document.text_, clients::Dialect::kJson);
  if (!scanned) return std::unexpected(clients::ToError(file, *document.text_, scanned.error()));
  if (scanned->empty) {
    return std::unexpected(clients::ToError(file, *document.text_, {0, "the file is empty", ""}));
  }
  if (const Member* repeated = FindRepeated(scanned->root)) {
    const std::string what = "the key '" + Quoted(Printable(repeated->key)) + "' stands here twice";
    return std::unexpected(
        clients::ToError(file, *document.text_, {repeated->key_begin, what, "remove one"}));
  }
  document.root_ = std::make_unique<const Node>(std::move(scanned->root));
  document.style_ = StyleOf(*document.text_, *document.root_);
  return document;
}

std::string_view JsonView::text() const {
  return node == nullptr ? std::string_view{} : Slice(document->text(), node->begin, node->end);
}

bool JsonView::is_number() const {
  if (node == nullptr || node->type != Node::Type::kOther) return false;
  const char first = text().front();
  return first == '-' || (first >= '0' && first <= '9');
}

JsonMembers::JsonMembers(const JsonView& object) : document_(object.document) {
  if (!object.is_object()) return;
  by_key_.reserve(object.node->members.size());
  for (const Member& member : object.node->members) by_key_.emplace(member.key, &member.value);
}

JsonView JsonMembers::Find(std::string_view key) const {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return {};
  return {document_, found->second};
}

bool SameJson(const JsonView& a, const JsonView& b) {
  if (!a || !b) return !a && !b;
  if (a.text() == b.text()) return true;
  if (a.node->type != b.node->type) return false;
  switch (a.node->type) {
    case Node::Type::kString:
      return a.node->text == b.node->text;
    case Node::Type::kOther:
      return false;
    case Node::Type::kArray:
      return std::ranges::equal(a.node->items, b.node->items, [&](const Node& x, const Node& y) {
        return SameJson({a.document, &x}, {b.document, &y});
      });
    case Node::Type::kObject:
      break;
  }
  if (a.node->members.size() != b.node->members.size()) return false;
  const JsonMembers others(b);
  return std::ranges::all_of(a.node->members, [&](const Member& member) {
    const JsonView other = others.Find(member.key);
    return other && SameJson({a.document, &member.value}, other);
  });
}

JsonPiece Keep(const JsonView& view) { return {std::string(view.text()), true}; }

JsonPiece Adopt(const JsonView& view, const JsonStyle& style, int depth) {
  if (view.document->style() == style) return {std::string(view.text()), false};
  JsonPiece piece;
  Append(piece.text, view, style, depth);
  return piece;
}

JsonPiece Compose(const JsonView& like, const std::vector<NewMember>& members,
                  const JsonStyle& style, int depth) {
  const auto as_it_was = [](const NewMember& member) { return member.value.as_it_was; };
  if (like.is_object() && like.node->members.size() == members.size() &&
      std::ranges::all_of(members, as_it_was)) {
    return Keep(like);
  }
  JsonPiece piece;
  if (members.empty()) {
    piece.text = "{}";
    return piece;
  }
  const Gaps gaps = GapsOf(like, style, depth);
  piece.text = "{" + gaps.first;
  for (const NewMember& member : members) {
    if (&member != &members.front()) piece.text += gaps.between;
    piece.text += member.key;
    piece.text += gaps.colon;
    piece.text += member.value.text;
  }
  piece.text += gaps.last + "}";
  return piece;
}

std::string PointerOf(const std::vector<std::string>& keys) {
  std::string out;
  for (const std::string& key : keys) {
    out += '/';
    for (const char c : key) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return out;
}

std::optional<std::vector<std::string>> KeysOf(std::string_view pointer) {
  std::vector<std::string> keys;
  if (!pointer.empty() && pointer.front() != '/') return std::nullopt;
  for (std::size_t at = 0; at < pointer.size(); ++at) {
    if (pointer[at] == '/') {
      keys.emplace_back();
    } else if (pointer[at] != '~') {
      keys.back() += pointer[at];
    } else if (const std::string_view escape = pointer.substr(at++, 2); escape == "~0") {
      keys.back() += '~';
    } else if (escape == "~1") {
      keys.back() += '/';
    } else {
      return std::nullopt;
    }
  }
  return keys;
}

std::string QuoteJson(std::string_view text) {
  return boost::json::serialize(boost::json::string_view(text.data(), text.size()));
}

}  // namespace igloo::agent

#include "agent/state/json_merge.h"

#include "agent/state/json_text.h"

namespace igloo::agent {
namespace {

using clients::Member;

struct Three {
  JsonView base = {}, host = {}, box = {};
};

std::optional<std::string> TextOf(const JsonView& view) {
  if (!view) return std::nullopt;
  return std::string(view.text());
}

class Merger {
 public:
  Merger(const JsonStyle& style, int levels) : style_(style), levels_(levels) {}

  /// The merged value; nullopt: the key is gone.
  std::optional<JsonPiece> Value(const Three& at) {
    const int depth = static_cast<int>(keys_.size());
    if (at.host.is_object() && at.box.is_object() && depth < levels_) return Object(at);
    if (SameJson(at.base, at.box) || SameJson(at.host, at.box)) return Host(at);
    if (SameJson(at.base, at.host)) {
      if (!at.box) return std::nullopt;
      return Adopt(at.box, style_, depth);
    }
    conflicts_.push_back({PointerOf(keys_), TextOf(at.host), TextOf(at.box)});
    return Host(at);
  }

  std::vector<JsonConflict> TakeConflicts() { return std::move(conflicts_); }

 private:
  static std::optional<JsonPiece> Host(const Three& at) {
    if (!at.host) return std::nullopt;
    return Keep(at.host);
  }

  JsonPiece Object(const Three& at) {
    const JsonMembers base(at.base), host(at.host), box(at.box);
    std::vector<NewMember> members;
    const auto add = [&](const JsonView& from, const Member& member, const Three& below) {
      keys_.push_back(member.key);
      auto value = Value(below);
      keys_.pop_back();
      if (!value) return;
      const std::string_view text = from.document->text();
      members.push_back(
          {text.substr(member.key_begin, member.key_end - member.key_begin), *std::move(value)});
    };
    for (const Member& member : at.host.node->members) {
      add(at.host, member,
          {base.Find(member.key), {at.host.document, &member.value}, box.Find(member.key)});
    }
    for (const Member& member : at.box.node->members) {
      if (host.Find(member.key)) continue;
      add(at.box, member, {base.Find(member.key), {}, {at.box.document, &member.value}});
    }
    return Compose(at.host, members, style_, static_cast<int>(keys_.size()));
  }

  const JsonStyle& style_;
  const int levels_;
  std::vector<std::string> keys_ = {};
  std::vector<JsonConflict> conflicts_ = {};
};

Result<JsonDocument> ParseObject(const std::string& file, const std::optional<std::string>& text) {
  IGLOO_ASSIGN(auto document, JsonDocument::Parse(file, text.value_or("{}")));
  if (!RootOf(document).is_object()) {
    return Fail(Errc::kFailedPrecondition, file + ": this is not an object");
  }
  return document;
}

}  // namespace

Result<MergedJson> MergeJson(const JsonSides& sides) {
  IGLOO_ASSIGN(const auto base, ParseObject(sides.file, sides.base));
  IGLOO_ASSIGN(const auto host, ParseObject(sides.file, sides.host));
  IGLOO_ASSIGN(const auto box, ParseObject(sides.file, sides.box));
  // A new file looks as the agent writes it.
  if (!sides.host && sides.box && SameJson(RootOf(base), RootOf(host))) {
    return MergedJson{.text = *sides.box};
  }
  Merger merger(host.root().members.empty() ? box.style() : host.style(), sides.levels);
  const auto root = merger.Value({RootOf(base), RootOf(host), RootOf(box)});
  const std::string& text = host.text();
  MergedJson merged{.text = text.substr(0, host.root().begin) + (root ? root->text : "{}") +
                            text.substr(host.root().end),
                    .conflicts = merger.TakeConflicts()};
  return merged;
}

}  // namespace igloo::agent

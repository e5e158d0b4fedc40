#include "agent/state/json_sort.h"

#include <algorithm>

#include "agent/state/json_text.h"

namespace igloo::agent {
namespace {

using clients::Member;
using clients::Node;

bool HoldsPrototypes(const Node& node) {
  return std::ranges::any_of(node.items, HoldsPrototypes) ||
         std::ranges::any_of(node.members, [](const Member& member) {
           return ChangesPrototypes(member.key) || HoldsPrototypes(member.value);
         });
}

std::optional<std::string> TextOf(const JsonView& view) {
  if (!view) return std::nullopt;
  return std::string(view.text());
}

class Sorter {
 public:
  Sorter(const FileRule& rule, const JsonStyle& style) : rule_(rule), style_(style) {}

  /// The value with harmless changes alone; nullopt: the key is not there.
  std::optional<JsonPiece> Value(const JsonView& before, const JsonView& after) {
    if (!before && !after) return std::nullopt;
    Decision decision = Decide(rule_, keys_);
    // The root is taken apart always: a file of which every key has the same treatment, too.
    const bool objects = (!before || before.is_object()) && (!after || after.is_object());
    if (objects && (decision.mixed || keys_.empty())) return Object(before, after);
    if (SameJson(before, after)) return Before(before);
    // SECURITY: an object with rows inside that becomes something else takes these along.
    if (decision.mixed) decision.treatment = Treatment::kProposed;
    if (decision.treatment == Treatment::kHarmless && after && HoldsPrototypes(*after.node)) {
      decision = {Treatment::kProposed, kPrototypes};
    }
    switch (decision.treatment) {
      case Treatment::kHarmless:
        if (!after) return std::nullopt;
        return Adopt(after, style_, static_cast<int>(keys_.size()));
      case Treatment::kProposed:
        proposals_.push_back(
            {PointerOf(keys_), TextOf(before), TextOf(after), std::string(decision.why)});
        break;
      case Treatment::kDropped:
        break;
    }
    return Before(before);
  }

  std::vector<Change> TakeProposals() { return std::move(proposals_); }

 private:
  static std::optional<JsonPiece> Before(const JsonView& before) {
    if (!before) return std::nullopt;
    return Keep(before);
  }

  std::optional<JsonPiece> Object(const JsonView& before, const JsonView& after) {
    const JsonMembers old_members(before), new_members(after);
    std::vector<NewMember> members;
    const auto add = [&](const JsonView& from, const Member& member, const JsonView& was,
                         const JsonView& is) {
      keys_.push_back(member.key);
      auto value = Value(was, is);
      keys_.pop_back();
      if (!value) return;
      const std::string_view text = from.document->text();
      members.push_back(
          {text.substr(member.key_begin, member.key_end - member.key_begin), *std::move(value)});
    };
    if (before) {
      for (const Member& member : before.node->members) {
        add(before, member, {before.document, &member.value}, new_members.Find(member.key));
      }
    }
    if (after) {
      for (const Member& member : after.node->members) {
        if (old_members.Find(member.key)) continue;
        add(after, member, {}, {after.document, &member.value});
      }
    }
    // An object of which only what is proposed was there, or is left, is not there.
    const bool was_empty = after && after.node->members.empty();
    if (members.empty() && !keys_.empty() && !was_empty) return std::nullopt;
    return Compose(before, members, style_, static_cast<int>(keys_.size()));
  }

  const FileRule& rule_;
  const JsonStyle& style_;
  std::vector<std::string> keys_ = {};
  std::vector<Change> proposals_ = {};
};

}  // namespace

Result<SortedChanges> SortJson(const FileRule& rule, const std::optional<std::string>& before,
                               const std::optional<std::string>& after) {
  const std::string file(rule.path);
  IGLOO_ASSIGN(const auto old_document, JsonDocument::Parse(file, before.value_or("{}")));
  IGLOO_ASSIGN(const auto new_document, JsonDocument::Parse(file, after.value_or("{}")));
  const JsonView was = RootOf(old_document), is = RootOf(new_document);
  if (!was.is_object() || !is.is_object()) {
    return Fail(Errc::kFailedPrecondition, file + ": this is not an object");
  }
  const bool adopt = was.node->members.empty();
  Sorter sorter(rule, adopt ? new_document.style() : old_document.style());
  const auto root = sorter.Value(was, is);
  SortedChanges sorted{.harmless = before, .proposals = sorter.TakeProposals()};
  if (root->as_it_was) return sorted;
  const std::string& text = old_document.text();
  sorted.harmless = text.substr(0, was.node->begin) + root->text + text.substr(was.node->end);
  return sorted;
}

}  // namespace igloo::agent

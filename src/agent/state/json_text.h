#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "clients/node.h"

namespace igloo::agent {

/// Larger files are not an agent's state. The text of one is held three times while it is merged.
inline constexpr std::size_t kMaxStateFile = 32U << 20;

/// How a JSON text is laid out.
struct JsonStyle {
  bool lines = false;  ///< every member on a line of its own
  std::string newline = "\n";
  std::string indent = "  ";  ///< of one level
  std::string colon = ": ";
  bool operator==(const JsonStyle&) const = default;
};

/// A JSON text that was read: values are views of it, so numbers and strings stay as they were
/// written.
class JsonDocument {
 public:
  /// Fails with the place ("FILE:LINE:COLUMN: ...") for what is not one JSON value: comments,
  /// invalid UTF-8, deep nesting, a text that is too large, and a key that stands twice in an
  /// object, because readers disagree about which of the two counts.
  static Result<JsonDocument> Parse(std::string_view file, std::string text);

  const std::string& text() const { return *text_; }
  const clients::Node& root() const { return *root_; }
  const JsonStyle& style() const { return style_; }

 private:
  // Where they are in memory does not change when the document moves: others look into them.
  std::unique_ptr<const std::string> text_;
  std::unique_ptr<const clients::Node> root_;
  JsonStyle style_;
};

/// A value in a document; without a node it is a key that is not there.
struct JsonView {
  const JsonDocument* document = nullptr;
  const clients::Node* node = nullptr;

  explicit operator bool() const { return node != nullptr; }
  bool is_object() const { return node != nullptr && node->type == clients::Node::Type::kObject; }
  bool is_number() const;
  std::string_view text() const;
};

inline JsonView RootOf(const JsonDocument& document) { return {&document, &document.root()}; }

/// Whether both are absent, or mean the same: the order of keys, the layout and how a character is
/// escaped do not count. Numbers are the same if they are written alike.
bool SameJson(const JsonView& a, const JsonView& b);

/// The members of an object by their keys. An absent value and one that is no object have none.
class JsonMembers {
 public:
  explicit JsonMembers(const JsonView& object);
  JsonView Find(std::string_view key) const;

 private:
  const JsonDocument* document_;
  std::unordered_map<std::string_view, const clients::Node*> by_key_;
};

/// A value as it goes into a new text.
struct JsonPiece {
  std::string text = {};
  bool as_it_was = false;  ///< the bytes that stand in the document that is edited
};

/// A member of an object that is put together anew.
struct NewMember {
  std::string_view key = {};  ///< as it is written, with its quotes
  JsonPiece value = {};
};

/// The bytes of a value of the document that is edited.
JsonPiece Keep(const JsonView& view);
/// A value of another document in the layout of `style`, for an object that is `depth` deep.
JsonPiece Adopt(const JsonView& view, const JsonStyle& style, int depth);
/// An object with these members, laid out like `like` (which may be absent); its own bytes if
/// nothing in it changed.
JsonPiece Compose(const JsonView& like, const std::vector<NewMember>& members,
                  const JsonStyle& style, int depth);

/// A JSON pointer (RFC 6901) of keys, and back; nullopt for what is none.
std::string PointerOf(const std::vector<std::string>& keys);
std::optional<std::vector<std::string>> KeysOf(std::string_view pointer);

/// A string with its quotes.
std::string QuoteJson(std::string_view text);

}  // namespace igloo::agent

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clients/client.h"
#include "clients/node.h"

namespace igloo::clients {

/// The server that a client is told to start.
struct Server {
  std::string name = {};
  std::string command = {};
  std::vector<std::string> args = {};
};

/// How an insertion is taken back to the byte. The value between `before` and `after` may change
/// in the meantime, by an update or by hand.
struct Undo {
  bool created_file = false;
  int created_directories = 0;
  /// 0: only the block; 1: the object around it, too; 2: the document's own braces as well
  int created_levels = 0;
  bool comma = false;  ///< one was put directly behind the member before
  std::string before = {}, after = {};
  bool operator==(const Undo&) const = default;
};

enum class Change {
  kNone,      ///< it is as it should be already
  kAdded,     ///< a block is new
  kUpdated,   ///< igloo's own block now starts another command
  kReplaced,  ///< somebody else's block made place
  kRemoved,
  kForeign,  ///< somebody else's block stands there: nothing was changed
};

/// A text and what became of it.
struct Edit {
  Change change = Change::kNone;
  std::string text = {};
  std::string block = {};         ///< what was added or removed, or what stands in the way
  std::size_t offset = 0;         ///< of a block that stands in the way
  std::optional<Undo> undo = {};  ///< of kAdded
};

enum class Foreign { kKeep, kReplace };

// Pure: text in, text out. Every byte that is not part of the change stays. A text that is not
// what the client's format allows is refused with its place; `file` is only for messages.
Result<Edit> Install(const Client& client, const Server& server, std::string_view file,
                     std::string_view text, Foreign foreign);
/// `undo` as Install gave it, when it is still known; without it the block goes and the object
/// around it stays.
Result<Edit> Remove(const Client& client, std::string_view name, std::string_view file,
                    std::string_view text, const std::optional<Undo>& undo, Foreign foreign);

/// A file that holds nothing but the block, for people who edit by hand.
std::string WholeFile(const Client& client, const Server& server);

// What both editors share.

/// What a block starts; nullopt when it starts nothing igloo understands.
struct Launch {
  std::string command = {};
  std::vector<std::string> args = {};
  bool operator==(const Launch&) const = default;
};
using FieldFinder = std::function<const Node*(std::string_view key)>;
std::optional<Launch> ReadLaunch(const Client& client, const FieldFinder& find);
/// igloo's own, from whatever place: a block survives that igloo moves or that a client writes its
/// file anew.
bool IsIgloo(const std::optional<Launch>& launch);

struct Replacement {
  std::size_t begin = 0, end = 0;
  std::string text = {};
};
/// Applies replacements that do not overlap.
std::string Replace(std::string_view text, std::vector<Replacement> replacements);
/// What makes a block start `server`, with its other fields as they are.
std::vector<Replacement> UpdatesFor(const Client& client, const Server& server,
                                    const FieldFinder& find);

}  // namespace igloo::clients

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace igloo::agent {

/// What becomes of a change that a box made to a file of the user's.
enum class Treatment {
  kHarmless,  ///< written back: the host only shows it or counts with it
  kProposed,  ///< the host would run or trust it: a person confirms it first
  kDropped,   ///< stays in the box: the host makes its own
};

/// Keys of a file, as a path of patterns ("projects/*/mcpServers"): a '*' stands for any characters
/// of one key. A row counts for the value and for all that is in it; the first that fits counts.
struct KeyRule {
  std::string_view keys = {};
  Treatment treatment = Treatment::kProposed;
  std::string_view why = {};
};

enum class FileFormat {
  kJson,
  kToml,
  kGitConfig,
  kWhole,  ///< the file is one value
  kLines,  ///< both sides only add lines
};

/// How a box gets a file or directory of the user's.
enum class Handing {
  kCopied,  ///< a copy, from which changes are taken when the box ends
  /// The same, and also whenever it changes while the box runs, in both directions: a token that
  /// was refreshed on one side makes the other side's useless.
  kKeptEqual,
  /// A directory that all boxes of a project write to together. It lies in igloo's own state: the
  /// user's has files of all projects in it, and a link that a box puts there would be followed.
  kOfProject,
  /// A directory of which the box sees the host's files, and cannot write to them. What it puts
  /// into its own copy is proposed.
  kSeen,
  kAbsent,  ///< the box has its own
};

/// A file, or a directory with all that is in it (its path ends in '/').
struct FileRule {
  std::string_view path = {};  ///< below the user's home directory
  Handing handing = Handing::kAbsent;
  FileFormat format = FileFormat::kWhole;
  Treatment otherwise = Treatment::kProposed;  ///< for keys without a row
  std::string_view why = {};
  std::span<const KeyRule> keys = {};
  int levels = 1000;       ///< of objects that are merged key by key
  bool is_secret = false;  ///< never shown and never stored in a proposal
};

/// What one agent keeps below the home directory.
struct AgentFiles {
  std::string_view agent = {};
  std::span<const FileRule> files = {};  ///< the first that fits counts
};

std::span<const AgentFiles> AllAgentFiles();
/// nullptr: igloo does not know the agent.
const AgentFiles* FindAgentFiles(std::string_view agent);
/// What holds for a path below the home directory. nullptr: no file of this agent's, so the host
/// never sees what a box does to it.
const FileRule* RuleFor(const AgentFiles& agent, std::string_view path);
/// What holds for a repository's own `.git/config`.
const FileRule& GitConfigRule();

/// A change of a file that a person has to confirm.
struct Change {
  std::string pointer = {};  ///< of JSON (RFC 6901), or the key; empty: the whole file
  std::optional<std::string> before = {};  ///< as it is written; nullopt: absent
  std::optional<std::string> after = {};
  std::string why = {};
  bool operator==(const Change&) const = default;
};

/// A box's changes to one file, sorted.
struct SortedChanges {
  std::optional<std::string> harmless = {};  ///< `before` with the harmless changes alone
  std::vector<Change> proposals = {};
};

/// Sorts what made `after` out of `before` (nullopt: no such file). Pure. A text that cannot be
/// read as the format says is proposed as a whole. Of TOML and git's files, all changes are
/// harmless, or all are proposed.
SortedChanges SortChanges(const FileRule& rule, const std::optional<std::string>& before,
                          const std::optional<std::string>& after);

/// Whether the pattern fits; '*' stands for any number of characters.
bool FitsPattern(std::string_view pattern, std::string_view text);

/// What rows say about a key.
struct Decision {
  Treatment treatment = Treatment::kProposed;
  std::string_view why = {};
  bool mixed = false;  ///< something in it has a row of its own
};
Decision Decide(const FileRule& rule, const std::vector<std::string>& keys);

}  // namespace igloo::agent

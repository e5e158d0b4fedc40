#pragma once

// What has to happen to a project, all of it or none: first everything new is written aside, then a
// journal in the state directory says what goes where, then names change places, one atomic call
// each. Whoever finds a journal undoes what was only written aside, and finishes what had begun to
// change places. What a name stood for is removed only when it is what was expected there: a file
// that somebody saved in the meantime comes back.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "service/changes/change_set.h"
#include "service/changes/node.h"
#include "service/changes/tree.h"

namespace igloo::service::changes {

/// One thing that happens to one name.
struct Operation {
  enum class Kind : std::uint8_t {
    kRemove = 1,       ///< a file or link
    kRemoveDirectory,  ///< if it is empty
    kMakeDirectory,
    kPut,   ///< a file or link, in the place of `expected` or where nothing is
    kMode,  ///< of a directory
  };
  Kind kind = Kind::kPut;
  std::string path = {};
  std::optional<Node> expected = {};  ///< what is there
  std::uint32_t mode = 0;
  bool link = false;
  /// Of kPut: the bytes, or the link's target; nothing: the file of this path in the upper layer.
  std::optional<std::string> content = {};
  std::uint64_t staged_inode = 0;  ///< what was written aside; the journal's own
};

/// For tests: called before every step that changes something.
using AtStep = std::function<void(std::string_view step)>;

/// Paths that were not what was expected any more, so they stayed as they are.
using Left = std::vector<std::string>;

/// Carries out `operations`. On an error that comes before names change places, nothing was
/// changed.
Result<Left> Carry(const ChangeSet& set, const Tree& project, const Tree& upper,
                   std::vector<Operation> operations, const AtStep& at_step = {});

/// Finishes or undoes what an igloo that was killed had begun. Nothing to do is fine.
Result<Left> Recover(const ChangeSet& set);

}  // namespace igloo::service::changes

#pragma once

#include <optional>
#include <string>

#include "clients/edit.h"

namespace igloo::clients {

std::string EncodeUndo(const Undo& undo);
/// nullopt for anything that EncodeUndo did not write.
std::optional<Undo> DecodeUndo(std::string_view text);

/// Remembers how insertions are taken back, a small file each in a directory of igloo's own. The
/// clients' files say nothing about it: most of them cannot hold a comment, and some clients write
/// their file anew all the time.
class UndoStore {
 public:
  /// Without a directory nothing is remembered.
  explicit UndoStore(std::string directory) : directory_(std::move(directory)) {}

  /// What cannot be read is not known: removing then is careful instead of exact.
  std::optional<Undo> Find(const std::string& file, const std::string& name) const;
  Result<void> Put(const std::string& file, const std::string& name, const Undo& undo) const;
  void Drop(const std::string& file, const std::string& name) const;

 private:
  std::string EntryOf(const std::string& file, const std::string& name) const;
  std::string directory_;
};

}  // namespace igloo::clients

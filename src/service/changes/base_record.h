#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "service/changes/node.h"
#include "service/changes/tree.h"

namespace igloo::service::changes {

/// What a project was like when a change set began: every name with what stat told of it. A file
/// whose node is still the same has the same content, so nothing needs to be read or copied.
class BaseRecord {
 public:
  using Nodes = std::map<std::string, Node, std::less<>>;

  BaseRecord() = default;
  explicit BaseRecord(Nodes nodes) : nodes_(std::move(nodes)) {}

  const Node* Find(std::string_view path) const {
    const auto found = nodes_.find(path);
    return found == nodes_.end() ? nullptr : &found->second;
  }
  /// What lies below a directory, by path.
  std::vector<std::string> Below(const std::string& directory) const;
  const Nodes& nodes() const { return nodes_; }

 private:
  Nodes nodes_ = {};
};

/// The record of a project as bytes. One call of stat for each name, and no other file is opened
/// than directories. What git keeps in .git/objects is left out: files there never change. Of what
/// is mounted in the project nothing is recorded, because an overlay does not show it.
Result<std::string> RecordBase(const Tree& project);

Result<BaseRecord> DecodeBase(std::string_view bytes);

}  // namespace igloo::service::changes

#pragma once

#include <map>
#include <string>
#include <string_view>

#include "service/changes/base_record.h"
#include "service/changes/change_set.h"
#include "service/changes/protected_names.h"
#include "service/changes/tree.h"

namespace igloo::service::changes {

/// Files and directories of a project that the configuration of the host's git names: its hooks,
/// files that it includes, and programs of filters, drivers and aliases. Read from the repository's
/// configuration and from the user's; what these include in the project is followed.
class NamedByGit {
 public:
  NamedByGit(const ChangeSet& set, const Tree& project, const BaseRecord& base);

  /// `directory`: it is one, and not a file or link.
  Protection ProtectionOf(std::string_view path, bool directory) const;

 private:
  struct Setting {
    std::string key = {};  ///< "core.hookspath", "filter.name.clean"; in lower case
    std::string value = {};
  };
  static std::vector<Setting> SettingsIn(std::string_view text);
  void ReadFrom(std::string_view text, const std::string& directory, int depth);
  std::string InProject(const std::string& name, const std::string& directory) const;
  void AddWords(const Setting& setting);

  const Tree& tree_;
  const BaseRecord& base_;
  std::string project_;
  /// Whether all that lies below is meant, by path in lower case.
  std::map<std::string, bool, std::less<>> places_ = {};
};

}  // namespace igloo::service::changes

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace igloo::agent {

/// A configuration of git that somebody else wrote, sorted by what the host's git would do with it.
struct JudgedSettings {
  /// Keys that make git run programs, work elsewhere, or that igloo does not know, each with its
  /// value: "core.fsmonitor = ./x". Of a text that git could read in another way than igloo, one
  /// that says so.
  std::vector<std::string> refused = {};
  std::string harmless = {};  ///< the other keys, written anew
};

/// `is_work_tree`: whether a value of core.worktree is a place that git may work on.
JudgedSettings JudgeSettings(std::string_view text,
                             const std::function<bool(const std::string& path)>& is_work_tree);

}  // namespace igloo::agent

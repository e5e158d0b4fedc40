#include "agent/obeyed/git_settings.h"

#include <algorithm>
#include <array>

#include "agent/git.h"
#include "agent/state/flat_keys.h"
#include "base/text.h"

namespace igloo::agent {
namespace {

using enum Treatment;

// What git, a clone and a submodule write by themselves. Whatever starts a program, names a file or
// a directory, or is not known, has no row: git-config(1) has hundreds, and gets more.
constexpr std::array kHarmlessKeys = {
    KeyRule{"core/repositoryformatversion", kHarmless, {}},
    KeyRule{"core/filemode", kHarmless, {}},
    KeyRule{"core/bare", kHarmless, {}},
    KeyRule{"core/logallrefupdates", kHarmless, {}},
    KeyRule{"core/ignorecase", kHarmless, {}},
    KeyRule{"core/precomposeunicode", kHarmless, {}},
    KeyRule{"core/symlinks", kHarmless, {}},
    KeyRule{"core/autocrlf", kHarmless, {}},
    KeyRule{"core/eol", kHarmless, {}},
    KeyRule{"core/safecrlf", kHarmless, {}},
    KeyRule{"core/quotepath", kHarmless, {}},
    KeyRule{"core/abbrev", kHarmless, {}},
    KeyRule{"core/compression", kHarmless, {}},
    KeyRule{"core/untrackedcache", kHarmless, {}},
    KeyRule{"core/sparsecheckout", kHarmless, {}},
    KeyRule{"core/sparsecheckoutcone", kHarmless, {}},
    KeyRule{"core/worktree", kHarmless, {}},  // if it names a place that git may work on
    KeyRule{"extensions/objectformat", kHarmless, {}},
    KeyRule{"extensions/refstorage", kHarmless, {}},
    KeyRule{"extensions/worktreeconfig", kHarmless, {}},
    KeyRule{"user/name", kHarmless, {}},
    KeyRule{"user/email", kHarmless, {}},
    KeyRule{"commit/gpgsign", kHarmless, {}},
    KeyRule{"tag/gpgsign", kHarmless, {}},
    KeyRule{"init/defaultbranch", kHarmless, {}},
    KeyRule{"push/default", kHarmless, {}},
    KeyRule{"push/autosetupremote", kHarmless, {}},
    KeyRule{"pull/rebase", kHarmless, {}},
    KeyRule{"pull/ff", kHarmless, {}},
    KeyRule{"fetch/prune", kHarmless, {}},
    KeyRule{"rebase/autostash", kHarmless, {}},
    KeyRule{"rerere/enabled", kHarmless, {}},
    KeyRule{"gc/auto", kHarmless, {}},
    KeyRule{"advice/*", kHarmless, {}},
    KeyRule{"color/*", kHarmless, {}},
    KeyRule{"remote/*/url", kHarmless, {}},
    KeyRule{"remote/*/pushurl", kHarmless, {}},
    KeyRule{"remote/*/fetch", kHarmless, {}},
    KeyRule{"remote/*/tagopt", kHarmless, {}},
    KeyRule{"remote/*/prune", kHarmless, {}},
    KeyRule{"branch/*/remote", kHarmless, {}},
    KeyRule{"branch/*/merge", kHarmless, {}},
    KeyRule{"branch/*/rebase", kHarmless, {}},
    KeyRule{"branch/*/description", kHarmless, {}},
    KeyRule{"submodule/*/url", kHarmless, {}},
    KeyRule{"submodule/*/active", kHarmless, {}},
    KeyRule{"submodule/active", kHarmless, {}},
};
constexpr FileRule kRule{"config",  Handing::kCopied, FileFormat::kGitConfig,
                         kProposed, "unknown",        kHarmlessKeys};

/// SECURITY: what git could read in another way than we do is not taken apart.
bool IsPlainText(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= ' ' || c == '\n' || c == '\t';
  });
}

std::string ValueOf(const FlatKey& key) {
  std::string_view value = key.value;
  if (value.starts_with('=')) value.remove_prefix(1);
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  return std::string(value);
}

bool CanBeWrittenAnew(const FlatKey& key, std::string_view value) {
  const auto plain = [](std::string_view text) {
    return text.find_first_of("\"\\\n#;") == std::string_view::npos;
  };
  return key.value.starts_with('=') && key.keys.size() >= 2 && key.keys.size() <= 3 &&
         std::ranges::all_of(key.keys, plain) && plain(value);
}

/// An address may name a program that carries it: "ext::sh -c ..." and every other "NAME::".
bool IsPlainAddress(const FlatKey& key, std::string_view value) {
  const bool address = key.keys.back() == "url" || key.keys.back() == "pushurl";
  return !address || (!value.contains("::") && !value.starts_with('-'));
}

}  // namespace

JudgedSettings JudgeSettings(std::string_view text,
                             const std::function<bool(const std::string& path)>& is_work_tree) {
  const auto keys = ReadFlatKeys(kRule, text);
  if (!keys || !IsPlainText(text)) return {.refused = {"a text that igloo cannot read for sure"}};
  JudgedSettings judged;
  std::string section;  // of the last key that was written
  for (const FlatKey& key : *keys) {
    const std::string value = ValueOf(key);
    const bool elsewhere = key.keys == std::vector<std::string>{"core", "worktree"} &&
                           !is_work_tree(GitUnquoted(value));
    if (Decide(kRule, key.keys).treatment != kHarmless || elsewhere ||
        !CanBeWrittenAnew(key, value) || !IsPlainAddress(key, value)) {
      std::string name;
      for (const std::string& part : key.keys) name += (name.empty() ? "" : ".") + part;
      judged.refused.push_back(name + " = " + value);
      continue;
    }
    std::string header = "[" + key.keys.front();
    if (key.keys.size() == 3) header += " \"" + key.keys[1] + "\"";
    if (header != section) judged.harmless += header + "]\n";
    section = std::move(header);
    judged.harmless += "\t" + key.keys.back() + " = " + value + "\n";
  }
  return judged;
}

}  // namespace igloo::agent

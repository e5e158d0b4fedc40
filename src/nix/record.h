#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace igloo::nix {

/// What Nix made.
struct Built {
  std::string digest = {};     ///< of what was asked for: DigestOf
  std::string lock = {};       ///< digest of the flake.lock that it was made with
  std::string out = {};        ///< "/nix/store/...": the artifact
  std::string prefix = {};     ///< where the store lies
  std::string reference = {};  ///< as people write it
  std::string flake = {};      ///< without its attribute
  std::string locked = {};     ///< what that was when it was locked: "github:owner/repo/REV"
  bool artifact = false;       ///< the flake's own output was one already
  bool own_packages = false;   ///< igloo's nixpkgs was needed
  std::string trusted = {};    ///< Wanted::trusted
  bool operator==(const Built&) const = default;
};

/// How the last attempt ended, if it failed.
struct Failure {
  std::string digest = {};
  std::string what = {};
  std::string hint = {};
  bool operator==(const Failure&) const = default;
};

/// The record of an environment: what there is, and what went wrong since.
struct Record {
  std::string project = {};  ///< Wanted::project
  std::optional<Built> built = {};
  std::optional<Failure> failure = {};
  bool operator==(const Record&) const = default;
};

std::string ToJson(const Record& record);
Result<Record> ParseRecord(std::string_view text);

/// What the input `source` of a flake.lock is pinned to, for people; empty when it does not say.
std::string LockedSource(std::string_view lock);

/// Whether this is the text of a flake.lock at all.
bool IsLock(std::string_view text);

/// Store paths that `nix build --json` made, of the first thing: the output "out", else any.
Result<std::string> OutOf(std::string_view json);

}  // namespace igloo::nix

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/box.h"
#include "agent/refusals.h"
#include "network/control.h"
#include "sandbox/plan.h"

namespace igloo::agent {

/// A decision of igloo-proxy as a refusal; nullopt: it refused nothing.
std::optional<Refusal> ExplainNetwork(const network::Record& record);

/// A system call that the filter refused.
Refusal ExplainCall(std::uint32_t number, const std::string& program, std::uint64_t times);

/// What a program asked of the socket behind a grant, in vain. `grant`: its option.
Refusal ExplainGrant(std::string_view grant, std::string_view what);

/// A file that a program in a box asked for, and how that went.
struct FileUse {
  std::string path = {}, program = {};
  bool written = false;  ///< to write to it, or to make it
  int error = 0;         ///< 0: it worked
};

/// Whether a path lies where every program looks: what igloo makes itself, and the kernel's own.
bool IsEverybodys(std::string_view path);

/// What a box shows and what it does not, for explanations of what happened to files in it.
class BoxPlaces {
 public:
  using Exists = std::function<bool(const std::string& path)>;

  /// `exists`: whether the host has a path. All outlive it.
  BoxPlaces(const Box& box, const sandbox::Plan& plan, Exists exists);

  /// nullopt: nothing was refused, or only what is not there outside either.
  std::optional<Refusal> Explain(FileUse use) const;
  /// Whether a path is the user's and lies outside of what the box shows.
  bool IsMissing(const std::string& path) const;

 private:
  struct Place {
    std::string path = {};
    bool writable = false;
    std::string why = {};  ///< of one that is not: the mount's reason
  };
  bool IsHidden(std::string_view path) const;
  const Place* ReadOnlyPlace(std::string_view path) const;
  std::string RemedyForWriting(const std::string& path) const;
  std::string RemedyForMissing(const std::string& path) const;

  const Box& box_;
  Exists exists_;
  std::vector<std::string> hidden_ = {};
  std::vector<Place> places_ = {};
};

/// Without "." and ".." and double slashes. Links are not followed.
std::string PlainPath(std::string_view path);

/// The directory below home that belongs together with a path in it: ".cargo" of
/// ".cargo/bin/x", ".config/gh" of ".config/gh/hosts.yml". Empty: the path lies in home itself, or
/// not below it.
std::string DirectoryBelowHome(const std::string& path, const std::string& home);

}  // namespace igloo::agent

#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "agent/explain.h"
#include "agent/refusals.h"
#include "network/control.h"

namespace igloo::agent {

/// What a box used, as a profile that a person looks at. SECURITY: code in the box chose nearly all
/// of it. So it has bounds, it is written as data that no reader takes for anything else, and
/// nothing of igloo's reads it.
class Learned {
 public:
  static constexpr std::size_t kMostOfEach = 256;

  /// `places` outlives it.
  Learned(const Box& box, const BoxPlaces& places) : box_(box), places_(places) {}

  void Take(const network::Record& record);
  void Take(const FileUse& use);

  /// A fragment of a configuration file: [agents.NAME]. `agent`: the name of a profile; empty: it
  /// was a program, which the profile then names.
  std::string Toml(const std::string& agent, const BoxRefusals& refused) const;

 private:
  void Put(std::set<std::string>& into, std::string text);

  const Box& box_;
  const BoxPlaces& places_;
  std::set<std::string> reached_ = {};   ///< host:port
  std::set<std::string> programs_ = {};  ///< paths
  std::set<std::string> home_ = {};      ///< directories below home that it wrote to
  std::set<std::string> missing_ = {};   ///< directories and files that only the host has
  std::uint64_t more_ = 0;               ///< that had no room
};

}  // namespace igloo::agent

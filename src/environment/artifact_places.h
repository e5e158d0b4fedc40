#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "environment/artifact.h"

namespace igloo::environment {

/// What a place of artifacts holds that may be one, in the order of their names.
struct Candidates {
  std::vector<std::string> names = {};
  std::optional<Error> error = {};
};
/// Links are not followed yet: people collect artifacts by linking to results of builds.
Candidates CandidatesIn(const std::string& place);

/// One scan, as it goes from place to place: of one name, only one artifact counts.
class Scan {
 public:
  /// A place that holds about that many.
  void BeginPlace(std::size_t count) {
    ++place_;
    found_.found.reserve(found_.found.size() + count);
    names_.reserve(names_.size() + count);
  }
  /// What was found in a directory of this place.
  void Take(std::string directory, Result<Artifact> artifact);
  void Refuse(std::string directory, Error why) {
    found_.problems.push_back({std::move(directory), std::move(why)});
  }
  ArtifactScan Finish() && { return std::move(found_); }

 private:
  struct Known {
    std::size_t index, place;
  };
  ArtifactScan found_ = {};
  std::size_t place_ = 0;
  std::unordered_map<std::string, Known> names_ = {};
};

}  // namespace igloo::environment

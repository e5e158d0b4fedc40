#include "environment/artifact_places.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace igloo::environment {

namespace fs = std::filesystem;

Candidates CandidatesIn(const std::string& place) {
  Candidates out;
  std::error_code error;
  for (fs::directory_iterator at(place, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    // Both known from the listing itself.
    if (at->is_symlink(ignored) || at->is_directory(ignored)) {
      out.names.push_back(at->path().filename().native());
    }
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    out.error = Error{Errc::kPermissionDenied, "cannot list it: " + error.message(), {}, 0};
  }
  std::ranges::sort(out.names);
  return out;
}

void Scan::Take(std::string directory, Result<Artifact> artifact) {
  if (!artifact) {
    // A link to a file is no artifact and no problem.
    if (artifact.error().sys_errno != ENOTDIR) {
      Refuse(std::move(directory), std::move(artifact).error());
    }
    return;
  }
  const auto [at, added] =
      names_.emplace(artifact->metadata.name, Known{found_.found.size(), place_});
  if (added) {
    found_.found.push_back(*std::move(artifact));
  } else if (at->second.place == place_) {
    const Artifact& same = found_.found[at->second.index];
    Refuse(std::move(directory),
           {Errc::kInvalidArgument,
            "'" + same.metadata.name + "' is already the name of '" + same.directory + "'",
            "rename one of them", 0});
  }
}

ArtifactScan ScanArtifacts(const std::vector<std::string>& places, const Store& store) {
  Scan scan;
  for (const std::string& place : places) {
    Candidates candidates = CandidatesIn(place);
    scan.BeginPlace(candidates.names.size());
    if (candidates.error) scan.Refuse(place, *std::move(candidates.error));
    for (const std::string& name : candidates.names) {
      std::string directory = place + "/" + name;
      auto artifact = ReadArtifact(directory, store);
      scan.Take(std::move(directory), std::move(artifact));
    }
  }
  return std::move(scan).Finish();
}

}  // namespace igloo::environment

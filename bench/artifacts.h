#pragma once

#include <string>

#include "base/error.h"
#include "base/temp_dir.h"
#include "environment/environment.h"

namespace igloo::bench {

/// Artifacts as mkSandbox makes them, of one closure, in a place and with a store of their own.
class FakeArtifacts {
 public:
  /// The closure has a program that ends at once, and `packages` store paths in all.
  static Result<FakeArtifacts> Make(std::size_t artifacts, std::size_t packages);

  /// The directory that has a directory for each of them.
  std::string place() const { return directory_.path() + "/artifacts"; }
  /// One of them, opened.
  Result<environment::Environment> Open() const;
  /// Looks through all of them, in microseconds; fails unless all are found.
  Result<double> Scan() const;

 private:
  FakeArtifacts(TempDir directory, std::size_t count)
      : directory_(std::move(directory)), count_(count) {}
  TempDir directory_;
  std::size_t count_;
};

}  // namespace igloo::bench

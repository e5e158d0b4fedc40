#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/samples.h"
#include "bench/timeline.h"

namespace igloo::bench {

/// One thing that is measured.
struct Candidate {
  std::string key = {};      ///< for goals and JSON
  std::string name = {};     ///< for people
  std::string against = {};  ///< the key of bwrap's counterpart, or empty
  unsigned every = 1;        ///< takes part in every n-th round: slow ones stay few
  std::function<Result<double>()> once = {};
  Samples samples = {};
  std::string failure = {};  ///< why it could not be measured
};

/// The candidates and what they share. Not moved: they point into each other.
class Field {
 public:
  static Result<std::unique_ptr<Field>> Make();
  ~Field();
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  std::vector<Candidate>& candidates() { return candidates_; }
  const std::vector<Candidate>& candidates() const { return candidates_; }
  const Candidate* Find(std::string_view key) const;
  const Timeline& one_shot_timeline() const;
  const Timeline& prepared_timeline() const;

 private:
  struct Shared;
  explicit Field(std::unique_ptr<Shared> shared);
  void AddPrograms(const std::string& igloo);
  Result<void> AddLauncher();
  Result<void> AddStore(std::size_t packages, unsigned every);

  std::unique_ptr<Shared> shared_;
  std::vector<Candidate> candidates_ = {};
};

}  // namespace igloo::bench

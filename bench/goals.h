#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/candidates.h"
#include "bench/figures.h"

namespace igloo::bench {

enum class Bar { kAtMost, kAtLeast };

/// A promise about two candidates of one run. Never about milliseconds.
struct Goal {
  std::string_view text;
  std::string_view measured, reference;
  Bar bar;
  double bound;
  double measured_share = 0.5;  ///< 0.99: the tail of the one against the median of the other
};

/// What came of a promise; nothing when it was not measured. Some
/// figures have bars in milliseconds and mebibytes: those are printed in the place of the ratio.
struct Judgement {
  std::string text = {};
  Bar bar = Bar::kAtMost;
  double bound = 0;
  std::optional<double> ratio = {};
  std::optional<double> quiet = {};  ///< the same of p10, the best guess at a quiet machine

  bool met() const { return ratio && (bar == Bar::kAtMost ? *ratio <= bound : *ratio >= bound); }
};

/// Of the same share of both; nothing when one of them was not measured.
std::optional<double> Ratio(const Candidate* of, const Candidate* to, double share);

std::vector<Judgement> Judge(const std::vector<Candidate>& candidates,
                             const std::vector<Sustained>& sustained,
                             const std::vector<Figure>& figures = {});

}  // namespace igloo::bench

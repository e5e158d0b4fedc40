#include "environment/conveniences.h"

#include <algorithm>

#include "hook_texts.h"

namespace igloo::environment {
namespace {

constexpr Conveniences kAll[] = {
    {.language = "python",
     .description = "display(), figures and pictures come back, output is not held back",
     .variables = {{{"PYTHONPATH", "/run/igloo/.python", ':'},
                    {"PYTHONUNBUFFERED", "1"},
                    {"MPLBACKEND", "agg"}}},
     .files = {{{".python/sitecustomize.py", k_sitecustomize_py},
                {".python/display.py", k_display_py}}}},
    {.language = "node",
     .description = "igloo.display(value, type)",
     .variables = {{{"NODE_OPTIONS", "--require=/run/igloo/.node/igloo.js", ' '}}},
     .files = {{{".node/igloo.js", k_igloo_js}}}},
};

template <class Row>
std::span<const Row> Filled(std::span<const Row> rows) {
  const auto end = std::ranges::find_if(rows, [](const Row& row) { return row.name.empty(); });
  return rows.first(static_cast<std::size_t>(end - rows.begin()));
}

}  // namespace

std::span<const Conveniences::Variable> Conveniences::Variables() const {
  return Filled(std::span<const Variable>(variables));
}

std::span<const Conveniences::File> Conveniences::Files() const {
  return Filled(std::span<const File>(files));
}

const Conveniences* FindConveniences(std::string_view language) {
  const auto* found = std::ranges::find(kAll, language, &Conveniences::language);
  return found == std::end(kAll) ? nullptr : found;
}

const Conveniences* ConveniencesOf(const Environment& environment) {
  return environment.conveniences ? FindConveniences(environment.language) : nullptr;
}

void AddVariables(const Conveniences& conveniences, std::map<std::string, std::string>& variables) {
  for (const Conveniences::Variable& each : conveniences.Variables()) {
    auto [place, added] = variables.try_emplace(std::string(each.name), each.value);
    if (added || each.joint == 0) continue;
    // An empty part of PYTHONPATH would mean the working directory.
    const std::string theirs = place->second.empty() ? "" : each.joint + place->second;
    place->second = std::string(each.value) + theirs;
  }
}

}  // namespace igloo::environment

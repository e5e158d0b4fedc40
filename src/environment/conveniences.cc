#include "environment/conveniences.h"

#include "language/language.h"

namespace igloo::environment {

const Conveniences* ConveniencesOf(const Environment& environment) {
  if (!environment.conveniences) return nullptr;
  const language::Language* found = language::Find(environment.language);
  return found == nullptr || !found->conveniences ? nullptr : &*found->conveniences;
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

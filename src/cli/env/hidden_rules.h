#pragma once

#include <boost/json/array.hpp>
#include <string>
#include <utility>
#include <vector>

#include "environment/hidden.h"

namespace igloo::cli {

/// What is hidden in a project, and why: pattern and reason.
std::vector<std::pair<std::string, std::string>> RulesOf(const environment::HideRules& rules);
boost::json::array RulesJson(const environment::HideRules& rules);

}  // namespace igloo::cli

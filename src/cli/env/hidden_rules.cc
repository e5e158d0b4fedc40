#include "cli/env/hidden_rules.h"

#include <boost/json/object.hpp>

#include "base/text.h"
#include "environment/secret_files.h"

namespace igloo::cli {
namespace {

std::string ReasonOf(const environment::SecretRow& row) {
  std::string reason(row.reason);
  switch (row.look) {
    case environment::Look::kName:
      return reason;
    case environment::Look::kWords:
    case environment::Look::kKey:
      return reason + ", if it has one in it";
    case environment::Look::kUnless:
      return reason + ", unless there is '" + std::string(row.words) + "' in it";
    case environment::Look::kGit:
      return reason + ": it reads without them";
  }
  return reason;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> RulesOf(const environment::HideRules& rules) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& glob : rules.hide) all.emplace_back(glob, "the configuration hides it");
  for (const environment::SecretRow& row : environment::SecretRows()) {
    all.emplace_back(row.pattern, ReasonOf(row));
  }
  for (const environment::SecretRow& row : environment::HarmlessRows()) {
    all.emplace_back("not " + std::string(row.pattern), row.reason);
  }
  return all;
}

boost::json::array RulesJson(const environment::HideRules& rules) {
  boost::json::array rows;
  for (const auto& [pattern, why] : RulesOf(rules)) {
    rows.push_back(boost::json::object{{"pattern", ToUtf8(pattern)}, {"reason", ToUtf8(why)}});
  }
  return rows;
}

}  // namespace igloo::cli

#include "cli/personalities/contract.h"

#include <algorithm>
#include <thread>

#include "cli/settings.h"

namespace igloo::cli {
namespace {

std::string Line(const Error& error) {
  return error.what + (error.hint.empty() ? "" : "; " + error.hint);
}

}  // namespace

config::SandboxScan ReadSandboxes(const Log& log) {
  const auto config = config::LoadSandboxMcpConfig(ReadVariables());
  if (!config) {
    // Whatever is wrong with the file, igloo's own sandboxes are there.
    log(Line(config.error()));
    return {};
  }
  config::SandboxScan scan = config::ScanSandboxes(config->sandboxes_path);
  for (const std::string& note : config->notes) log(note);
  for (const std::string& note : scan.notes) log(note);
  for (const config::SandboxProblem& problem : scan.problems) log(Line(problem.error));
  return scan;
}

std::unique_ptr<tools::Contract> MakeEnvironmentContract(tools::Workshop workshop,
                                                         tools::Uncovered uncovered, Log log) {
  return std::make_unique<tools::EnvironmentContract>(
      workshop, tools::EnvironmentContract::Parts{
                    .scan = [log = std::move(log)] { return ReadSandboxes(log); },
                    .uncovered = uncovered,
                    .cores = std::max(1U, std::thread::hardware_concurrency())});
}

}  // namespace igloo::cli

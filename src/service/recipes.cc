#include "service/recipes.h"

#include <algorithm>

#include "environment/interpreter.h"
#include "service/runner.h"
#include "session/prepare.h"

namespace igloo::service {
namespace {

/// How long a plan counts as new.
constexpr std::int64_t kNewMicros = 1'000'000;
constexpr std::size_t kMost = 16;

/// What a sandbox starts: a session's driver, or an interpreter that waits for its code.
decltype(environment::RunRequest::what) WhatFor(const Order& order) {
  const environment::Environment& environment = order.where.environment;
  if (order.driver == nullptr) return environment::AwaitedCode{};
  if (order.driver == &language::CommandDriver()) {
    return environment::Program{
        language::DriveByCommand(environment.code_file, environment::FileCommand(environment))};
  }
  return environment::Driver{.text = std::string(order.driver->text),
                             .file = std::string(order.driver->file),
                             .program = std::string(order.driver->program)};
}

Result<session::Recipe> Plan(const Order& order) {
  environment::RunRequest request = order.request;
  request.what = WhatFor(order);
  request.files.clear();
  request.time_ms = 0;
  request.extra_descriptors = order.driver == nullptr ? 0 : language::kDescriptors;
  request.hand_out = order.where.backend->can.hands_out;
  const std::uint64_t kept = order.where.environment.room.output_bytes;
  session::Recipe recipe{.wall = order.where.backend,
                         .awaits_code = order.driver == nullptr,
                         .checkpoint = order.driver != nullptr && order.driver->checkpoint,
                         .preload = order.where.preload,
                         .most = order.where.warm,
                         .capture_limit = kept,
                         .output_limit = kEndlessOutput * kept,
                         .network = request.network};
  IGLOO_ASSIGN(recipe.plan, session::PlanFor(order.where.environment, request));
  return recipe;
}

/// The user's own directories are looked at each time, and a terminal is nobody's usual run.
bool CanBeKept(const Order& order) {
  const environment::RunRequest& request = order.request;
  return order.setup != 0 && !request.project && !request.terminal && request.fine_memory_limits &&
         request.views;
}

}  // namespace

Result<std::shared_ptr<const session::Recipe>> Recipes::For(const Order& order,
                                                            std::int64_t now_micros) {
  if (!CanBeKept(order)) {
    IGLOO_ASSIGN(session::Recipe recipe, Plan(order));
    return std::make_shared<const session::Recipe>(std::move(recipe));
  }
  const environment::RunRequest& request = order.request;
  const Key key{.setup = order.setup,
                .wall = order.where.backend,
                .environment = order.where.environment.name,
                .driver = order.driver,
                .memory_bytes = request.memory_bytes,
                .millicpus = request.millicpus,
                .processes = request.processes,
                .open_files = request.open_files,
                .place = request.place,
                .variables = request.variables,
                .network = request.network};
  auto found = std::ranges::find(kept_, key, &Kept::key);
  if (found != kept_.end() && now_micros - found->planned_micros < kNewMicros) {
    return found->recipe;
  }
  IGLOO_ASSIGN(session::Recipe recipe, Plan(order));
  if (found == kept_.end()) {
    if (kept_.size() >= kMost) kept_.erase(kept_.begin());
    found = kept_.insert(kept_.end(), Kept{.key = key});
  }
  found->planned_micros = now_micros;
  // The same one where nothing has changed: who has it need not compare.
  if (!found->recipe || *found->recipe != recipe) {
    found->recipe = std::make_shared<const session::Recipe>(std::move(recipe));
  }
  return found->recipe;
}

}  // namespace igloo::service

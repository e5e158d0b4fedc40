#include "service/live_setup.h"

namespace igloo::service {

const Result<std::shared_ptr<const Setup>>& LiveSetup::Current() {
  if (!current_) current_ = load_();
  return *current_;
}

std::shared_ptr<const Setup> LiveSetup::CurrentOrNothing() {
  const auto& current = Current();
  return current ? *current : Setup::Nothing();
}

Result<void> LiveSetup::Reload() {
  auto loaded = load_();
  if (!loaded) return std::unexpected(std::move(loaded).error());
  current_ = std::move(loaded);
  return {};
}

}  // namespace igloo::service

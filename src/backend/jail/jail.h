#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "backend/backend.h"
#include "backend/jail/launcher.h"

namespace igloo::backend::jail {

/// Whether a run builds everything itself or stands on a prepared environment.
enum class Mode {
  kCold,      ///< one child applies both lists: best for a single run
  kPrepared,  ///< the environment is built once per distinct list and kept
};

/// Ids of the templates that were prepared, by their encoded environment itself: two that differ in
/// one byte are two templates.
using Templates = std::map<std::string, std::uint64_t>;

/// Our own launcher behind the backend interface. Not copied between threads: runs start from the
/// thread that made it.
class JailBackend : public Backend {
 public:
  JailBackend(Programs programs, Mode mode) : programs_(std::move(programs)), mode_(mode) {}

  /// Starts the launcher ahead of the first run, so that it gets ready beside the planning.
  Result<void> Warm();

  Result<std::unique_ptr<Sandbox>> Start(const sandbox::Plan& plan, Channels channels) override;

  /// For a caller that is about to exit: nothing is left to wait for.
  void Abandon() {
    if (launcher_) launcher_->Abandon();
  }

  /// Ask for start-up stamps in Sandbox::timeline.
  void set_timeline(bool wanted) { timeline_ = wanted; }

 private:
  Result<std::uint64_t> TemplateFor(const sandbox::Plan& plan, const std::string& environment);
  Result<void> Send(const ops::Request& request, std::string_view environment,
                    std::string_view run, std::span<const int> fds);

  Programs programs_;
  Mode mode_;
  bool timeline_ = false;
  std::optional<Launcher> launcher_ = {};
  /// Shared with the sandboxes: one that finds its template gone strikes it off.
  std::shared_ptr<Templates> templates_ = std::make_shared<Templates>();
  std::uint64_t next_template_ = 1;
};

}  // namespace igloo::backend::jail

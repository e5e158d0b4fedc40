#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "backend/backend.h"
#include "backend/jail/host_ids.h"
#include "backend/launcher.h"
#include "base/log.h"

namespace igloo::backend::jail {

/// kCold: one child applies all three lists. kPrepared: the environment is built once per distinct
/// list and kept.
using backend::Mode;

/// The templates that were prepared, by the steps they stand for: two that differ in one of them
/// are two templates. There are few, and comparing costs less than encoding.
struct Template {
  std::vector<sandbox::Step> environment = {}, fresh = {};
  /// Shared with the sandboxes that stand on it: one that nobody else holds is idle.
  std::shared_ptr<const std::uint64_t> id = {};
  /// Its own ids, or none: its sandboxes have the starter's.
  std::optional<IdBlock> ids = {};
};
using Templates = std::vector<Template>;

/// Whether sandboxes of a plan can stand on a template: those get their network from it, which has
/// neither the host's nor a right over one with a device.
bool CanBePrepared(const sandbox::Plan& plan);

/// Our own launcher behind the backend interface. Not copied between threads: runs start from the
/// thread that made it.
class JailBackend : public Backend {
 public:
  JailBackend(Programs programs, Mode mode) : programs_(std::move(programs)), mode_(mode) {}

  /// Starts the launcher ahead of the first run, so that it gets ready beside the planning.
  Result<void> Warm() override;

  Result<std::unique_ptr<Sandbox>> Start(const sandbox::Plan& plan, Channels channels) override;

  HostIds expected_ids() const override;
  /// Starts the launcher where only a trial tells.
  Result<HostIds> host_ids() override;
  /// Hears when sandboxes get weaker ids than expected_ids() said, a sentence each.
  void set_note(Log::Line note) { note_ = std::move(note); }

  /// Ask for start-up stamps in Sandbox::timeline.
  void set_timeline(bool wanted) { timeline_ = wanted; }

 private:
  Result<std::unique_ptr<Sandbox>> TryStart(const sandbox::Plan& plan, const Channels& channels);
  Result<const Template*> TemplateFor(const sandbox::Plan& plan);
  Template* FindTemplate(const sandbox::Plan& plan, bool own_ids);
  Result<std::uint64_t> Prepare(const sandbox::Plan& plan, const std::optional<IdBlock>& ids);
  Result<SubordinateIds> LookForIds() const;
  Result<void> GainIds(const SubordinateIds& ids);
  /// A block for a template of this plan, if it can have one.
  std::optional<IdBlock> TakeBlock(const sandbox::Plan& plan);
  void Note(std::string_view what, const Error& error) const;
  /// Ends the template that was idle longest, when there are too many.
  Result<void> MakeRoom();
  Result<void> Send(const ops::Request& request, const Launcher::Lists& lists,
                    std::span<const int> fds);
  /// A dead launcher took its templates along; the next run starts a new one.
  void ForgetLauncher();

  Programs programs_;
  Mode mode_;
  bool timeline_ = false;
  std::optional<Launcher> launcher_ = {};
  Log::Line note_ = {};
  std::optional<SubordinateIds> ids_ = {};  ///< what the launcher has
  Error why_no_ids_ = {};
  bool had_ids_ = false, said_no_block_ = false;
  /// Least recently used first. Shared with the sandboxes: one that finds its template gone strikes
  /// it off.
  std::shared_ptr<Templates> templates_ = std::make_shared<Templates>();
  std::uint64_t next_template_ = 1;
};

}  // namespace igloo::backend::jail

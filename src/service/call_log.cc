#include "service/call_log.h"

#include <utility>

#include "base/error_text.h"
#include "service/places.h"
#include "service/trace_record.h"

namespace igloo::service {

void CallLog::Set(const config::AuditConfig& config) {
  journal_.reset();
  nowhere_.reset();
  if (!config.enabled) return;
  auto place = StatePlace();
  if (!place) {
    nowhere_ = std::move(place).error();
    nowhere_->hint += ", or set audit.enabled = false";
    return;
  }
  journal_.emplace(
      audit::JournalOptions{.directory = *std::move(place),
                            .rotate_bytes = config.rotate_bytes,
                            .keep = config.keep,
                            .code = config.code ? audit::KeepCode::kYes : audit::KeepCode::kNo});
}

void CallLog::Add(const Trace& trace) {
  if (!journal_ && !nowhere_) return;
  const auto written = journal_ ? journal_->Write(RecordOf(trace)) : std::unexpected(*nowhere_);
  if (written) {
    complained_ = false;
  } else if (!std::exchange(complained_, true)) {
    say_("calls are not written down: " + InOneLine(written.error()));
  }
}

}  // namespace igloo::service

#include "session/verdict.h"

namespace igloo::session {

Verdict VerdictOf(const wire::Ended& ended) {
  switch (ended.cause) {
    case wire::EndCause::kTimeLimit:
      return Verdict::kTimeout;
    case wire::EndCause::kInterrupted:
      return Verdict::kInterrupted;
    case wire::EndCause::kKilled:
      return Verdict::kKilled;
    case wire::EndCause::kMemory:
      return Verdict::kMemory;
    case wire::EndCause::kItself:
      break;
  }
  if (ended.kind == wire::EndKind::kSignalled) return Verdict::kSignal;
  return ended.status == 0 ? Verdict::kOk : Verdict::kExit;
}

int ExitCodeOf(const wire::Ended& ended, Verdict verdict) {
  if (verdict == Verdict::kTimeout) return 124;
  if (ended.kind == wire::EndKind::kSignalled) return 128 + static_cast<int>(ended.status);
  return static_cast<int>(ended.status);
}

std::string_view Name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kExit:
      return "exit";
    case Verdict::kSignal:
      return "signal";
    case Verdict::kTimeout:
      return "timeout";
    case Verdict::kMemory:
      return "memory";
    case Verdict::kInterrupted:
      return "interrupted";
    case Verdict::kKilled:
      return "killed";
  }
  return "?";
}

}  // namespace igloo::session

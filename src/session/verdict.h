#pragma once

#include <string_view>

#include "wire/message.h"

namespace igloo::session {

/// In one word, how a run ended.
enum class Verdict { kOk, kExit, kSignal, kTimeout, kMemory, kInterrupted, kKilled };
std::string_view Name(Verdict verdict);

/// Why init ended a run comes before how its program ended.
Verdict VerdictOf(const wire::Ended& ended);

/// As a shell would say it: 128 + n for a signal, 124 for a time-out.
int ExitCodeOf(const wire::Ended& ended, Verdict verdict);

}  // namespace igloo::session

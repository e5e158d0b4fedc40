#pragma once

#include <string>

#include "cli/console.h"
#include "session/parts.h"
#include "session/run.h"

namespace igloo::cli {

/// The result of a run as one JSON document and a newline. `parts`: what it displayed.
std::string ResultJson(const session::RunResult& result, const std::vector<session::Part>& parts);

/// That there was something to see which a terminal cannot show.
void SayWhatWasDisplayed(const std::vector<session::Part>& parts, Console& console);

/// What its network refused, in notes for people.
void SayWhatWasRefused(const session::Refusals& refused, Console& console);
/// What igloo changed in a read-write project after the run, likewise.
void SayWhatWasPutRight(const std::vector<std::string>& sentences, Console& console);

/// A failure of igloo's own in the same shape.
std::string ErrorJson(const Error& error);

/// Where a run spent its time, in lines for people. `main_micros` is when igloo's main began.
std::string TimelineText(const session::RunResult& result, std::uint64_t main_micros);

}  // namespace igloo::cli

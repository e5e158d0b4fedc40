#pragma once

#include <string>

#include "clients/apply.h"

namespace igloo::cli {

/// What became of a client's file, for people; `after` says what the client needs to notice.
std::string DoneText(const clients::Order& order, const clients::Done& done);
/// The same as one JSON document and a newline.
std::string DoneJson(const clients::Order& order, const clients::Done& done);

/// What belongs into which file, as one JSON document and a newline.
std::string PrintedJson(const clients::Client& client, const std::string& file,
                        const std::string& text);

}  // namespace igloo::cli

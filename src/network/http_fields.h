#pragma once

// The lines behind the first of an HTTP head, and what they say about the message's end.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/http_head.h"

namespace igloo::network {

bool EqualIgnoringCase(std::string_view a, std::string_view b);
bool IsToken(std::string_view text);

/// All headers of a message, and those that its reader needs.
struct Fields {
  std::vector<Header> headers = {};  ///< what is sent on
  std::optional<std::string> host = {};
  std::optional<std::uint64_t> content_length = {};
  bool chunked = false;
  bool close = false, keep_alive = false;  ///< what Connection says
  bool expects_continue = false;
};

/// `lines` is everything behind the first line, each line with its CRLF, without the empty one.
HttpResult<Fields> ParseFields(std::string_view lines);

/// Takes the next line off `rest`, without its CRLF; every line has one.
std::string_view TakeLine(std::string_view& rest);

void AppendFields(const std::vector<Header>& headers, const Framing& body, std::string& text);

}  // namespace igloo::network

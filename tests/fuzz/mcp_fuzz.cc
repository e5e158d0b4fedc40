#include <algorithm>
#include <boost/json/parse.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "mcp/json_rpc.h"
#include "mcp/message_lines.h"
#include "mcp/testing.h"

namespace {

using namespace igloo::mcp;

/// Whatever is answered is one line that any JSON parser reads.
void CheckAnswer(const boost::json::object& answer) {
  const std::string line = EncodeMessage(answer);
  boost::system::error_code error;
  (void)boost::json::parse(line, error);
  if (error || line.find('\n') != std::string::npos) __builtin_trap();
}

/// What can be told of a message without parsing it is what the parser says. Ids may be written
/// with escapes that stand for no character, and then only the parser's mended reading has one.
void CheckOutline(std::string_view line, const Request& request) {
  const Outline outline = OutlineOf(line);
  if (!outline.call) __builtin_trap();
  const bool escapes = line.find("\\u") != std::string_view::npos;
  if (outline.id ? outline.id != request.id : !escapes) __builtin_trap();
}

/// Whatever is said to a server, it answers with nothing but messages.
void Talk(testing::Conversation& talk, std::string_view line) {
  talk.dispatcher->Receive(line);
  for (const std::string& said : talk.Listen()) {
    boost::system::error_code error;
    const boost::json::value message = boost::json::parse(said, error);
    if (error || !message.is_object() || message.as_object().at("jsonrpc") != "2.0") {
      __builtin_trap();
    }
  }
}

}  // namespace

/// What a hostile client can send: lines are bounded however the bytes are cut into reads, and
/// every line is a message or is refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  constexpr std::size_t kLimit = 2048;
  MessageLines whole(kLimit), pieces(kLimit);
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  whole.Append(text);
  std::string_view left = text;
  const std::size_t step = size == 0 ? 1 : 1 + bytes[0] % 64;
  const auto next_piece = [&] {
    auto line = pieces.Next();
    while (!line && !left.empty()) {
      pieces.Append(left.substr(0, step));
      left.remove_prefix(std::min(step, left.size()));
      line = pieces.Next();
    }
    return line;
  };
  testing::Conversation talk;
  talk.service.features.tasks = true;
  talk.service.background = Background::kAlways;
  while (auto line = whole.Next()) {
    Talk(talk, line->text);
    if (line != next_piece() || line->text.size() > kLimit) __builtin_trap();
    const Message message = DecodeMessage(line->text);
    if (const auto* request = std::get_if<Request>(&message)) {
      CheckOutline(line->text, *request);
      CheckAnswer(ResultMessage(request->id, request->params));
    } else if (const auto* refusal = std::get_if<Refusal>(&message)) {
      if (refusal->error.message.empty()) __builtin_trap();
      CheckAnswer(ErrorMessage(refusal->id, refusal->error));
    }
  }
  talk.dispatcher->Close();
  talk.Listen();
  if (talk.core->running() != 0) __builtin_trap();  // nothing outlives its client
  return 0;
}

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/json_rpc.h"

namespace igloo::mcp {

/// What can be told of a message that cannot be parsed, or that is too long to be kept: enough to
/// answer whoever waits for it.
struct Outline {
  std::optional<RequestId> id = {};  ///< of several, the last one, as a parser takes it
  bool call = false;                 ///< has a 'method'
  bool response = false;             ///< has a 'result' or an 'error', and so answers the server

  bool operator==(const Outline&) const = default;
};

/// Reads the outline of one message that comes in pieces of any size, in constant memory. It knows
/// strings and nesting and nothing else of JSON, so most mistakes within a message do not hide its
/// id, and nothing inside of a string or of `params` is taken for it.
class OutlineReader {
 public:
  void Read(std::string_view bytes);
  const Outline& outline() const { return outline_; }

 private:
  enum class At : std::uint8_t {
    kBegin,     ///< before the object
    kKey,       ///< before a name, or the end of the object
    kColon,     ///< behind a name
    kValue,     ///< before or within a value
    kFinished,  ///< behind the object, or where it is none
  };

  void ReadString(char c);
  void ReadPunctuation(char c);
  void ReadMember(char c);
  void EndName();
  void EndValue();
  void Keep(char c);

  Outline outline_ = {};
  At at_ = At::kBegin;
  bool in_string_ = false, escaped_ = false;
  std::size_t depth_ = 0;   ///< brackets that are open; 1 among the members of the message
  std::string name_ = {};   ///< of the member that is being read
  std::string token_ = {};  ///< the name or the value that is being read, as it is written
  bool overlong_ = false;   ///< `token_` is not all of it
};

Outline OutlineOf(std::string_view message);

/// What stands for a message that could not be read: a refusal that its sender can match, or, where
/// it answers a request of the server's, an answer that failed. Both ends would wait otherwise.
Message NotRead(const Outline& outline, RpcError error);

}  // namespace igloo::mcp

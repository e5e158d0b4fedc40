#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "network/http_head.h"

namespace igloo::network {

/// Follows a body of any framing to its end. Bytes are sent on as they are, so chunks are read as
/// strictly as heads: CRLF only, plain sizes, trailers that are headers.
class Body {
 public:
  explicit Body(const Framing& framing);

  /// How many of `bytes` belong to the body; afterwards ended() tells whether it is whole.
  /// What they carry, without sizes and trailers of chunks, is added to `content`.
  HttpResult<std::size_t> Take(std::string_view bytes, std::string* content = nullptr);
  bool ended() const { return state_ == State::kEnded; }
  /// How much is sure to come as plain bytes: of a known length, or of the present chunk.
  std::uint64_t plain() const;
  /// `count` of the plain bytes went by without being looked at.
  void Skip(std::uint64_t count);

 private:
  enum class State : std::uint8_t {
    kPlain,
    kUntilClose,
    kSize,
    kExtension,
    kSizeEnd,
    kChunk,
    kChunkReturn,
    kChunkEnd,
    kTrailer,
    kTrailerEnd,
    kLast,
    kEnded
  };
  HttpResult<void> Step(char c);
  HttpResult<void> StepSize(char c);
  HttpResult<void> StepTrailer(char c);

  State state_ = State::kEnded;
  std::uint64_t left_ = 0;
  unsigned digits_ = 0;
  unsigned extra_ = 0;   ///< bytes of extensions and trailers: bounded
  unsigned column_ = 0;  ///< of a trailer's line
};

}  // namespace igloo::network

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "image/unpack/stream.h"

namespace igloo::image::unpack {

/// One member of an archive, as it says of itself: nothing in it is to be believed.
struct TarEntry {
  enum class Kind {
    kFile,
    kDirectory,
    kSymlink,
    kHardLink,
    kDropped,  ///< a device, a pipe or something else that images have no use for
  };
  Kind kind = Kind::kFile;
  std::string path = {};    ///< any bytes but NUL
  std::string target = {};  ///< of links
  std::uint64_t size = 0;   ///< of a file
  std::uint32_t mode = 0;
  std::int64_t time = 0;  ///< of its last change, seconds
};

/// Reads tar as layers are written: POSIX's pax and ustar, GNU's long names, the old form. What
/// else there is (sparse files, several volumes) is refused and not guessed at.
class TarReader {
 public:
  explicit TarReader(Stream& stream) : stream_(stream) {}

  /// The next member, or nothing at the end of the archive.
  Result<std::optional<TarEntry>> Next();
  /// Bytes of the file that Next gave last; 0 at its end.
  Result<std::size_t> Read(std::span<char> into);

 private:
  using Block = std::array<char, 512>;
  /// What headers of their own say about the member behind them.
  struct Extended {
    std::optional<std::string> path = {}, target = {};
    std::optional<std::uint64_t> size = {};
    std::optional<std::int64_t> time = {};
  };

  Result<std::size_t> Fill(std::span<char> into);
  Result<bool> ReadBlock(Block& block);
  Result<std::string> ReadText(std::uint64_t size);
  Result<void> Skip(std::uint64_t size);
  Result<void> SkipMember();
  /// Whether `type` was such a header; its content is in `extended` then.
  Result<bool> TakeExtended(char type, std::uint64_t size, Extended& extended);

  Stream& stream_;
  std::uint64_t left_ = 0;     ///< of the member's content
  std::uint64_t padding_ = 0;  ///< behind it
};

/// The fields of a pax header, put into `entry`'s place by the reader. Exposed for tests.
Result<std::optional<std::int64_t>> ParseTarNumber(std::span<const char> field);

}  // namespace igloo::image::unpack

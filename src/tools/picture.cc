#include "tools/picture.h"

#include <cstdint>

namespace igloo::tools {
namespace {

using namespace std::string_view_literals;

bool IsPng(std::string_view bytes) {
  return bytes.starts_with("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"sv) &&
         bytes.ends_with("\0\0\0\0IEND\xae\x42\x60\x82"sv);
}

bool IsJpeg(std::string_view bytes) {
  return bytes.starts_with("\xff\xd8\xff"sv) && bytes.ends_with("\xff\xd9"sv);
}

bool IsGif(std::string_view bytes) {
  constexpr std::size_t kHeader = 13;  // with the screen's size
  return (bytes.starts_with("GIF87a"sv) || bytes.starts_with("GIF89a"sv)) &&
         bytes.size() > kHeader && bytes.ends_with(';');
}

/// A RIFF file says how long it is, behind its name.
bool IsWebp(std::string_view bytes) {
  if (bytes.size() < 20 || !bytes.starts_with("RIFF"sv) || bytes.substr(8, 4) != "WEBP"sv) {
    return false;
  }
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    size |= std::uint64_t{static_cast<unsigned char>(bytes[4 + i])} << (8 * i);
  }
  return size + 8 == bytes.size();
}

}  // namespace

bool IsImage(std::string_view mime_type) {
  return mime_type == "image/png" || mime_type == "image/jpeg" || mime_type == "image/gif" ||
         mime_type == "image/webp";
}

bool IsWholePicture(std::string_view mime_type, std::string_view bytes) {
  if (mime_type == "image/png") return IsPng(bytes);
  if (mime_type == "image/jpeg") return IsJpeg(bytes);
  if (mime_type == "image/gif") return IsGif(bytes);
  return mime_type == "image/webp" && IsWebp(bytes);
}

}  // namespace igloo::tools

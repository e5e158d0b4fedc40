#include "backend/microvm/archive.h"

#include <fmt/format.h>

#include <iterator>

namespace igloo::backend::microvm {

void Archive::Add(std::string_view name, std::uint32_t mode, std::string_view content,
                  unsigned major, unsigned minor) {
  // A header of hexadecimal numbers, the name with its NUL, the content; each aligned to 4.
  const std::uint32_t numbers[] = {++count_,
                                   mode,
                                   0,
                                   0,
                                   1,
                                   0,
                                   static_cast<std::uint32_t>(content.size()),
                                   0,
                                   0,
                                   major,
                                   minor,
                                   static_cast<std::uint32_t>(name.size() + 1),
                                   0};
  bytes_ += "070701";
  for (const std::uint32_t number : numbers) {
    fmt::format_to(std::back_inserter(bytes_), "{:08x}", number);
  }
  bytes_ += name;
  bytes_ += '\0';
  bytes_.resize((bytes_.size() + 3) & ~std::size_t{3});
  bytes_ += content;
  bytes_.resize((bytes_.size() + 3) & ~std::size_t{3});
}

std::string Archive::Finish() && {
  Add("TRAILER!!!", 0, {});
  return std::move(bytes_);
}

}  // namespace igloo::backend::microvm

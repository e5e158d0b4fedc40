// Unpacks images that somebody else made, and can do nothing else: see src/image/unpack.
//
//   igloo-image extract          archive on 3, empty directory for its layout on 4
//   igloo-image inspect [TAG]    layout on 3
//   igloo-image unpack [TAG]     layout on 3, empty directory on 4
//
// Answers with one JSON object on standard output.

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <span>
#include <string>
#include <string_view>

#include "base/file.h"
#include "image/unpack/answer.h"
#include "image/unpack/confine.h"
#include "image/unpack/unpack.h"

namespace igloo::image::unpack {
namespace {

constexpr int kSource = 3, kTarget = 4;

Result<std::string> Run(std::span<char*> words) {
  const std::string_view what = words.empty() ? "" : words[0];
  const std::string_view tag = words.size() > 1 ? words[1] : "";
  const Limits limits;
  if (what != "extract" && what != "inspect" && what != "unpack") {
    return Fail(Errc::kInvalidArgument, "igloo-image is started by igloo and by nobody else",
                "igloo env pull");
  }
  IGLOO_TRY(Confine(kSource, what == "inspect" ? -1 : kTarget, limits));
  if (what == "extract") {
    IGLOO_TRY(ExtractLayout(kSource, kTarget, limits));
    return ToJson(Summary{});
  }
  IGLOO_ASSIGN(const Found found, Find(kSource, tag, limits));
  if (what == "inspect") return ToJson(Summary{.digest = found.digest});
  IGLOO_ASSIGN(const Summary summary, Unpack(kSource, found, kTarget, limits));
  return ToJson(summary);
}

int Main(std::span<char*> words) {
  // SECURITY: whoever starts it passes five descriptors; a sixth would be a mistake to live with.
  if (::syscall(SYS_close_range, kTarget + 1, ~0U, 0) != 0) return 2;
  const auto answer = Run(words);
  const std::string text = answer ? *answer : ToJson(answer.error());
  return WriteAll(STDOUT_FILENO, text) && answer ? 0 : 1;
}

}  // namespace
}  // namespace igloo::image::unpack

int main(int argc, char** argv) {
  const std::span<char*> words(argv, static_cast<std::size_t>(argc));
  // Nothing is left to do behind the filter, which knows no way to look for leaks.
  ::_exit(igloo::image::unpack::Main(words.subspan(words.empty() ? 0 : 1)));
}

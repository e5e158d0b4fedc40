#include "image/unpacker.h"

#include <sys/wait.h>

#include "base/file.h"
#include "base/spawn.h"

namespace igloo::image {

Result<Record> RunUnpacker(const std::string& program, const std::vector<std::string>& words,
                           int source, int target, std::string* answer) {
  IGLOO_ASSIGN(FdPair output, MakePipe());
  SpawnOptions options{
      .program = program, .argv = {"igloo-image"}, .fds = {{output.second.get(), 1}, {source, 3}}};
  options.argv.insert(options.argv.end(), words.begin(), words.end());
  if (target >= 0) options.fds.push_back({target, 4});
  IGLOO_ASSIGN(Child child, Spawn(options));
  output.second.Reset();
  const auto text = ReadAll(output.first.get(), 4U << 20);
  if (!text) return std::unexpected(text.error());
  IGLOO_ASSIGN(const int status, child.Wait());
  if (WIFSIGNALED(status)) {
    return Fail(Errc::kFailedPrecondition,
                "igloo-image was ended by signal " + std::to_string(WTERMSIG(status)) +
                    " while it unpacked the image",
                "the image asks for too much, or the machine has too little");
  }
  IGLOO_ASSIGN(Record record, ParseRecord(*text));
  if (answer != nullptr) *answer = *text;
  return record;
}

std::string ImagesDirectory(const std::string& xdg_data_home, const std::string& home) {
  if (xdg_data_home.starts_with('/')) return xdg_data_home + "/igloo/images";
  return home.starts_with('/') ? home + "/.local/share/igloo/images" : "";
}

}  // namespace igloo::image

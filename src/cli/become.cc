#include "cli/become.h"

#include <unistd.h>

#include <vector>

#include "base/file.h"

namespace igloo::cli {

bool NeedsEditor(std::span<const std::string> words) {
  const bool prompt =
      words[0] == "repl" || (words[0] == "session" && words.size() > 1 && words[1] == "attach");
  return prompt && ::isatty(STDIN_FILENO) == 1;
}

Error BecomeEditing(std::string_view program, std::span<const std::string> words) {
  const auto self = ReadLink("/proc/self/exe");
  if (!self) return self.error();
  const std::string path = self->substr(0, self->rfind('/')) + "/igloo-repl";
  std::vector<std::string> kept = {std::string(program)};
  kept.insert(kept.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& word : kept) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(path.c_str(), argv.data());
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot start '" + path + "'",
                 "install igloo completely ('make install')")
      .error();
}

}  // namespace igloo::cli

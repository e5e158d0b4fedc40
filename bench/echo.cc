// igloo-bench-echo BYTES: answers every line with a line of that many bytes, and does nothing else.
// What no server of lines can be faster than.

#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace {

/// False when nobody reads.
bool WriteWhole(const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t count = ::write(STDOUT_FILENO, bytes, size);
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto size = static_cast<std::size_t>(std::strtoul(argv[1], nullptr, 10));
  if (size == 0) return 2;
  auto* answer = static_cast<char*>(std::malloc(size));
  if (answer == nullptr) return 1;
  std::memset(answer, 'x', size);
  answer[size - 1] = '\n';
  static char request[64U << 10];
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, request, sizeof request);
    if (count <= 0) break;
    // A line may come in parts.
    const void* end = std::memchr(request, '\n', static_cast<std::size_t>(count));
    if (end != nullptr && !WriteWhole(answer, size)) break;
  }
  std::free(answer);
  return 0;
}

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

#include "proxy/serve.h"

namespace {

constexpr int kWrongUse = 2;

/// igloo-proxy CONTROL-DESCRIPTOR [--resolver=ADDRESS[:PORT],...] [--roots=FILE]: igloo starts it.
int Main(int argc, char** argv) {
  igloo::proxy::Options options;
  int control = -1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    const std::string_view value = word.substr(std::min(word.find('=') + 1, word.size()));
    if (word.starts_with("--resolver=")) {
      options.servers = value;
    } else if (word.starts_with("--roots=")) {
      options.roots_file = value;
    } else if (std::from_chars(word.data(), word.data() + word.size(), control).ptr !=
               word.data() + word.size()) {
      control = -1;
      break;
    }
  }
  if (control < 0) {
    std::fputs("igloo-proxy is started by igloo: igloo run --help\n", stderr);
    return kWrongUse;
  }
  options.control.Reset(control);
  const auto served = igloo::proxy::Serve(std::move(options));
  if (served) return 0;
  std::fprintf(stderr, "igloo-proxy: %s\n", served.error().what.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  // Nothing is buffered and nothing static needs an end.
  ::_exit(Main(argc, argv));
}

#include <sys/prctl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "cli/commands.h"

int main(int argc, char** argv) {
  // As it was typed, for whoever looks for it in a list of processes.
  ::prctl(PR_SET_NAME, "igloo");
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  // Nothing is buffered and nothing static needs an end: the kernel is faster at cleaning up.
  ::_exit(igloo::cli::Main(argc > 0 ? argv[0] : "igloo", words));
}

#include <sys/prctl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "cli/commands.h"
#include "editor/line_editor.h"

// igloo-core with a line editor, which runs are not to pay for.
int main(int argc, char** argv) {
  ::prctl(PR_SET_NAME, "igloo");
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  ::_exit(igloo::cli::Main(argc > 0 ? argv[0] : "igloo", words, igloo::editor::EditedLines()));
}

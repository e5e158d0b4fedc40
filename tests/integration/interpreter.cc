// An interpreter of a language with three words, for environments that have nothing of the host's:
// 'list DIR' prints the names in a directory, 'say TEXT' prints text, 'variable NAME' prints one.
// Static, so that a made-up store needs no other file.

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void List(const char* path) {
  DIR* directory = opendir(path);
  if (directory == nullptr) {
    printf("no %s\n", path);
    return;
  }
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] != '.')
      printf("%s/%s\n", strcmp(path, "/") == 0 ? "" : path, entry->d_name);
  }
  closedir(directory);
}

int main(int argc, char** argv) {
  FILE* code = argc > 1 ? fopen(argv[1], "r") : nullptr;
  if (code == nullptr) return 3;
  static char line[4096];
  while (fgets(line, sizeof line, code) != nullptr) {
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "list ", 5) == 0) List(line + 5);
    if (strncmp(line, "say ", 4) == 0) printf("%s\n", line + 4);
    if (strncmp(line, "variable ", 9) == 0) {
      const char* value = getenv(line + 9);
      printf("%s\n", value == nullptr ? "(none)" : value);
    }
  }
  return 0;
}

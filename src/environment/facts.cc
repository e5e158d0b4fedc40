#include "environment/facts.h"

#include <sys/stat.h>

namespace igloo::environment {

sandbox::HostFacts GatherFacts(const std::vector<std::string>& paths) {
  sandbox::HostFacts facts;
  for (const std::string& path : paths) {
    struct stat info{};
    if (::stat(path.c_str(), &info) == 0) {
      facts[path] = sandbox::PathFact{.device = info.st_dev,
                                      .inode = info.st_ino,
                                      .type = info.st_mode & S_IFMT,
                                      .uid = info.st_uid,
                                      .gid = info.st_gid};
    } else {
      facts[path] = std::nullopt;
    }
  }
  return facts;
}

}  // namespace igloo::environment

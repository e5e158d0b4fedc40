#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::testing {

/// A program in igloo-copy's place that says what a test wants: igloo-copy reads hostile memory, so
/// it may be hostile some day. `body` is Python; `igloo` is its socket, `order` what igloo wants of
/// it, and `say(word, file)` answers.
class FalseCopier {
 public:
  explicit FalseCopier(const std::string& body) {
    std::ofstream(program()) << kHead << body;
    namespace fs = std::filesystem;
    fs::permissions(directory_.path(), fs::perms(0755));
    fs::permissions(program(), fs::perms(0755));
  }
  std::string program() const { return directory_.path() + "/igloo-copy"; }

 private:
  static constexpr const char* kHead = R"py(#!/usr/bin/python3
import collections, fcntl, os, socket, struct
igloo = socket.socket(fileno=3)
Order = collections.namedtuple("Order", "kind original copy restored_as descriptor unused memory")
order = Order._make(struct.unpack("<IiiiiIQ", socket.recv_fds(igloo, 4096, 4)[0]))
def say(word, *files): socket.send_fds(igloo, [word], files)
)py";

  TempDir directory_ = TempDir::Make(TempParent()).value();
};

}  // namespace igloo::testing

#include "environment/basics.h"

namespace igloo::environment {
namespace {

constexpr std::string_view kPasswd =
    "root:x:0:0:root:/root:/usr/sbin/nologin\n"
    "user:x:1000:1000:user:/workspace:/bin/sh\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
constexpr std::string_view kGroup = "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n";
constexpr std::string_view kHosts = "127.0.0.1 localhost igloo\n::1 localhost\n";
constexpr std::string_view kNsswitch = "passwd: files\ngroup: files\nhosts: files dns\n";

void AddFile(std::vector<sandbox::Entry>& contents, std::string_view path,
             std::string_view content) {
  contents.emplace_back(
      sandbox::TextFile{.path = std::string(path), .content = std::string(content)});
}

}  // namespace

void AddTree(std::vector<sandbox::Entry>& contents, std::string_view source,
             sandbox::Presence presence, std::string_view target) {
  contents.emplace_back(sandbox::HostTree{.source = std::string(source),
                                          .target = std::string(target.empty() ? source : target),
                                          .presence = presence});
}

void AddBasics(std::vector<sandbox::Entry>& contents) {
  AddFile(contents, "/etc/passwd", kPasswd);
  AddFile(contents, "/etc/group", kGroup);
  AddFile(contents, "/etc/hosts", kHosts);
  AddFile(contents, "/etc/nsswitch.conf", kNsswitch);
  AddFile(contents, "/etc/resolv.conf", "");
  for (const char* name : {"null", "zero", "full", "random", "urandom"}) {
    contents.emplace_back(sandbox::DeviceNode{name});
  }
  contents.emplace_back(sandbox::Link{"/dev/fd", "/proc/self/fd"});
  contents.emplace_back(sandbox::Link{"/dev/stdin", "/proc/self/fd/0"});
  contents.emplace_back(sandbox::Link{"/dev/stdout", "/proc/self/fd/1"});
  contents.emplace_back(sandbox::Link{"/dev/stderr", "/proc/self/fd/2"});
}

}  // namespace igloo::environment

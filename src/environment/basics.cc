#include "environment/basics.h"

#include <fmt/format.h>

namespace igloo::environment {
namespace {

std::string Passwd(std::string_view name, std::string_view home) {
  return fmt::format(
      "root:x:0:0:root:/root:/usr/sbin/nologin\n"
      "{0}:x:1000:1000:{0}:{1}:/bin/sh\n"
      "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
      name, home);
}
std::string Group(std::string_view name) {
  return fmt::format("root:x:0:\n{}:x:1000:\nnogroup:x:65534:\n", name);
}
constexpr std::string_view kHosts = "127.0.0.1 localhost igloo\n::1 localhost\n";
constexpr std::string_view kNsswitch = "passwd: files\ngroup: files\nhosts: files dns\n";

void AddFile(std::vector<sandbox::Entry>& contents, std::string_view path,
             std::string_view content) {
  contents.emplace_back(
      sandbox::TextFile{.path = std::string(path), .content = std::string(content)});
}

}  // namespace

void AddTree(std::vector<sandbox::Entry>& contents, std::string_view source,
             sandbox::Presence presence, std::string_view target, std::string_view within) {
  contents.emplace_back(sandbox::HostTree{.source = std::string(source),
                                          .target = std::string(target.empty() ? source : target),
                                          .presence = presence,
                                          .within = std::string(within)});
}

void AddBasics(std::vector<sandbox::Entry>& contents) {
  AddFile(contents, "/etc/passwd", Passwd("user", "/workspace"));
  AddFile(contents, "/etc/group", Group("user"));
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

void NameUser(std::vector<sandbox::Entry>& contents, std::string_view name, std::string_view home) {
  for (sandbox::Entry& entry : contents) {
    auto* file = std::get_if<sandbox::TextFile>(&entry);
    if (file == nullptr) continue;
    if (file->path == "/etc/passwd") file->content = Passwd(name, home);
    if (file->path == "/etc/group") file->content = Group(name);
  }
}

}  // namespace igloo::environment

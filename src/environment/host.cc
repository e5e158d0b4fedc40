#include "environment/host.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>

#include "base/text.h"

namespace igloo::environment {
namespace {

using sandbox::HostTree;
using sandbox::Presence;

constexpr std::array<std::string_view, 0> kNoOptions = {};

constexpr std::array<HostEnvironment, 3> kEnvironments = {{
    {"shell", "Bash and the usual command line tools", "/usr/bin/bash", "bash", "main.sh",
     kNoOptions},
    {"python", "Python 3 with what the host has installed", "/usr/bin/python3", "python3",
     "main.py", kNoOptions},
    {"node", "Node.js with what the host has installed", "/usr/bin/node", "nodejs", "main.js",
     kNoOptions},
}};

constexpr std::string_view kPasswd =
    "root:x:0:0:root:/root:/usr/sbin/nologin\n"
    "user:x:1000:1000:user:/workspace:/bin/sh\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
constexpr std::string_view kGroup = "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n";
constexpr std::string_view kHosts = "127.0.0.1 localhost igloo\n::1 localhost\n";
constexpr std::string_view kNsswitch = "passwd: files\ngroup: files\nhosts: files dns\n";

/// What of the host's /etc programs need to start at all; nothing in it is a secret.
constexpr std::array<std::string_view, 3> kEtc = {"/etc/ld.so.cache", "/etc/alternatives",
                                                  "/etc/ssl/certs"};

void AddTree(std::vector<sandbox::Entry>& contents, std::string_view path, Presence presence) {
  contents.emplace_back(
      HostTree{.source = std::string(path), .target = std::string(path), .presence = presence});
}

void AddFile(std::vector<sandbox::Entry>& contents, std::string_view path,
             std::string_view content) {
  contents.emplace_back(
      sandbox::TextFile{.path = std::string(path), .content = std::string(content)});
}

std::vector<sandbox::Entry> Contents(const HostLayout& layout) {
  std::vector<sandbox::Entry> contents;
  AddTree(contents, "/usr", Presence::kRequired);
  for (const HostLayout::Top& top : layout.tops) {
    if (top.link_to.empty()) {
      AddTree(contents, top.path, Presence::kOptional);
    } else {
      contents.emplace_back(sandbox::Link{.path = top.path, .points_to = top.link_to});
    }
  }
  for (const std::string_view path : kEtc) AddTree(contents, path, Presence::kOptional);
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
  return contents;
}

}  // namespace

std::span<const HostEnvironment> HostEnvironments() { return kEnvironments; }

HostLayout ReadHostLayout() {
  HostLayout layout;
  for (const char* path : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    std::array<char, PATH_MAX> target;
    const ssize_t size = ::readlink(path, target.data(), target.size());
    if (size > 0) {
      layout.tops.push_back({path, std::string(target.data(), static_cast<std::size_t>(size))});
    } else if (struct stat info{}; ::lstat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
      layout.tops.push_back({path, ""});
    }
  }
  return layout;
}

Result<Environment> MakeHostEnvironment(std::string_view name, const HostLayout& layout) {
  const auto found = std::ranges::find(kEnvironments, name, &HostEnvironment::name);
  if (found == kEnvironments.end()) {
    std::array<std::string_view, kEnvironments.size()> names;
    std::ranges::transform(kEnvironments, names.begin(), &HostEnvironment::name);
    const std::string nearest = Nearest(name, names.data(), names.size());
    std::string known;
    for (const std::string_view each : names)
      known += (known.empty() ? "" : ", ") + std::string(each);
    return Fail(Errc::kNotFound, "there is no environment '" + Printable(name) + "'",
                nearest.empty() ? "choose one of: " + known : "did you mean '" + nearest + "'?");
  }
  if (::access(std::string(found->program).c_str(), X_OK) != 0) {
    return Fail(Errc::kFailedPrecondition,
                "environment '" + std::string(name) + "' needs " + std::string(found->program) +
                    ", which is not installed",
                "install it: sudo apt install " + std::string(found->package));
  }
  Environment environment{
      .name = std::string(found->name),
      .description = std::string(found->description),
      .contents = Contents(layout),
      .variables = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LANG", "C.UTF-8"}},
      .interpreter = {std::string(found->program)},
      .code_file = std::string(found->code_file)};
  // The code's file is not in the working directory, but imports from there are expected to work.
  if (found->name == "python") environment.variables["PYTHONPATH"] = "/workspace";
  for (const std::string_view option : found->options) {
    environment.interpreter.emplace_back(option);
  }
  return environment;
}

}  // namespace igloo::environment

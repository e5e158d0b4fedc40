#include "config/sandbox_mcp_builtin.h"

#include <algorithm>
#include <array>

namespace igloo::config {
namespace {

using Resources = SandboxSpec::Resources;

constexpr Resources kSmall = {.cpu = 1, .memory_mb = 64, .processes = 64, .files = 96};

struct Least {
  std::string_view environment;
  Resources resources;
};

// Measured with Debian 12's JDK 17, Rust 1.63 and Go 1.19 in sandboxes of root (where a cgroup
// counts all of a run's memory) and of a user (where each process is limited alone): at 64 MB Java
// and Rust end before they have compiled anything. Java reserves 192 MB with a heap of 128 MB, and
// 512 MB with the heap that it chooses itself. pandas and scikit-learn take 134 MB before they have
// seen any data.
constexpr std::array<Least, 4> kLeast = {{
    {"go", {.memory_mb = 512, .processes = 256, .files = 256}},
    {"rust", {.memory_mb = 512, .processes = 64, .files = 128}},
    {"java", {.memory_mb = 512, .processes = 128, .files = 128}},
    {"python-data", {.memory_mb = 512, .processes = 64, .files = 256}},
}};

/// What most of them have in common.
SandboxSpec Make(std::string id, std::string name, std::string entrypoint,
                 std::vector<std::string> command) {
  SandboxSpec spec{.id = std::move(id),
                   .name = std::move(name),
                   .hints = {.destructive = false, .idempotent = true},
                   .version = "0.1.0",
                   .entrypoint = std::move(entrypoint),
                   .command = std::move(command),
                   .additional_files = true,
                   .resources = kSmall};
  spec.image = "sandbox-mcp/" + spec.id + ":latest";
  if (const Resources least = LeastResources(spec.id); least.memory_mb) {
    spec.resources = least;
    spec.resources.cpu = 1;
  }
  return spec;
}

SandboxSpec Shell() {
  SandboxSpec spec = Make("shell", "Linux Shell", "main.sh", {"sh", "main.sh"});
  spec.description = "Run a shell script with the usual command line tools of Linux";
  spec.security.read_only = spec.mount.read_only = true;
  return spec;
}

SandboxSpec Go() {
  SandboxSpec spec = Make("go", "Golang", "main.go", {"go", "run", "main.go"});
  spec.description = "Compile and run a Go program that uses the standard library";
  spec.files = {{"go.mod", "The module's file, for example `module sandbox`"}};
  spec.mount.workdir = "/sandbox/src";
  return spec;
}

SandboxSpec Python() {
  SandboxSpec spec = Make("python", "Python", "main.py", {"python", "main.py"});
  spec.description = "Run a Python program";
  spec.resources.memory_mb = 128;
  return spec;
}

SandboxSpec JavaScript() {
  SandboxSpec spec = Make("javascript", "JavaScript", "index.js", {"node", "index.js"});
  spec.description = "Run a JavaScript program with Node.js";
  spec.mount.workdir = "/sandbox/src";
  return spec;
}

SandboxSpec Rust() {
  SandboxSpec spec =
      Make("rust", "Rust", "main.rs", {"sh", "-c", "rustc -o main main.rs && ./main"});
  spec.description = "Compile and run a Rust program that uses the standard library";
  return spec;
}

SandboxSpec Java() {
  SandboxSpec spec = Make("java", "Java", "main.java", {"java", "--enable-preview", "main.java"});
  spec.description = "Compile and run a Java program in one file";
  return spec;
}

SandboxSpec NetworkTools() {
  SandboxSpec spec = Make("network-tools", "Network Tools", "main.sh", {"sh", "main.sh"});
  spec.description = "Look at networks from a shell script with curl, dig, ping and their like";
  spec.hints = {.destructive = true, .idempotent = false};
  spec.security.read_only = spec.mount.read_only = true;
  spec.security.network = "bridge";
  return spec;
}

SandboxSpec Apisix() {
  SandboxSpec spec = Make("apisix", "Apache APISIX", "main.sh",
                          {"sh", "-c",
                           "sleep 2; mv -f apisix.yaml /usr/local/apisix/conf/apisix.yaml && sleep "
                           "2 && exec sh main.sh"});
  spec.description =
      "Start the gateway Apache APISIX with the routes of a YAML file and try it from a shell "
      "script: it listens at http://127.0.0.1:9080";
  spec.before = {"docker-start"};
  spec.files = {{"apisix.yaml", "The routes; the last line is `#END`"}};
  spec.security.network = "bridge";
  spec.resources = {.cpu = 1, .memory_mb = 256, .processes = 256, .files = 256};
  return spec;
}

}  // namespace

std::span<const SandboxSpec> BuiltinSandboxes() {
  static const std::array<SandboxSpec, 8> kAll = {Shell(), Go(),   Python(),       JavaScript(),
                                                  Rust(),  Java(), NetworkTools(), Apisix()};
  return kAll;
}

Resources LeastResources(std::string_view environment) {
  const auto row = std::ranges::find(kLeast, environment, &Least::environment);
  return row == kLeast.end() ? Resources{} : row->resources;
}

}  // namespace igloo::config

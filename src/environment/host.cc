#include "environment/host.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>

#include "base/text.h"
#include "environment/basics.h"
#include "environment/host/go.h"
#include "environment/host/java.h"
#include "environment/host/network_tools.h"
#include "environment/host/node.h"
#include "environment/host/perl.h"
#include "environment/host/python.h"
#include "environment/host/ruby.h"
#include "environment/host/rust.h"
#include "environment/host/shell.h"
#include "environment/registry.h"
#include "language/language.h"

namespace igloo::environment {
namespace {

using sandbox::Presence;

constexpr std::array<HostEnvironment, 9> kEnvironments = {
    host::kShell, host::kPython, host::kNode, host::kGo,          host::kRust,
    host::kJava,  host::kRuby,   host::kPerl, host::kNetworkTools};

constexpr std::string_view kBash = "/usr/bin/bash";

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
  AddEtc(layout.etc_directory, layout.etc, contents);
  AddBasics(contents);
  return contents;
}

void ReadTops(HostLayout& layout) {
  for (const char* path : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    std::array<char, PATH_MAX> target;
    const ssize_t size = ::readlink(path, target.data(), target.size());
    if (size > 0) {
      layout.tops.push_back({path, std::string(target.data(), static_cast<std::size_t>(size))});
    } else if (struct stat info{}; ::lstat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
      layout.tops.push_back({path, ""});
    }
  }
}

void ReadProgram(std::string_view path, HostLayout& layout) {
  std::string program(path);
  if (::access(program.c_str(), X_OK) == 0) layout.programs.insert(std::move(program));
}

void ReadFor(const HostEnvironment& row, HostLayout& layout) {
  for (const HostProgram& program : row.needs) ReadProgram(program.path, layout);
  for (const HostProgram& program : row.extras) ReadProgram(program.path, layout);
}

Result<void> CheckPrograms(const HostEnvironment& row, const HostLayout& layout) {
  std::string missing, packages;
  for (const HostProgram& program : row.needs) {
    if (layout.programs.contains(std::string(program.path))) continue;
    missing += (missing.empty() ? "" : " and ") + std::string(program.path);
    const std::string package = " " + std::string(program.package);
    if (!(packages + " ").contains(package + " ")) packages += package;
  }
  if (missing.empty()) return {};
  return Fail(
      Errc::kFailedPrecondition,
      "environment '" + std::string(row.name) + "' needs " + missing +
          (missing.contains(" and ") ? ", which are not installed" : ", which is not installed"),
      "install it: sudo apt install" + packages);
}

/// What it runs, and whether igloo can keep that alive.
void NameLanguage(const HostEnvironment& row, Environment& environment) {
  const language::Language* found = language::Find(row.language);
  if (found == nullptr) return;
  environment.code_file = found->code_file;
  if (found->driver) environment.language = found->name;
}

sandbox::Limits LimitsOf(const HostEnvironment& row) {
  sandbox::Limits limits;
  limits.time_ms = row.seconds * 1000;
  limits.memory_bytes = row.memory_mb << 20;
  limits.processes = row.processes;
  return limits;
}

}  // namespace

std::span<const HostEnvironment> HostEnvironments() { return kEnvironments; }

const HostEnvironment* FindHostEnvironment(std::string_view name) {
  const auto found = std::ranges::find_if(kEnvironments, [&](const HostEnvironment& row) {
    return row.name == name || std::ranges::find(row.aliases, name) != row.aliases.end();
  });
  return found == kEnvironments.end() ? nullptr : &*found;
}

HostLayout ReadHostLayout() {
  HostLayout layout;
  ReadTops(layout);
  layout.etc = ReadEtc(layout.etc_directory);
  ReadProgram(kBash, layout);
  for (const HostEnvironment& row : kEnvironments) ReadFor(row, layout);
  return layout;
}

HostLayout ReadHostLayoutFor(std::string_view name) {
  HostLayout layout;
  const HostEnvironment* row = FindHostEnvironment(name);
  if (row == nullptr) return layout;
  ReadTops(layout);
  layout.etc = ReadEtc(layout.etc_directory);
  ReadProgram(kBash, layout);
  ReadFor(*row, layout);
  return layout;
}

Result<Environment> MakeHostEnvironment(const HostEnvironment& row, const HostLayout& layout) {
  IGLOO_TRY(CheckPrograms(row, layout));
  Environment environment{
      .name = std::string(row.name),
      .aliases = {row.aliases.begin(), row.aliases.end()},
      .description = std::string(row.description),
      .provider = "host",
      .contents = Contents(layout),
      .variables = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LANG", "C.UTF-8"}},
      .interpreter = {row.start.begin(), row.start.end()},
      .shell = {layout.programs.contains(std::string(kBash)) ? std::string(kBash) : "/bin/sh"},
      .limits = LimitsOf(row)};
  NameLanguage(row, environment);
  for (const HostVariable& variable : row.variables) {
    environment.variables[std::string(variable.name)] = variable.value;
  }
  for (const HostProgram& program : row.extras) {
    if (layout.programs.contains(std::string(program.path))) continue;
    environment.notes.push_back(std::string(program.path) + " is not installed: sudo apt install " +
                                std::string(program.package));
  }
  return environment;
}

Result<Environment> MakeHostEnvironment(std::string_view name, const HostLayout& layout) {
  return Registry(layout, {}).Find(name);
}

}  // namespace igloo::environment

#include "agent/program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "base/text.h"
#include "base/unique_fd.h"
#include "sandbox/path.h"

namespace igloo::agent {
namespace {

/// A script that runs by a script that runs by a script: nobody does that.
constexpr int kMostInterpreters = 4;

std::string Parent(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string> Split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    if (end != 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// The words behind "#!".
std::vector<std::string> ScriptWords(const std::string& head) {
  if (!head.starts_with("#!")) return {};
  std::string line = head.substr(2, head.find('\n') - 2);
  std::ranges::replace(line, '\t', ' ');
  return Split(line, ' ');
}

class Resolver {
 public:
  Resolver(const ProgramSearch& search, const HostFiles& host) : search_(search), host_(host) {}

  /// The name as PATH has it; empty: there is none.
  std::string Find(const std::string& name) const {
    if (name.contains('/')) return host_.is_executable(name) ? name : std::string();
    for (const std::string& directory : Split(search_.path, ':')) {
      // SECURITY: "." and the like would start what lies in whatever project the user is in.
      if (!directory.starts_with('/')) continue;
      const std::string path = directory + "/" + name;
      if (host_.is_executable(path) && !host_.is_directory(path)) return path;
    }
    return {};
  }

  /// Takes a program and all that it needs into `found_`.
  Result<std::string> Take(const std::string& named, std::string_view what) {
    const std::string real = host_.real_path(named);
    if (real.empty()) return Fail(Errc::kNotFound, "'" + named + "' leads nowhere");
    if (!IsShown(real)) {
      IGLOO_ASSIGN(ProgramTree tree, TreeOf(real, what));
      AddTree(std::move(tree));
    }
    AddName(named, real);
    IGLOO_TRY(TakeInterpreter(real));
    return real;
  }

  ResolvedProgram Finish(std::string path) {
    found_.path = std::move(path);
    return std::move(found_);
  }

 private:
  bool IsShown(const std::string& real) const {
    const auto holds = [&](const std::string& tree) { return sandbox::IsWithin(real, tree); };
    return std::ranges::any_of(search_.shown, holds) ||
           std::ranges::any_of(found_.trees, holds, &ProgramTree::path);
  }

  /// Never the home directory, what holds it, or the root of anything.
  bool IsTooLarge(const std::string& tree) const {
    return tree == "/" || sandbox::IsWithin(search_.home, tree) || Parent(tree) == "/";
  }

  /// The smallest directory that is known to be all of what `real` belongs to.
  Result<ProgramTree> TreeOf(const std::string& real, std::string_view what) const {
    const std::string name = std::string(what);
    std::string package;
    for (std::string at = Parent(real); at != "/"; at = Parent(at)) {
      if (IsTooLarge(at)) break;
      const bool python = !host_.head(at + "/pyvenv.cfg").empty();
      if (python) return ProgramTree{at, "the Python environment of " + name};
      const bool node =
          host_.is_executable(at + "/bin/node") && host_.is_directory(at + "/lib/node_modules");
      if (node) return ProgramTree{at, "the Node installation of " + name};
      // Of "…/node_modules/@scope/name/…" the outermost: packages lie in packages.
      if (NameOf(at) == "node_modules") package = at;
      if (Parent(at) == search_.home + "/.local/share") {
        return ProgramTree{at, "the installation of " + name};
      }
    }
    if (!package.empty()) return ProgramTree{package, "the npm packages of " + name};
    return ProgramTree{real, name + " itself"};
  }

  void AddTree(ProgramTree tree) {
    std::erase_if(found_.trees,
                  [&](const ProgramTree& each) { return sandbox::IsWithin(each.path, tree.path); });
    found_.trees.push_back(std::move(tree));
  }

  /// A name on PATH stays one inside.
  void AddName(const std::string& named, const std::string& real) {
    const std::string directory = host_.real_path(Parent(named));
    if (directory.empty()) return;
    auto& directories = found_.path_directories;
    const bool shown_here = std::ranges::any_of(
        search_.shown, [&](const auto& tree) { return sandbox::IsWithin(directory, tree); });
    if (!shown_here && std::ranges::find(directories, directory) == directories.end()) {
      directories.push_back(directory);
    }
    const std::string path = directory + "/" + NameOf(named);
    if (IsShown(path) || path == real) return;
    found_.links.push_back({path, real});
  }

  Result<void> TakeInterpreter(const std::string& real) {
    const std::vector<std::string> words = ScriptWords(host_.head(real));
    if (words.empty() || ++interpreters_ > kMostInterpreters) return {};
    std::string interpreter = words[0];
    if (NameOf(interpreter) == "env") {
      // "env -S node --flag" and "env node"
      const auto name = std::find_if(words.begin() + 1, words.end(), [](const std::string& word) {
        return !word.starts_with('-') && !word.contains('=');
      });
      if (name == words.end()) return {};
      interpreter = Find(*name);
      if (interpreter.empty()) {
        return Fail(Errc::kNotFound, "'" + real + "' needs '" + *name + "', which is not on PATH",
                    "install it, or add its directory to PATH");
      }
    }
    IGLOO_TRY(Take(interpreter, NameOf(interpreter)));
    return {};
  }

  const ProgramSearch& search_;
  const HostFiles& host_;
  ResolvedProgram found_ = {};
  int interpreters_ = 0;
};

std::string ReadHead(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  std::array<char, 256> head{};
  const ssize_t count = file ? ::read(file.get(), head.data(), head.size()) : 0;
  return count > 0 ? std::string(head.data(), static_cast<std::size_t>(count)) : std::string();
}

}  // namespace

HostFiles TheHost() {
  return {
      .real_path =
          [](const std::string& path) {
            const std::unique_ptr<char, decltype(&std::free)> real(
                ::realpath(path.c_str(), nullptr), &std::free);
            return real ? std::string(real.get()) : std::string();
          },
      .is_directory =
          [](const std::string& path) {
            struct stat info{};
            return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
          },
      .is_executable = [](const std::string& path) { return ::access(path.c_str(), X_OK) == 0; },
      .head = ReadHead};
}

Result<ResolvedProgram> ResolveProgram(std::string_view name, const ProgramSearch& search,
                                       std::string_view install, const HostFiles& host) {
  Resolver resolver(search, host);
  const std::string found = resolver.Find(std::string(name));
  if (found.empty()) {
    return Fail(Errc::kNoProgram, "'" + Printable(name) + "' is not on PATH",
                install.empty() ? "install it, or write the path of the program"
                                : "install it: " + std::string(install));
  }
  IGLOO_ASSIGN(std::string real, resolver.Take(found, NameOf(found)));
  return resolver.Finish(std::move(real));
}

void AddNeeds(const ResolvedProgram& more, ResolvedProgram& program) {
  const auto add = [](const auto& from, auto& to) {
    for (const auto& each : from) {
      if (std::ranges::find(to, each) == to.end()) to.push_back(each);
    }
  };
  add(more.trees, program.trees);
  add(more.links, program.links);
  add(more.path_directories, program.path_directories);
}

}  // namespace igloo::agent

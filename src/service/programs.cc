#include "service/programs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "environment/artifact.h"
#include "service/places.h"

namespace igloo::service {

Result<std::string> FindProgram(std::string_view name) {
  IGLOO_ASSIGN(const std::string self, ReadLink("/proc/self/exe"));
  const std::string directory = self.substr(0, self.rfind('/'));
  for (const std::string& place : {directory, directory + "/../libexec/igloo"}) {
    std::string path = place + "/" + std::string(name);
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return Fail(Errc::kNotFound,
              std::string(name) + " is not beside '" + self + "' nor in ../libexec/igloo",
              "install igloo completely ('make install'), or run it from build/release/bin");
}

namespace {

/// Where processes of this user agree on who has which subordinate ids.
Result<std::string> LeasesPlace() {
  const char* wish = std::getenv("IGLOO_SUBORDINATE_IDS");
  if (wish != nullptr && std::string_view(wish) == "off") {
    return Fail(Errc::kFailedPrecondition, "IGLOO_SUBORDINATE_IDS is 'off'",
                "unset IGLOO_SUBORDINATE_IDS");
  }
  // The same for all of them, wherever they were started from.
  auto state = StatePlace();
  if (state) return *state + "/ids";
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/') return std::string(runtime) + "/igloo/ids";
  return state;
}

}  // namespace

Result<backend::Programs> FindPrograms() {
  IGLOO_ASSIGN(std::string jail, FindProgram("igloo-jail"));
  const std::string directory = jail.substr(0, jail.rfind('/'));
  return backend::Programs{.jail = jail,
                           .init = directory + "/igloo-init",
                           .proxy = directory + "/igloo-proxy",
                           .copier = directory + "/igloo-copy",
                           .machine = directory + "/igloo-machine",
                           .leases = LeasesPlace()};
}

session::Proxy::Options ProxyFor(const backend::Programs& programs, std::string resolver) {
  // As everything that speaks TLS has it: a file of certificates instead of the machine's.
  const char* roots = std::getenv("SSL_CERT_FILE");
  return {.program = programs.proxy,
          .resolver = std::move(resolver),
          .roots = roots != nullptr ? roots : ""};
}

Result<std::string> FindIgloo() {
  IGLOO_ASSIGN(const std::string self, ReadLink("/proc/self/exe"));
  const std::string directory = self.substr(0, self.rfind('/'));
  for (const std::string& place : {directory + "/igloo", directory + "/../../bin/igloo"}) {
    std::string path = std::filesystem::path(place).lexically_normal().string();
    std::error_code ignored;
    const bool file = std::filesystem::is_regular_file(path, ignored);
    if (file && ::access(path.c_str(), X_OK) == 0) return path;
  }
  return Fail(Errc::kNotFound, "there is no igloo beside '" + self + "' nor in ../../bin",
              "install igloo completely ('make install')");
}

namespace {

/// Whether two paths lead to one file.
bool IsSameFile(const std::string& one, const std::string& other) {
  struct stat first{}, second{};
  return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/// Names that igloo may have: as it was called, in PATH, and in the profiles of Nix.
std::vector<std::string> NamesOfIgloo() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  const std::string called = program_invocation_name;
  const std::string home = variable("HOME"), user = variable("USER");
  std::vector<std::string> names;
  if (called.contains('/')) {
    std::error_code ignored;
    names.push_back(std::filesystem::absolute(called, ignored).lexically_normal().string());
  }
  std::string path = variable("PATH");
  while (!path.empty()) {
    const std::string directory = path.substr(0, path.find(':'));
    path.erase(0, directory.size() + 1);
    if (directory.starts_with('/')) names.push_back(directory + "/igloo");
  }
  if (home.starts_with('/')) {
    names.push_back(home + "/.nix-profile/bin/igloo");
    names.push_back(home + "/.local/state/nix/profile/bin/igloo");
  }
  if (!user.empty() && !user.contains('/')) {
    names.push_back("/etc/profiles/per-user/" + user + "/bin/igloo");
  }
  names.emplace_back("/run/current-system/sw/bin/igloo");
  names.emplace_back("/nix/var/nix/profiles/default/bin/igloo");
  return names;
}

}  // namespace

Result<std::string> FindCalledIgloo() {
  IGLOO_ASSIGN(std::string self, FindIgloo());
  for (const std::string& name : NamesOfIgloo()) {
    if (!environment::FindStorePlace(name) && IsSameFile(name, self)) return name;
  }
  if (!environment::FindStorePlace(self)) return self;
  return Fail(
      Errc::kFailedPrecondition,
      "igloo was started from the Nix store: '" + self +
          "' is gone after the next garbage collection",
      "install it ('nix profile install FLAKE', or in your system's configuration) and call "
      "that one");
}

std::string InstalledFile(std::string_view name) {
  const auto self = ReadLink("/proc/self/exe");
  if (!self) return "";
  const std::string directory = self->substr(0, self->rfind('/'));
  for (const std::string_view below : {"/libexec/igloo", "/bin"}) {
    if (!directory.ends_with(below)) continue;
    std::string path =
        directory.substr(0, directory.size() - below.size()) + "/share/igloo/" + std::string(name);
    return ::access(path.c_str(), F_OK) == 0 ? path : "";
  }
  return "";
}

std::vector<std::string> OwnVariables() {
  std::vector<std::string> all;
  for (char** each = ::environ; *each != nullptr; ++each) all.emplace_back(*each);
  return all;
}

}  // namespace igloo::service

#include "cli/programs.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "cli/settings.h"

namespace igloo::cli {

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

Result<backend::jail::Programs> FindPrograms() {
  IGLOO_ASSIGN(std::string jail, FindProgram("igloo-jail"));
  const std::string directory = jail.substr(0, jail.rfind('/'));
  return backend::jail::Programs{.jail = jail,
                                 .init = directory + "/igloo-init",
                                 .proxy = directory + "/igloo-proxy",
                                 .copier = directory + "/igloo-copy",
                                 .leases = LeasesPlace()};
}

session::Proxy::Options ProxyFor(const backend::jail::Programs& programs, std::string resolver) {
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

}  // namespace igloo::cli

#include "nix/settings.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace igloo::nix {
namespace {

/// Where the installers of Nix put it, for those whose PATH does not say.
constexpr std::string_view kPlaces[] = {"/nix/var/nix/profiles/default/bin",
                                        "/run/current-system/sw/bin", "/usr/local/bin", "/usr/bin"};

constexpr const char* kPassed[] = {"HOME",
                                   "USER",
                                   "LOGNAME",
                                   "XDG_CACHE_HOME",
                                   "XDG_CONFIG_HOME",
                                   "XDG_DATA_HOME",
                                   "XDG_STATE_HOME",
                                   "TMPDIR",
                                   "NIX_CONF_DIR",
                                   "NIX_USER_CONF_FILES",
                                   "NIX_REMOTE",
                                   "NIX_CONFIG",
                                   "NIX_SSL_CERT_FILE",
                                   "SSL_CERT_FILE",
                                   "SSL_CERT_DIR",
                                   "http_proxy",
                                   "https_proxy",
                                   "all_proxy",
                                   "no_proxy",
                                   "HTTP_PROXY",
                                   "HTTPS_PROXY",
                                   "ALL_PROXY",
                                   "NO_PROXY",
                                   "SSH_AUTH_SOCK"};

bool IsProgram(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string FindNix(const Variable& variable) {
  const auto in = [](std::string_view directory) {
    return std::string(directory) + (directory.ends_with('/') ? "nix" : "/nix");
  };
  const std::string path = variable("PATH");
  for (std::string_view rest = path; !rest.empty();) {
    const std::string_view directory = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), directory.size() + 1));
    // SECURITY: a relative entry would make whatever lies in a project the Nix of its user.
    if (directory.starts_with('/') && IsProgram(in(directory))) return in(directory);
  }
  for (const std::string_view directory : kPlaces) {
    if (IsProgram(in(directory))) return in(directory);
  }
  return {};
}

std::vector<std::string> VariablesForNix(const Variable& variable) {
  std::vector<std::string> variables;
  for (const char* name : kPassed) {
    if (std::string value = variable(name); !value.empty()) {
      variables.push_back(std::string(name) + "=" + value);
    }
  }
  // Nix asks for a name, also where a user has no account.
  if (variable("USER").empty()) variables.push_back("USER=" + std::to_string(::geteuid()));
  return variables;
}

}  // namespace igloo::nix

#include "config/load.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace igloo::config {
namespace {

constexpr std::string_view kFileName = "/igloo/config.toml";

/// The XDG specification: a relative path in such a variable is to be ignored.
std::string XdgDirectory(const std::string& variable, const std::string& home,
                         std::string_view below_home) {
  if (variable.starts_with('/')) return variable;
  return home.starts_with('/') ? home + std::string(below_home) : "";
}

Error CannotOpen(const std::string& path, int saved_errno, Links links) {
  if (saved_errno == ELOOP && links == Links::kRefuse) {
    return {Errc::kInvalidArgument, "'" + path + "' is a symbolic link",
            "put the file itself there", saved_errno};
  }
  const std::string hint = saved_errno == EACCES
                               ? "let yourself read it: chmod u+r " + ShellQuote(path)
                           : saved_errno == ENOENT ? "make it from config.example.toml"
                                                   : "";
  return FailSys(saved_errno, "cannot open the configuration '" + path + "'", hint).error();
}

}  // namespace

Choice ChooseFile(const std::optional<std::string>& flag, const Variables& variables) {
  if (flag) return {*flag, Reason::kFlag};
  if (!variables.igloo_config.empty()) return {variables.igloo_config, Reason::kVariable};
  if (!variables.installed.empty()) return {variables.installed, Reason::kInstalled};
  const std::string directory = XdgDirectory(variables.xdg_config_home, variables.home, "/.config");
  if (directory.empty()) return {};
  return {directory + std::string(kFileName), Reason::kUser};
}

std::string StateDirectory(const Variables& variables) {
  const std::string directory =
      XdgDirectory(variables.xdg_state_home, variables.home, "/.local/state");
  return directory.empty() ? "" : directory + "/igloo";
}

Result<std::string> ReadConfigFile(const std::string& path, Links links) {
  // Without waiting: a pipe that nobody writes to is an error, not a hang.
  const int flags =
      O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (links == Links::kRefuse ? O_NOFOLLOW : 0);
  const UniqueFd fd(::open(path.c_str(), flags));
  if (!fd) {
    const int saved_errno = errno;
    return std::unexpected(CannotOpen(path, saved_errno, links));
  }
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot look at '" + path + "'");
  }
  if (S_ISDIR(info.st_mode)) {
    return Fail(Errc::kInvalidArgument, "the configuration '" + path + "' is a directory",
                "name a file, for example " + ShellQuote(path + "/config.toml"));
  }
  if (!S_ISREG(info.st_mode)) {
    return Fail(Errc::kInvalidArgument, "the configuration '" + path + "' is not a regular file",
                "put a plain file there");
  }
  auto text = ReadAll(fd.get(), kMaxFile);
  if (text) return text;
  if (text.error().code == Errc::kExhausted) {
    return Fail(Errc::kExhausted,
                "the configuration '" + path + "' is larger than " + HumanBytes(kMaxFile),
                "is it the right file?");
  }
  return Wrap("the configuration '" + path + "'", std::move(text).error());
}

DecodeOptions OptionsFor(const std::string& path, const Variables& variables,
                         std::span<const std::string_view> presets) {
  std::error_code ignored;  // without a current directory the path stays relative
  std::filesystem::path absolute = std::filesystem::absolute(path, ignored);
  if (ignored) absolute = path;
  return {.file = path,
          .directory = absolute.lexically_normal().parent_path().string(),
          .home = variables.home,
          .presets = presets};
}

Result<Config> Load(const Choice& choice, const Variables& variables,
                    std::span<const std::string_view> presets) {
  if (choice.reason == Reason::kNone) return Config{};
  auto text = ReadConfigFile(choice.path);
  if (!text) {
    const int saved_errno = text.error().sys_errno;
    struct stat link{};
    // A link that leads nowhere was put there by somebody who wanted a file to count.
    const bool missing = (saved_errno == ENOENT || saved_errno == ENOTDIR) &&
                         ::lstat(choice.path.c_str(), &link) != 0;
    if (missing && choice.reason == Reason::kUser) return Config{};
    const bool out_of_reach = saved_errno == EACCES && choice.reason == Reason::kUser &&
                              ::access(choice.path.c_str(), F_OK) != 0;
    if (out_of_reach) return Config{.file = choice.path, .out_of_reach = true};
    Error error = std::move(text).error();
    if (choice.reason == Reason::kVariable) error.what += " (named by IGLOO_CONFIG)";
    return std::unexpected(std::move(error));
  }
  return Parse(*text, OptionsFor(choice.path, variables, presets));
}

}  // namespace igloo::config

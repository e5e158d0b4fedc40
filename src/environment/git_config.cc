#include "environment/git_config.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace igloo::environment {
namespace {

/// Settings whose value is a secret, wherever they stand: the end of their name, in small letters.
constexpr std::array<std::string_view, 7> kSecretSettings = {
    "extraheader", "password", "smtppass", "token", "secret", "apikey", "api-key"};

/// The first line and those that it goes on in: an odd number of backslashes is at their end.
std::string_view LogicalLine(std::string_view text) {
  std::size_t end = 0;
  for (;;) {
    const std::size_t newline = text.find('\n', end);
    if (newline == std::string_view::npos) return text;
    std::size_t backslashes = 0;
    std::size_t last = newline;
    if (last > end && text[last - 1] == '\r') --last;
    while (last > end + backslashes && text[last - 1 - backslashes] == '\\') ++backslashes;
    end = newline + 1;
    if (backslashes % 2 == 0) return text.substr(0, end);
  }
}

/// The same in one line, as git reads it.
std::string Joined(std::string_view line) {
  std::string joined;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line.substr(i).starts_with("\\\n")) {
      ++i;
    } else if (line.substr(i).starts_with("\\\r\n")) {
      i += 2;
    } else {
      // What stands behind another backslash is no end of a line.
      const std::size_t size = line[i] == '\\' ? 2 : 1;
      joined += line.substr(i, size);
      i += size - 1;
    }
  }
  return joined;
}

bool IsHttp(std::string_view before) {
  const std::string scheme = AsciiLower(before.substr(before.find_last_of(" \t\"'=[(:") + 1));
  return scheme.starts_with("http") || scheme.starts_with("ftp");
}

/// Takes "user:password@" out of all addresses. A user alone is a token for a web server, and
/// nothing but a name for ssh.
bool CleanAddresses(std::string& line) {
  bool changed = false;
  std::size_t at = 0;
  while ((at = line.find("://", at)) != std::string::npos) {
    const bool http = IsHttp(std::string_view(line).substr(0, at));
    at += 3;
    const std::size_t end = std::min(line.find_first_of("/ \t\r\n\"'", at), line.size());
    const std::size_t sign = line.rfind('@', end == 0 ? 0 : end - 1);
    if (sign == std::string::npos || sign < at || end == at) continue;
    const std::size_t colon = line.find(':', at);
    if (http) {
      line.erase(at, sign + 1 - at);
    } else if (colon < sign) {
      line.erase(colon, sign - colon);
    } else {
      continue;
    }
    changed = true;
  }
  return changed;
}

/// "[http] name = value" -> "name", in small letters.
std::string SettingOf(std::string_view line) {
  const auto skip = [&] {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  };
  skip();
  if (line.starts_with('[')) {
    bool quoted = false;
    std::size_t end = 1;
    for (; end < line.size() && (quoted || line[end] != ']'); ++end) {
      if (line[end] == '"') quoted = !quoted;
      if (line[end] == '\\') ++end;
    }
    line.remove_prefix(std::min(end + 1, line.size()));
    skip();
  }
  return AsciiLower(line.substr(0, line.find_first_of(" \t\r\n=#;")));
}

bool IsSecretSetting(const std::string& line) {
  const std::string setting = SettingOf(line);
  if (std::ranges::any_of(kSecretSettings,
                          [&](std::string_view each) { return setting.ends_with(each); })) {
    return true;
  }
  // A helper that is a line of shell may print the password itself.
  if (setting == "helper") return AsciiLower(line).contains("password");
  return setting == "pass" || (setting == "proxy" && line.contains('@') && !line.contains("://"));
}

/// The section's header, where a setting stands behind it.
std::string HeaderOf(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos || line[begin] != '[') return {};
  const std::size_t end = line.rfind(']', line.find('='));
  return end == std::string::npos ? std::string() : line.substr(0, end + 1) + "\n";
}

bool LooksLikeGit(std::string_view text) {
  const std::string small = AsciiLower(text);
  for (const std::string_view section : {"[core", "[remote ", "[url ", "[http", "[credential",
                                         "[submodule ", "[user", "[include", "[sendemail"}) {
    if (small.contains(section)) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> WithoutCredentials(std::string_view config) {
  if (!LooksLikeGit(config)) return std::nullopt;
  std::string clean;
  bool changed = false;
  while (!config.empty()) {
    const std::string_view line = LogicalLine(config);
    config.remove_prefix(line.size());
    std::string joined = Joined(line);
    if (IsSecretSetting(joined)) {
      joined = HeaderOf(joined);
      CleanAddresses(joined);
      clean += joined;
      changed = true;
    } else if (CleanAddresses(joined)) {
      clean += joined;
      changed = true;
    } else {
      clean += line;
    }
  }
  if (!changed) return std::nullopt;
  return clean;
}

}  // namespace igloo::environment

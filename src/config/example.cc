#include "config/example.h"

#include <fmt/format.h>

#include <utility>

#include "config/schema.h"

namespace igloo::config {
namespace {

constexpr std::string_view kHead =
    "# Every key of igloo's configuration. Copy this to ~/.config/igloo/config.toml and remove "
    "the\n"
    "# '#' at the beginning of what you change, and of its [section].\n"
    "# 'igloo config check' explains a file, 'igloo config path' says which one is read.\n"
    "# This file is written by igloo from its table of keys.\n";

/// A name for the placeholder: "[environments.data]".
std::string Named(std::string_view path) {
  std::string out(path);
  const std::size_t at = out.find("NAME");
  if (at == std::string::npos) return out;
  return out.replace(at, 4,
                     out.starts_with("secrets")  ? "github-token"
                     : out.starts_with("agents") ? "my-agent"
                                                 : "data");
}

std::string_view ExampleOf(const Key& key) {
  return key.example.empty() ? key.fallback : key.example;
}

/// Everything in parentheses behind a description.
std::string Remarks(const Key& key) {
  std::string out;
  const auto add = [&](std::string_view text) {
    out += fmt::format("{}{}", out.empty() ? "" : "; ", text);
  };
  if (key.shape.kind == Kind::kChoice) add(Expected(key));
  if (!key.shape.later.empty()) {
    std::string later;
    for (const std::string_view word : Words(key.shape.later)) {
      later += fmt::format("{}{}", later.empty() ? "" : ", ", word);
    }
    add("not available yet: " + later);
  }
  if (key.served == Served::kLater) add("not available yet");
  return out.empty() ? "" : " (" + out + ")";
}

}  // namespace

std::string ExampleFile() {
  std::string out(kHead);
  for (const Section& section : Sections()) {
    out += fmt::format("\n# {}\n#[{}]\n", section.description, Named(section.path));
    for (const Key& key : Keys()) {
      if (SectionOf(key) != section.path) continue;
      const std::string prose = fmt::format("# {}{}\n", key.description, Remarks(key));
      const std::string line = fmt::format("#{} = {}", LastPart(key.path), ExampleOf(key));
      // Short prose stands behind the line, long prose before it.
      out += line.size() + prose.size() < 98 ? fmt::format("{:<34} {}", line, prose)
                                             : fmt::format("{}{}\n", prose, line);
    }
  }
  return out;
}

std::string KeysAsMarkdown() {
  std::string out;
  for (const Section& section : Sections()) {
    out += fmt::format("### [{}]\n\n{}\n", section.path, section.description);
    bool first = true;
    for (const Key& key : Keys()) {
      if (SectionOf(key) != section.path) continue;
      if (std::exchange(first, false)) {
        out += "\n| key | value | default | meaning |\n|---|---|---|---|\n";
      }
      out += fmt::format(
          "| `{}` | {} | {} | {}{} |\n", LastPart(key.path), Expected(key),
          key.fallback.empty() ? "-" : fmt::format("`{}`", key.fallback), key.description,
          key.served == Served::kLater ? " (not available yet)"
          : key.shape.later.empty()    ? ""
                                       : fmt::format(" (not available yet: {})", key.shape.later));
    }
    out += "\n";
  }
  out.pop_back();
  return out;
}

}  // namespace igloo::config

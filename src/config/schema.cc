#include "config/schema.h"

#include <fmt/format.h>

namespace igloo::config {
namespace {

constexpr Section kSections[] = {
    {"daemon", "The MCP server."},
    {"defaults",
     "What every environment has that does not say otherwise. Without a key, compilers have more."},
    {"limits",
     "Limits of every environment that does not say otherwise, beside the two above. Likewise."},
    {"project", "The one directory of yours that code may see. Without a path there is none."},
    {"project.inherit_env", "Variables of yours that runs with the project get."},
    {"artifacts", "Environments that mkSandbox built."},
    {"nix", "The Nix that makes environments of flakes."},
    {"audit", "What is written down about every call of the MCP server; 'igloo log' reads it."},
    {"session", "Interpreters that live on between calls."},
    {"network", "What the network tiers of all environments share."},
    {"secrets.NAME", "A secret that the proxy adds to requests; code never sees it."},
    {"agents.NAME",
     "A coding agent for 'igloo agent NAME', or what you add to one that igloo knows."},
    {"backends.microvm", "The backend with a kernel of its own."},
    {"backends.jail", "Igloo's own backend. It has no settings yet."},
    {"environments.NAME",
     "One environment. It says what it is made from: preset, path, alias, flake or image."},
    {"environments.NAME.limits", "Its own limits."},
    {"environments.NAME.inherit_env", "Variables of yours that its runs get."},
};

}  // namespace

std::span<const Section> Sections() { return kSections; }

std::string_view SectionOf(const Key& key) { return key.path.substr(0, key.path.rfind('.')); }

std::string_view LastPart(std::string_view path) { return path.substr(path.rfind('.') + 1); }

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    if (space != 0) words.push_back(text.substr(0, space));
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
  }
  return words;
}

std::string Expected(const Key& key) {
  switch (key.shape.kind) {
    case Kind::kText:
      return "text";
    case Kind::kName:
      return "a name of letters, digits, '.', '_' and '-'";
    case Kind::kPath:
      return "a path";
    case Kind::kInside:
      return "a whole path without '.' and '..'";
    case Kind::kResolvers:
      return "ADDRESS or ADDRESS:PORT, or several with commas between";
    case Kind::kChoice: {
      std::string out;
      const auto words = Words(key.shape.choices);
      for (std::size_t i = 0; i < words.size(); ++i) {
        if (i != 0) out += i + 1 == words.size() ? " or " : ", ";
        out += fmt::format("\"{}\"", words[i]);
      }
      return out;
    }
    case Kind::kFlag:
      return "true or false";
    case Kind::kCount:
      return fmt::format("a whole number from {} to {}", key.shape.least, key.shape.most);
    case Kind::kSeconds:
      return fmt::format("seconds above 0 and up to {}", key.shape.most);
    case Kind::kMegabytes:
      return fmt::format("whole megabytes from {} to {}", key.shape.least, key.shape.most);
    case Kind::kCpus:
      return fmt::format("processors from 0.01 to {}", key.shape.most);
    case Kind::kTexts:
      return "a list of texts";
    case Kind::kVariables:
      return "a list of names of environment variables";
    case Kind::kRules:
      return "a list of hosts, addresses or URLs that may be reached";
    case Kind::kDenied:
      return "a list of hosts or addresses";
    case Kind::kHosts:
      return "a list of host names";
    case Kind::kPublished:
      return "a list of ports, or of texts \"HOST:BOX\"";
    case Kind::kPorts:
      return "a list of ports from 1 to 65535";
    case Kind::kTextTable:
      return "a table of names and texts";
  }
  return "";
}

}  // namespace igloo::config

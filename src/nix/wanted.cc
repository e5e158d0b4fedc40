#include "nix/wanted.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/sha256.h"
#include "nix_texts.h"

namespace igloo::nix {
namespace {

namespace json = boost::json;

std::string FlakeText(const Wanted& wanted, const Settings& settings, Packages packages) {
  const std::string own = packages == Packages::kOwn ? fmt::format("  inputs.nixpkgs.url = {};\n",
                                                                   NixString(settings.nixpkgs))
                                                     : "";
  const std::string source = wanted.files.empty() ? wanted.reference.flake
                                                  : PathAddress(SourceDirectory(wanted, settings));
  return fmt::format(
      "# Written by igloo. 'igloo env update' renews flake.lock, which pins what this is made of.\n"
      "{{\n"
      "  inputs.source.url = {};\n"
      "{}"
      "  outputs = inputs: import ./environment.nix {{\n"
      "    inherit inputs;\n"
      "    request = builtins.fromJSON (builtins.readFile ./request.json);\n"
      "  }};\n"
      "}}\n",
      NixString(source), own);
}

std::string RequestText(const Wanted& wanted) {
  json::array attribute;
  for (const std::string& part : wanted.reference.attribute)
    attribute.push_back(json::string(part));
  const json::object request{{"name", wanted.name},
                             {"reference", ToText(wanted.reference)},
                             {"attribute", std::move(attribute)},
                             {"kind", wanted.kind == Kind::kShell ? "shell" : "package"},
                             {"system", System()}};
  return json::serialize(request) + "\n";
}

}  // namespace

std::string KeyFor(const std::string& name, const std::string& project) {
  // No name has a '~' in it, and addresses may.
  return project.empty() ? name : name + "~" + Sha256Hex(project).substr(0, 12);
}

std::map<std::string, std::string> FlakeFiles(const Wanted& wanted, const Settings& settings,
                                              Packages packages) {
  std::map<std::string, std::string> files = {{"flake.nix", FlakeText(wanted, settings, packages)},
                                              {"request.json", RequestText(wanted)}};
  for (const auto& [name, text] : kTexts) files.emplace(name, text);
  return files;
}

std::string DigestOf(const Wanted& wanted, const Settings& settings) {
  const auto piece = [](std::string_view text) {
    return fmt::format("{}\n{}\n", text.size(), text);
  };
  // The same for all: lists of environments ask for many of these.
  static const std::string kOfTexts = [&] {
    std::string all;
    for (const auto& [name, text] : kTexts) all += piece(name) + piece(text);
    return Sha256Hex(all);
  }();
  return Sha256Hex(piece(wanted.trusted) + piece(settings.nixpkgs) + piece(settings.store) +
                   piece(FlakeText(wanted, settings, Packages::kOfFlake)) +
                   piece(RequestText(wanted)) + kOfTexts);
}

std::string SourceDirectory(const Wanted& wanted, const Settings& settings) {
  return settings.home + "/" + wanted.key + "/source";
}

std::string System() {
  utsname machine{};
  (void)::uname(&machine);
  return std::string(machine.machine) + "-linux";
}

std::string PathAddress(std::string_view path) {
  std::string out = "path:";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/-._~").contains(c);
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace igloo::nix

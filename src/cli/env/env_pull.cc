#include "cli/env/env_pull.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/spawn.h"
#include "base/text.h"
#include "cli/console.h"
#include "clients/render.h"
#include "environment/names.h"
#include "service/images.h"
#include "service/programs.h"

namespace igloo::cli {
namespace {

namespace json = boost::json;
using image::Image;
using image::Reference;

Result<void> FetchWithSkopeo(const Reference& reference, const std::string& layout) {
  const std::string skopeo = FindInPath("skopeo");
  if (skopeo.empty()) {
    return Fail(Errc::kFailedPrecondition,
                "fetching '" + reference.path + "' needs skopeo, which is not installed",
                "sudo apt install skopeo; or make a layout elsewhere and name it: skopeo copy "
                "docker://" +
                    reference.path + " oci:DIRECTORY:latest");
  }
  IGLOO_ASSIGN(Child child, Spawn({.program = skopeo,
                                   .argv = {"skopeo", "copy", "--", "docker://" + reference.path,
                                            "oci:" + layout + ":latest"},
                                   // Registries ask for names and passwords: it finds its own.
                                   .env = service::OwnVariables(),
                                   .fds = {{2, 1}, {2, 2}}}));
  IGLOO_ASSIGN(const int status, child.Wait());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Fail(Errc::kFailedPrecondition, "skopeo could not fetch '" + reference.path + "'",
              "what it says is above; see 'man skopeo-copy'");
}

Result<Image> Take(const Reference& reference, Console& console) {
  IGLOO_ASSIGN(const image::Store store, service::OpenImages());
  IGLOO_ASSIGN(const std::string program, service::FindProgram("igloo-image"));
  if (reference.kind == Reference::Kind::kRegistry) {
    console.Note("fetching " + reference.path);
    const auto fetch = [&](const std::string& layout) {
      return FetchWithSkopeo(reference, layout);
    };
    return store.AddFetched(reference, fetch, program);
  }
  return store.Add(reference, program);
}

/// A path may have anything in it.
std::string TomlText(std::string_view text) { return clients::Quote(ToUtf8(text)); }

/// What a configuration needs for it. A dot would begin another table.
std::string Section(const std::string& name, const Reference& reference) {
  return fmt::format("[environments.{}]\nimage = {}\n", name.contains('.') ? TomlText(name) : name,
                     TomlText(ToText(reference)));
}

json::object ToObject(const Reference& reference, const Image& taken, const std::string& section) {
  json::array notes;
  for (const std::string& note : taken.record.notes) notes.push_back(json::string(ToUtf8(note)));
  return {{"reference", ToUtf8(ToText(reference))},
          {"digest", "sha256:" + taken.record.digest},
          {"bytes", taken.record.bytes},
          {"files", taken.record.entries},
          {"notes", std::move(notes)},
          {"configuration", section}};
}

}  // namespace

Result<int> PullImage(const ParsedArgs& args, Console& console) {
  if (args.words.size() != 2) {
    return Fail(Errc::kInvalidArgument, "'igloo env pull' takes the name of one image",
                "for example: igloo env pull docker.io/library/debian:12");
  }
  const std::string name = args.Get("--name").value_or("NAME");
  // Before anything is fetched.
  if (!environment::IsName(name)) {
    return Fail(Errc::kInvalidArgument, "'" + Printable(name) + "' cannot be a name",
                std::string(environment::kNameRule));
  }
  IGLOO_ASSIGN(const Reference reference, service::ReferenceHere(args.words[1]));
  if (reference.kind == Reference::Kind::kDirectory) {
    return Fail(Errc::kInvalidArgument, "a directory needs no pulling",
                "name it in the configuration: image = " + TomlText(reference.path));
  }
  IGLOO_ASSIGN(const Image taken, Take(reference, console));
  if (args.Has("--json")) {
    console.Out(json::serialize(ToObject(reference, taken, Section(name, reference))) + "\n");
    return 0;
  }
  console.Note(fmt::format("sha256:{} is unpacked: {} in {} files", taken.record.digest,
                           HumanBytes(taken.record.bytes), taken.record.entries));
  for (const std::string& note : taken.record.notes) console.Note("note: " + Printable(note));
  console.Out(Section(name, reference));
  return 0;
}

}  // namespace igloo::cli

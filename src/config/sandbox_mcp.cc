#include "config/sandbox_mcp.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <charconv>
#include <set>

#include "base/text.h"
#include "config/json_reader.h"

namespace igloo::config {
namespace {

constexpr std::uint64_t kDay = 86'400;
constexpr JsonReader::Range kMegabytes = {1, 1U << 20};
constexpr JsonReader::Range kCount = {1, 1U << 20};

bool IsWord(std::string_view text, std::string_view more) {
  const auto fine = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           more.contains(c);
  };
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, fine);
}

/// Clients refuse a tool, and some of them all tools, when a parameter has another name.
void CheckFileName(JsonReader& reader, std::string_view key, const std::string& name) {
  if (!IsPlainFileName(name)) {
    reader.Complain(key,
                    fmt::format("'{}' is '{}', which is no plain name of a file",
                                reader.FullName(key), Printable(name)),
                    "it goes into the working directory: no '/', and neither '.' nor '..'");
  } else if (!IsWord(ParameterFor(name), "_-")) {
    reader.Complain(key,
                    fmt::format("'{}' is '{}', which cannot be a parameter of a tool",
                                reader.FullName(key), Printable(name)),
                    "use up to 64 letters, digits, '.', '_' and '-'");
  }
}

void TakeCommand(JsonReader& reader, SandboxSpec& spec) {
  constexpr const char* kHint = R"(write what runs the code, for example ["sh", "main.sh"])";
  // Not empty: a value of another type is a problem of its own.
  spec.command = {"?"};
  if (!reader.Take("command", spec.command)) {
    reader.Complain("", "'command' is missing", kHint);
  } else if (spec.command.empty() || spec.command[0].empty()) {
    reader.Complain("command", "'command' is empty", kHint);
  }
  if (reader.Take("before", spec.before) && !spec.before.empty() && spec.before[0].empty()) {
    reader.Complain("before", "'before' begins with an empty word",
                    "write a program, or leave it out");
  }
}

void TakeNames(JsonReader& reader, SandboxSpec& spec) {
  if (!reader.Take("id", spec.id)) {
    reader.Complain("", "'id' is missing", "it is the name of the tool");
  } else if (!IsWord(spec.id, "_-")) {
    reader.Complain("id", "'id' is '" + Printable(spec.id) + "', which cannot be a tool's name",
                    "use up to 64 letters, digits, '_' and '-'");
  }
  if (!reader.Take("entrypoint", spec.entrypoint)) {
    reader.Complain("", "'entrypoint' is missing",
                    "it is the file that gets the code, for example \"main.sh\"");
  } else {
    CheckFileName(reader, "entrypoint", spec.entrypoint);
  }
  reader.Take("name", spec.name);
  reader.Take("description", spec.description);
  reader.Take("version", spec.version);
  reader.Take("image", spec.image);
  const bool named = reader.Take("user", spec.user) && !spec.user.empty();
  if (!named) spec.user = SandboxSpec{}.user;
  if (!IsWord(spec.user, "_-.:")) {
    reader.Complain("user", "'user' is '" + Printable(spec.user) + "', which is no user's name",
                    "use up to 64 letters, digits, '_' and '-'");
  }
}

/// Two files with one parameter could not both be given.
void CheckParameters(JsonReader& reader, const SandboxSpec& spec) {
  std::set<std::string> taken = {ParameterFor(spec.entrypoint)};
  if (spec.additional_files) taken.insert("files");
  for (const SandboxSpec::File& file : spec.files) {
    if (taken.insert(ParameterFor(file.name)).second) continue;
    reader.Complain("files",
                    fmt::format("'{}' and another file have the parameter '{}'",
                                Printable(file.name), Printable(ParameterFor(file.name))),
                    "rename one of them");
  }
}

void TakeParameters(JsonReader& reader, SandboxSpec& spec, std::vector<Problem>& notes) {
  reader.Take("additionalFiles", spec.additional_files);
  reader.EnterEach("files", [&](JsonReader& each) {
    SandboxSpec::File file;
    if (!each.Take("name", file.name)) {
      each.Complain("", "'" + each.FullName("name") + "' is missing", "it is the file's name");
    } else {
      CheckFileName(each, "name", file.name);
    }
    each.Take("description", file.description);
    each.NoteUnknown(notes);
    spec.files.push_back(std::move(file));
  });
  CheckParameters(reader, spec);
}

/// A bad value means 0755, as it always did; rights beyond those of files are one.
void TakePermissions(JsonReader& reader, SandboxSpec::Mount& mount, std::vector<Problem>& notes) {
  std::string text;
  if (!reader.Take("scriptPerms", text)) return;
  std::uint32_t mode = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, mode, 8);
  if (error == std::errc() && at == end && mode <= 0777) {
    mount.script_perms = mode;
    return;
  }
  notes.push_back(reader.At(
      "scriptPerms",
      fmt::format("'{}' is '{}', using 0755", reader.FullName("scriptPerms"), Printable(text)),
      "write up to three octal digits, for example \"0644\""));
}

std::string_view WhyNoWorkdir(std::string_view path) {
  if (!path.starts_with('/')) return "is no absolute path";
  if (path == "/") return "is the root of all files";
  return path.size() > 1024 ? "is too long" : "is no plain path";
}

void TakeMount(JsonReader& reader, SandboxSpec::Mount& mount, std::vector<Problem>& notes) {
  const bool there = reader.Take("workdir", mount.workdir);
  const std::string_view path = mount.workdir;
  const bool plain = path.size() > 1 && path.size() <= 1024 && path[0] == '/' &&
                     !(std::string(path) + "/").contains("//") &&
                     !(std::string(path) + "/").contains("/./") &&
                     !(std::string(path) + "/").contains("/../");
  if (there && !plain) {
    reader.Complain("workdir",
                    fmt::format("'{}' is '{}', which {}", reader.FullName("workdir"),
                                Printable(path), WhyNoWorkdir(path)),
                    "write one without '.', '..' and a '/' at its end, for example \"/sandbox\"");
  }
  reader.Take("tmpdirPrefix", mount.tmpdir_prefix);
  TakePermissions(reader, mount, notes);
  reader.Take("readOnly", mount.read_only);
}

void TakeAll(JsonReader& reader, DecodedSandbox& out) {
  SandboxSpec& spec = out.spec;
  TakeNames(reader, spec);
  TakeCommand(reader, spec);
  reader.Take("timeout", {1, kDay}, spec.timeout_seconds);
  reader.Enter("parameters", [&](JsonReader& inner) {
    TakeParameters(inner, spec, out.notes);
    inner.NoteUnknown(out.notes);
  });
  reader.Enter("hints", [&](JsonReader& inner) {
    inner.Take("isReadOnly", spec.hints.read_only);
    inner.Take("isDestructive", spec.hints.destructive);
    inner.Take("isIdempotent", spec.hints.idempotent);
    inner.Take("isExternalInteraction", spec.hints.external);
    inner.NoteUnknown(out.notes);
  });
  reader.Enter("security", [&](JsonReader& inner) {
    inner.Take("readOnly", spec.security.read_only);
    inner.Take("capDrop", spec.security.cap_drop);
    inner.Take("securityOpt", spec.security.options);
    inner.Take("network", spec.security.network);
    inner.NoteUnknown(out.notes);
  });
  reader.Enter("resources", [&](JsonReader& inner) {
    inner.Take("cpu", {1, 4096}, spec.resources.cpu);
    inner.Take("memory", kMegabytes, spec.resources.memory_mb);
    inner.Take("processes", kCount, spec.resources.processes);
    inner.Take("files", kCount, spec.resources.files);
    inner.NoteUnknown(out.notes);
  });
  reader.Enter("mount", [&](JsonReader& inner) {
    TakeMount(inner, spec.mount, out.notes);
    inner.NoteUnknown(out.notes);
  });
  reader.NoteUnknown(out.notes);
}

}  // namespace

std::string_view EnvironmentNameOf(const SandboxSpec& spec) {
  constexpr std::string_view kOwn = "sandbox-mcp/";
  const std::string_view image = spec.image;
  if (image.empty()) return spec.id;
  if (image.starts_with(kOwn)) {
    const std::string_view name = image.substr(kOwn.size());
    return name.substr(0, name.find_first_of(":@"));
  }
  return image.find_first_of(":@/") == std::string_view::npos ? image : std::string_view();
}

bool IsPlainFileName(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

std::string ParameterFor(std::string_view file) {
  std::string name(file);
  std::ranges::replace(name, '.', '_');
  return name;
}

DecodedSandbox DecodeSandbox(std::string_view text) {
  DecodedSandbox out;
  auto object = ParseJsonObject(text);
  if (!object) {
    out.problems.push_back(std::move(object).error());
    return out;
  }
  JsonReader reader(text, *object, out.problems);
  TakeAll(reader, out);
  std::ranges::sort(out.problems, {}, &Problem::where);
  std::ranges::sort(out.notes, {}, &Problem::where);
  return out;
}

}  // namespace igloo::config

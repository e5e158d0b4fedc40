#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_from.hpp>

#include "config/sandbox_mcp.h"

namespace igloo::config {
namespace {

namespace json = boost::json;

/// Lines with an indent per level, for people who edit the file; lists stay on one line.
class Writer {
 public:
  void Open(std::string_view key = {}) {
    Begin(key);
    out_ += "{";
    ++depth_;
    first_ = true;
  }
  void Close() {
    --depth_;
    out_ += fmt::format("\n{:{}}}}", "", depth_ * 2);
    first_ = false;
  }
  void Put(std::string_view key, const auto& value) {
    Begin(key);
    out_ += json::serialize(json::value_from(value));
  }
  void PutIf(std::string_view key, const auto& value) {
    if (value) Put(key, *value);
  }
  std::string Take() { return std::move(out_) + "\n"; }

 private:
  void Begin(std::string_view key) {
    if (depth_ > 0) out_ += fmt::format("{}\n{:{}}", first_ ? "" : ",", "", depth_ * 2);
    if (!key.empty()) out_ += json::serialize(json::value(key)) + ": ";
    first_ = false;
  }

  std::string out_ = {};
  int depth_ = 0;
  bool first_ = true;
};

void PutParameters(const SandboxSpec& spec, Writer& out) {
  out.Open("parameters");
  out.Put("additionalFiles", spec.additional_files);
  if (!spec.files.empty()) {
    json::array files;
    for (const SandboxSpec::File& file : spec.files) {
      files.push_back({{"name", file.name}, {"description", file.description}});
    }
    out.Put("files", files);
  }
  out.Close();
}

void PutLimits(const SandboxSpec& spec, Writer& out) {
  out.Open("security");
  out.Put("readOnly", spec.security.read_only);
  out.Put("capDrop", spec.security.cap_drop);
  out.Put("securityOpt", spec.security.options);
  out.Put("network", spec.security.network);
  out.Close();
  out.Open("resources");
  out.PutIf("cpu", spec.resources.cpu);
  out.PutIf("memory", spec.resources.memory_mb);
  out.PutIf("processes", spec.resources.processes);
  out.PutIf("files", spec.resources.files);
  out.Close();
  out.Open("mount");
  out.Put("workdir", spec.mount.workdir);
  out.Put("tmpdirPrefix", spec.mount.tmpdir_prefix);
  out.Put("scriptPerms", fmt::format("{:04o}", spec.mount.script_perms));
  out.Put("readOnly", spec.mount.read_only);
  out.Close();
}

}  // namespace

std::string EncodeSandbox(const SandboxSpec& spec) {
  Writer out;
  out.Open();
  out.Put("id", spec.id);
  out.Put("name", spec.name);
  out.Put("description", spec.description);
  out.Open("hints");
  out.PutIf("isReadOnly", spec.hints.read_only);
  out.PutIf("isDestructive", spec.hints.destructive);
  out.PutIf("isIdempotent", spec.hints.idempotent);
  out.PutIf("isExternalInteraction", spec.hints.external);
  out.Close();
  out.Put("version", spec.version);
  out.Put("image", spec.image);
  out.Put("user", spec.user);
  out.Put("entrypoint", spec.entrypoint);
  out.Put("timeout", spec.timeout_seconds);
  if (!spec.before.empty()) out.Put("before", spec.before);
  out.Put("command", spec.command);
  PutParameters(spec, out);
  PutLimits(spec, out);
  out.Close();
  return out.Take();
}

}  // namespace igloo::config

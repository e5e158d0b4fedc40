#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "mcp/service.h"
#include "tools/arguments.h"
#include "tools/per_environment.h"

namespace igloo::tools {
namespace {

using config::SandboxSpec;
using environment::GivenFile;
using mcp::Json;
using mcp::JsonObject;

/// The contract's own words came as internal errors, and somebody may look for that.
std::unexpected<mcp::RpcError> IsRequired(const std::string& file) {
  return mcp::Refuse(mcp::RpcCode::kInternalError, file + " file is required");
}

std::unexpected<mcp::RpcError> Wrong(std::string message) {
  return mcp::Refuse(mcp::RpcCode::kInvalidParams, std::move(message));
}

struct Variable {
  std::string_view name, value;
};

constexpr Variable kPython[] = {
    {"PYTHONDONTWRITEBYTECODE", "1"}, {"PYTHONUNBUFFERED", "1"}, {"MPLCONFIGDIR", "/tmp"}};
constexpr Variable kNode[] = {{"NODE_ENV", "production"}, {"NODE_OPTIONS", "--no-warnings"}};
// Every call brings a module.
constexpr Variable kGo[] = {{"GO111MODULE", "on"}};

struct EnvironmentVariables {
  std::string_view environment;
  std::span<const Variable> variables;
};
constexpr std::array<EnvironmentVariables, 4> kVariables = {
    {{"python", kPython}, {"python-data", kPython}, {"node", kNode}, {"go", kGo}}};

/// A working directory elsewhere is a home, too: it is the one place that the call gets.
std::string HomeOf(const SandboxSpec& spec) {
  constexpr std::string_view kHome = "/sandbox";
  const std::string& directory = spec.mount.workdir;
  const bool inside = directory == kHome || directory.starts_with(std::string(kHome) + "/");
  return inside ? std::string(kHome) : directory;
}

/// Files by name; what comes later replaces what came before, as it did when they were written one
/// after the other.
void Put(std::vector<GivenFile>& files, std::string name, std::string_view content,
         const SandboxSpec& spec) {
  const auto same = std::ranges::find(files, name, &GivenFile::path);
  if (same != files.end()) {
    same->content = content;
  } else {
    files.push_back({.path = std::move(name),
                     .content = std::string(content),
                     .mode = spec.mount.script_perms});
  }
}

mcp::Answer<void> PutRequired(const std::string& name, const SandboxSpec& spec,
                              const JsonObject& arguments, std::vector<GivenFile>& files) {
  const Json* value = arguments.if_contains(config::ParameterFor(name));
  // Models that saw the file's name say it like that.
  if (value == nullptr) value = arguments.if_contains(name);
  if (value == nullptr || !value->is_string() || value->get_string().empty()) {
    return IsRequired(name);
  }
  Put(files, name, value->get_string(), spec);
  return {};
}

mcp::Answer<void> PutAdditional(const Json& item, const SandboxSpec& spec,
                                std::vector<GivenFile>& files) {
  const JsonObject* file = item.if_object();
  const Json* name = file != nullptr ? file->if_contains("filename") : nullptr;
  const Json* content = file != nullptr ? file->if_contains("content") : nullptr;
  if (name == nullptr || !name->is_string() || content == nullptr || !content->is_string()) {
    return Wrong("each of 'files' is an object with the texts 'filename' and 'content'");
  }
  // SECURITY: nothing that a model writes becomes a path: a name is one part of one.
  const std::string_view plain = name->get_string();
  if (!config::IsPlainFileName(plain)) {
    return Wrong(fmt::format(
        "failed to write file {}: it must be a plain name without '/', in the working directory",
        Printable(Quoted(plain))));
  }
  Put(files, std::string(plain), content->get_string(), spec);
  return {};
}

mcp::Answer<void> PutAllAdditional(const SandboxSpec& spec, const JsonObject& arguments,
                                   std::vector<GivenFile>& files) {
  const Json* value = arguments.if_contains("files");
  const bool taken = std::ranges::any_of(
      spec.files, [](const SandboxSpec::File& file) { return file.name == "files"; });
  if (value == nullptr || value->is_null() || taken) return {};
  const boost::json::array* list = value->if_array();
  if (list == nullptr) {
    return Wrong("'files' is a list of objects with the texts 'filename' and 'content'");
  }
  if (!spec.additional_files && !list->empty()) {
    return Wrong("the tool '" + spec.id + "' takes no additional files: leave 'files' out");
  }
  if (list->size() > kMostFiles) return Wrong(fmt::format("'files' has more than {}", kMostFiles));
  for (const Json& item : *list) IGLOO_TRY(PutAdditional(item, spec, files));
  return {};
}

}  // namespace

mcp::Answer<Prepared> Prepare(const EnvironmentTool& tool, const JsonObject& arguments) {
  if (tool.unavailable) return RenderRefusal(*tool.unavailable);
  const SandboxSpec& spec = tool.spec;
  PreparedCall call{.environment = tool.environment};
  environment::RunRequest& request = call.request;
  IGLOO_TRY(PutRequired(spec.entrypoint, spec, arguments, request.files));
  for (const SandboxSpec::File& file : spec.files) {
    IGLOO_TRY(PutRequired(file.name, spec, arguments, request.files));
  }
  IGLOO_TRY(PutAllAdditional(spec, arguments, request.files));
  request.what = environment::Program{CommandLine(spec, tool.entrypoint)};
  request.place = {
      .home = HomeOf(spec),
      .directory = spec.mount.workdir,
      .access = spec.mount.read_only ? sandbox::Access::kReadOnly : sandbox::Access::kReadWrite,
      .user = spec.user.substr(0, spec.user.find(':'))};
  request.root = spec.security.read_only ? sandbox::Access::kReadOnly : sandbox::Access::kReadWrite;
  if (spec.security.network == "bridge") request.network.level = network::Level::kInternet;
  request.time_ms = spec.timeout_seconds * 1000;
  if (spec.resources.memory_mb) request.memory_bytes = *spec.resources.memory_mb << 20;
  if (spec.resources.cpu) request.millicpus = *spec.resources.cpu * 1000;
  request.processes = spec.resources.processes;
  request.open_files = spec.resources.files;
  request.variables = tool.variables;
  for (const EnvironmentVariables& row : kVariables) {
    if (row.environment != tool.environment) continue;
    for (const Variable& each : row.variables)
      request.variables[std::string(each.name)] = each.value;
  }
  return call;
}

}  // namespace igloo::tools

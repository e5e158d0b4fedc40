#include "clients/edit.h"

#include <algorithm>

#include "clients/json_edit.h"
#include "clients/render.h"
#include "clients/toml_edit.h"

namespace igloo::clients {
namespace {

std::optional<std::vector<std::string>> Strings(const Node* node) {
  if (node == nullptr || node->type != Node::Type::kArray) return std::nullopt;
  std::vector<std::string> out;
  for (const Node& item : node->items) {
    if (item.type != Node::Type::kString) return std::nullopt;
    out.push_back(item.text);
  }
  return out;
}

bool IsLaunchField(const Field& field) { return field.kind != Field::Kind::kLiteral; }

}  // namespace

Result<Edit> Install(const Client& client, const Server& server, std::string_view file,
                     std::string_view text, Foreign foreign) {
  auto edit = client.format == Format::kToml ? InstallToml(client, server, text, foreign)
                                             : InstallJson(client, server, text, foreign);
  if (!edit) return std::unexpected(ToError(file, text, edit.error()));
  return *std::move(edit);
}

Result<Edit> Remove(const Client& client, std::string_view name, std::string_view file,
                    std::string_view text, const std::optional<Undo>& undo, Foreign foreign) {
  auto edit = client.format == Format::kToml ? RemoveToml(client, name, text, undo, foreign)
                                             : RemoveJson(client, name, text, undo, foreign);
  if (!edit) return std::unexpected(ToError(file, text, edit.error()));
  return *std::move(edit);
}

std::string WholeFile(const Client& client, const Server& server) {
  return Install(client, server, "", "", Foreign::kKeep).value().text;
}

std::optional<Launch> ReadLaunch(const Client& client, const FieldFinder& find) {
  Launch launch;
  for (const Field& field : client.fields) {
    if (!IsLaunchField(field)) continue;
    const Node* node = find(field.key);
    if (field.kind == Field::Kind::kCommand) {
      if (node == nullptr || node->type != Node::Type::kString) return std::nullopt;
      launch.command = node->text;
      continue;
    }
    auto words = Strings(node);
    if (!words) return std::nullopt;
    if (field.kind == Field::Kind::kCommandLine) {
      if (words->empty()) return std::nullopt;
      launch.command = words->front();
      words->erase(words->begin());
    }
    launch.args = *std::move(words);
  }
  return launch;
}

bool IsIgloo(const std::optional<Launch>& launch) {
  if (!launch || launch->args.empty() || launch->args[0] != "mcp") return false;
  const std::string_view command = launch->command;
  return command.substr(command.rfind('/') + 1) == "igloo";
}

std::string Replace(std::string_view text, std::vector<Replacement> replacements) {
  std::ranges::sort(replacements, {}, &Replacement::begin);
  std::string out;
  std::size_t at = 0;
  for (const Replacement& each : replacements) {
    out += text.substr(at, each.begin - at);
    out += each.text;
    at = each.end;
  }
  out += text.substr(at);
  return out;
}

std::vector<Replacement> UpdatesFor(const Client& client, const Server& server,
                                    const FieldFinder& find) {
  std::vector<Replacement> out;
  for (const Field& field : client.fields) {
    if (!IsLaunchField(field)) continue;
    const Node* node = find(field.key);
    out.push_back({node->begin, node->end, FieldValue(field, server, Spacing::kWide)});
  }
  return out;
}

}  // namespace igloo::clients

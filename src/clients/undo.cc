#include "clients/undo.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>

#include "base/file.h"
#include "base/replace_file.h"
#include "base/sha256.h"
#include "base/unique_fd.h"
#include "clients/client_file.h"
#include "clients/json_scan.h"
#include "clients/render.h"

namespace igloo::clients {
namespace {

constexpr std::size_t kMaxEntry = 64U << 10;

/// A number or true or false, from the text itself.
std::optional<int> Number(std::string_view text, const Node& node) {
  const std::string_view word = text.substr(node.begin, node.end - node.begin);
  if (word == "true") return 1;
  if (word == "false") return 0;
  int value = 0;
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string EncodeUndo(const Undo& undo) {
  return fmt::format(
      "{{\"created_file\": {}, \"created_directories\": {}, \"created_levels\": {}, "
      "\"comma\": {}, \"before\": {}, \"after\": {}}}\n",
      undo.created_file, undo.created_directories, undo.created_levels, undo.comma,
      Quote(undo.before), Quote(undo.after));
}

std::optional<Undo> DecodeUndo(std::string_view text) {
  const auto json = ScanJson(text, Dialect::kJson);
  if (!json || json->empty || json->root.members.size() != 6) return std::nullopt;
  Undo undo;
  for (const Member& member : json->root.members) {
    if (member.value.type == Node::Type::kString) {
      if (member.key == "before") {
        undo.before = member.value.text;
      } else if (member.key == "after") {
        undo.after = member.value.text;
      } else {
        return std::nullopt;
      }
      continue;
    }
    const auto number = Number(text, member.value);
    if (!number || *number < 0) return std::nullopt;
    if (member.key == "created_file") {
      undo.created_file = *number != 0;
    } else if (member.key == "created_directories") {
      undo.created_directories = *number;
    } else if (member.key == "created_levels") {
      undo.created_levels = *number;
    } else if (member.key == "comma") {
      undo.comma = *number != 0;
    } else {
      return std::nullopt;
    }
  }
  return undo;
}

std::string UndoStore::EntryOf(const std::string& file, const std::string& name) const {
  // A file's name holds no NUL: no two pairs run together.
  return directory_ + "/" + Sha256Hex(file + '\0' + name);
}

std::optional<Undo> UndoStore::Find(const std::string& file, const std::string& name) const {
  if (directory_.empty()) return std::nullopt;
  const UniqueFd fd(
      ::open(EntryOf(file, name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  const auto text = ReadAll(fd.get(), kMaxEntry);
  return text ? DecodeUndo(*text) : std::nullopt;
}

Result<void> UndoStore::Put(const std::string& file, const std::string& name,
                            const Undo& undo) const {
  if (directory_.empty()) return {};
  IGLOO_TRY(MakeDirectories(directory_, 0700));
  return ReplaceFile(EntryOf(file, name), EncodeUndo(undo));
}

void UndoStore::Drop(const std::string& file, const std::string& name) const {
  if (!directory_.empty()) ::unlink(EntryOf(file, name).c_str());
}

}  // namespace igloo::clients

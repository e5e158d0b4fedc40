#include "service/changes/base_record.h"

#include <fcntl.h>

#include <cerrno>

#include "base/text.h"
#include "service/changes/packed.h"

namespace igloo::service::changes {
namespace {

constexpr std::uint64_t kVersion = 1;

/// Depth first: a directory is followed by what is in it and an empty name.
class Recorder {
 public:
  explicit Recorder(dev_t device) : device_(device) { packed_.Number(kVersion); }

  Result<void> Directory(int directory, const std::string& path, std::size_t depth) {
    if (depth > kDeepest) {
      return Fail(Errc::kExhausted, "'" + Printable(path) + "' lies too deep for a change set");
    }
    IGLOO_TRY(
        EachName(directory, [&](const char* name) { return Name(directory, name, path, depth); }));
    packed_.Text("");
    return {};
  }

  const std::string& bytes() const { return packed_.bytes(); }

 private:
  Result<void> Name(int directory, const char* name, const std::string& within, std::size_t depth) {
    struct stat info{};
    if (::fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
      const int saved_errno = errno;
      if (saved_errno == ENOENT) return {};  // removed just now
      return FailSys(saved_errno, "cannot look at '" + Printable(name) + "'");
    }
    if (++names_ > kMostNames) {
      return Fail(Errc::kExhausted, "the project has more than 5 million files",
                  "name a smaller directory");
    }
    packed_.Text(name);
    packed_.Entry(NodeOf(info));
    if (!S_ISDIR(info.st_mode)) return {};
    const std::string path = within.empty() ? name : within + "/" + name;
    UniqueFd below;
    if (info.st_dev == device_ && path != ".git/objects") {
      below = OpenBeneath(directory, name, O_RDONLY | O_DIRECTORY);
    }
    // One that cannot be read shows nothing inside of a sandbox either.
    if (below) return Directory(below.get(), path, depth + 1);
    packed_.Text("");
    return {};
  }

  dev_t device_;
  Packer packed_ = {};
  std::size_t names_ = 0;
};

}  // namespace

std::vector<std::string> BaseRecord::Below(const std::string& directory) const {
  std::vector<std::string> found;
  const std::string start = directory.empty() ? "" : directory + "/";
  for (auto it = nodes_.lower_bound(start); it != nodes_.end() && it->first.starts_with(start);
       ++it) {
    found.push_back(it->first);
  }
  return found;
}

Result<std::string> RecordBase(const Tree& project) {
  struct stat info{};
  if (::fstat(project.fd(), &info) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot look at the project");
  }
  Recorder recorder(info.st_dev);
  IGLOO_TRY(recorder.Directory(project.fd(), "", 0));
  return recorder.bytes();
}

Result<BaseRecord> DecodeBase(std::string_view bytes) {
  Unpacker in(bytes);
  const auto damaged = [] {
    return Fail(Errc::kFailedPrecondition, "the record of a change set's base is damaged",
                "igloo discard NAME removes the change set");
  };
  if (in.Number() != kVersion) return damaged();
  BaseRecord::Nodes nodes;
  std::vector<std::string> within = {""};
  while (in.ok() && !within.empty()) {
    const std::string name = in.Text();
    if (name.empty()) {
      within.pop_back();
      continue;
    }
    const Node node = in.Entry();
    std::string path = within.back().empty() ? name : within.back() + "/" + name;
    if (node.type == Type::kDirectory) within.push_back(path);
    nodes.emplace(std::move(path), node);
  }
  if (!in.ok() || !in.done()) return damaged();
  return BaseRecord(std::move(nodes));
}

}  // namespace igloo::service::changes

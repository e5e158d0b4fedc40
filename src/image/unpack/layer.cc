#include "image/unpack/layer.h"

#include <algorithm>
#include <array>

#include "base/file.h"
#include "image/unpack/tar.h"

namespace igloo::image::unpack {
namespace {

constexpr std::string_view kWhiteout = ".wh.";
constexpr std::string_view kOpaque = ".wh..wh..opq";
/// What else begins like this belongs to a union file system that nobody uses any more.
constexpr std::string_view kReserved = ".wh..wh.";

bool HasControls(std::string_view path) {
  return std::ranges::any_of(path,
                             [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; });
}

std::string Join(const std::string& directory, std::string_view name) {
  return directory.empty() ? std::string(name) : directory + "/" + std::string(name);
}

Result<void> TakeAway(const std::string& directory, std::string_view name, Tree& tree) {
  if (name == kOpaque) return tree.Opaque(directory);
  if (name.starts_with(kReserved)) return {};
  const std::string_view hidden = name.substr(kWhiteout.size());
  // SECURITY: "the directory itself" and "the one above" are no names to take away.
  if (hidden.empty() || hidden == "." || hidden == "..") {
    return Fail(Errc::kInvalidArgument, "a layer takes away a name that is none");
  }
  return tree.Whiteout(Join(directory, hidden));
}

Result<void> PutFile(const TarEntry& entry, const std::string& path, TarReader& reader,
                     Tree& tree) {
  IGLOO_ASSIGN(const UniqueFd file, tree.File(path));
  std::array<char, 65536> buffer;
  for (;;) {
    IGLOO_ASSIGN(const std::size_t size, reader.Read(buffer));
    if (size == 0) break;
    IGLOO_TRY(WriteAll(file.get(), {buffer.data(), size}));
  }
  return Tree::Finish(file.get(), entry.mode, entry.time);
}

Result<void> Put(const TarEntry& entry, TarReader& reader, Tree& tree, const Limits& limits,
                 Dropped& dropped) {
  IGLOO_ASSIGN(const std::string path, CleanPath(entry.path, limits));
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "" : path.substr(0, slash);
  const std::string_view name = slash == std::string::npos
                                    ? std::string_view(path)
                                    : std::string_view(path).substr(slash + 1);
  if (HasControls(path)) {
    ++dropped.names;
    return {};
  }
  if (name.starts_with(kWhiteout)) return TakeAway(directory, name, tree);
  switch (entry.kind) {
    case TarEntry::Kind::kDirectory:
      return tree.Directory(path);
    case TarEntry::Kind::kFile:
      if ((entry.mode & 06000) != 0) ++dropped.privileged;
      return PutFile(entry, path, reader, tree);
    case TarEntry::Kind::kSymlink:
      // Kept as it is: it means something inside only.
      return tree.Symlink(path, entry.target);
    case TarEntry::Kind::kHardLink: {
      IGLOO_ASSIGN(const std::string existing, CleanPath(entry.target, limits));
      return tree.HardLink(path, existing);
    }
    case TarEntry::Kind::kDropped:
      ++dropped.devices;
      return {};
  }
  return {};
}

}  // namespace

Result<void> ApplyLayer(Stream& stream, Tree& tree, Budget& budget, Dropped& dropped) {
  tree.BeginLayer();
  TarReader reader(stream);
  for (;;) {
    IGLOO_ASSIGN(const auto entry, reader.Next());
    if (!entry) return {};
    if (budget.entries == 0) {
      return Fail(Errc::kExhausted,
                  "the image has more than " + std::to_string(budget.limits.entries) + " files");
    }
    --budget.entries;
    IGLOO_TRY(Put(*entry, reader, tree, budget.limits, dropped));
  }
}

}  // namespace igloo::image::unpack

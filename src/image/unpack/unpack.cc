#include "image/unpack/unpack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/file.h"
#include "base/text.h"
#include "image/unpack/beneath.h"
#include "image/unpack/tar.h"

namespace igloo::image::unpack {
namespace {

constexpr std::string_view kBlobs = "blobs/sha256/";
/// An index may name others: one for each machine.
constexpr int kMostIndexes = 3;

Result<UniqueFd> OpenFile(int layout, const std::string& path) {
  UniqueFd fd(OpenBeneath(layout, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!fd) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open '" + path + "' of the layout",
                   saved_errno == ENOENT && path == "index.json"
                       ? "name a directory that 'skopeo copy ... oci:DIRECTORY' made"
                       : "");
  }
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Fail(Errc::kInvalidArgument, "'" + path + "' of the layout is no file");
  }
  return fd;
}

std::unexpected<Error> BrokenBlob(const Descriptor& wanted) {
  return Fail(Errc::kInvalidArgument,
              "the image is broken: a blob is not what its digest " + wanted.digest + " says",
              "fetch or make the image again");
}

Result<void> CheckBlob(const Descriptor& wanted, std::uint64_t size, const std::string& digest) {
  if (digest == wanted.digest && size == wanted.size) return {};
  return BrokenBlob(wanted);
}

/// Of the length that its descriptor says: a file of terabytes takes hours to hash, and a hole in
/// a file makes one for nothing.
Result<UniqueFd> OpenBlob(int layout, const Descriptor& wanted) {
  IGLOO_ASSIGN(UniqueFd fd, OpenFile(layout, std::string(kBlobs) + wanted.digest));
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0 || static_cast<std::uint64_t>(info.st_size) != wanted.size) {
    return BrokenBlob(wanted);
  }
  return fd;
}

Result<std::string> ReadBlob(int layout, const Descriptor& wanted, const Limits& limits) {
  if (wanted.size > limits.text) {
    return Fail(Errc::kExhausted,
                "the image describes itself with more than " + HumanBytes(limits.text));
  }
  IGLOO_ASSIGN(const UniqueFd fd, OpenBlob(layout, wanted));
  IGLOO_ASSIGN(std::string text, ReadAll(fd.get(), limits.text));
  IGLOO_TRY(CheckBlob(wanted, text.size(), Sha256Hex(text)));
  return text;
}

Result<void> ApplyBlob(int layout, const Descriptor& layer, Tree& tree, Budget& budget,
                       Dropped& dropped) {
  IGLOO_ASSIGN(const UniqueFd fd, OpenBlob(layout, layer));
  FileStream packed(fd.get());
  Unpacked unpacked(packed, budget);
  // What is written before the digest is known is thrown away with everything else if it is wrong.
  const auto applied = ApplyLayer(unpacked, tree, budget, dropped);
  // A blob that was exchanged or damaged explains most of what can go wrong: say that.
  if (applied || applied.error().code == Errc::kInvalidArgument) {
    IGLOO_TRY(packed.Drain());
    IGLOO_TRY(CheckBlob(layer, packed.count(), packed.Digest()));
  }
  return applied;
}

/// All of a layer is hashed, also what lies behind its end. What is packed is hardly longer than
/// what it holds, so it has the same limit.
Result<void> CheckPacked(const std::vector<Descriptor>& layers, const Limits& limits) {
  std::uint64_t left = limits.bytes;
  for (const Descriptor& layer : layers) {
    if (layer.size > left) {
      return Fail(Errc::kExhausted,
                  "the image's layers have more than " + HumanBytes(limits.bytes) + ", packed",
                  "make a smaller image");
    }
    left -= layer.size;
  }
  return {};
}

Result<void> CheckMachine(const Config& config) {
  const bool fits = (config.os.empty() || config.os == "linux") &&
                    (config.architecture.empty() || config.architecture == OwnArchitecture());
  if (fits) return {};
  return Fail(Errc::kFailedPrecondition,
              "the image is made for " + Printable(config.os + "/" + config.architecture) +
                  " and not for linux/" + std::string(OwnArchitecture()));
}

bool IsPartOfLayout(std::string_view path) {
  if (path == "index.json" || path == "oci-layout") return true;
  if (!path.starts_with(kBlobs)) return false;
  const std::string_view name = path.substr(kBlobs.size());
  return name.size() == 64 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

Result<Found> Find(int layout, std::string_view tag, const Limits& limits) {
  IGLOO_ASSIGN(const UniqueFd fd, OpenFile(layout, "index.json"));
  IGLOO_ASSIGN(const std::string text, ReadAll(fd.get(), limits.text));
  Found found;
  IGLOO_ASSIGN(found.manifest, ParseDocument(text, limits));
  for (int i = 0; i < kMostIndexes && found.manifest.is_index; ++i) {
    // Only the outermost has tags.
    IGLOO_ASSIGN(const Descriptor chosen,
                 Choose(found.manifest.manifests, i == 0 ? tag : "", OwnArchitecture()));
    IGLOO_ASSIGN(const std::string inner, ReadBlob(layout, chosen, limits));
    IGLOO_ASSIGN(found.manifest, ParseDocument(inner, limits));
    found.digest = chosen.digest;
  }
  if (found.manifest.is_index || found.digest.empty()) {
    return Fail(Errc::kInvalidArgument, "the image is broken: its index leads to no manifest");
  }
  return found;
}

Result<Summary> Unpack(int layout, const Found& image, int target, const Limits& limits) {
  Summary summary{.digest = image.digest};
  IGLOO_ASSIGN(const std::string text, ReadBlob(layout, image.manifest.config, limits));
  IGLOO_ASSIGN(summary.config, ParseConfig(text));
  IGLOO_TRY(CheckMachine(summary.config));
  IGLOO_TRY(CheckPacked(image.manifest.layers, limits));
  Budget budget(limits);
  Tree tree(target, limits);
  for (const Descriptor& layer : image.manifest.layers) {
    IGLOO_TRY(ApplyBlob(layout, layer, tree, budget, summary.dropped));
  }
  summary.entries = limits.entries - budget.entries;
  summary.bytes = limits.bytes - budget.bytes;
  return summary;
}

Result<void> ExtractLayout(int archive, int target, const Limits& limits) {
  FileStream file(archive);
  Budget budget(limits);
  Unpacked unpacked(file, budget);
  TarReader reader(unpacked);
  Tree tree(target, limits);
  std::array<char, 65536> buffer;
  for (;;) {
    IGLOO_ASSIGN(const auto entry, reader.Next());
    if (!entry) return {};
    if (budget.entries-- == 0) return Fail(Errc::kExhausted, "the archive has too many files");
    IGLOO_ASSIGN(const std::string path, CleanPath(entry->path, limits));
    if (entry->kind != TarEntry::Kind::kFile || !IsPartOfLayout(path)) continue;
    IGLOO_ASSIGN(const UniqueFd out, tree.File(path));
    for (;;) {
      IGLOO_ASSIGN(const std::size_t size, reader.Read(buffer));
      if (size == 0) break;
      IGLOO_TRY(WriteAll(out.get(), {buffer.data(), size}));
    }
    IGLOO_TRY(Tree::Finish(out.get(), 0644, 0));
  }
}

}  // namespace igloo::image::unpack

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "image/record.h"
#include "image/reference.h"

namespace igloo::image {

/// An image that lies unpacked.
struct Image {
  std::string root = {};  ///< the directory with its files
  Record record = {};
  bool operator==(const Image&) const = default;
};

/// Images that were unpacked, each in a directory with the name of its digest:
///   lock, names.json, sha256-DIGEST/{rootfs, image.json}
/// An image is there as a whole or not at all, and never changes. Several processes may use one
/// store.
class Store {
 public:
  /// `directory` need not exist; it is made with the first image.
  explicit Store(std::string directory) : directory_(std::move(directory)) {}

  /// The unpacked image, if what it was unpacked from is still the same; nothing: it is to be
  /// added. Reads no more than names.json and one record.
  Result<std::optional<Image>> Look(const Reference& reference) const;

  /// Unpacks a layout or an archive with `program` (igloo-image), unless its digest is there.
  Result<Image> Add(const Reference& reference, const std::string& program) const;
  /// Puts the layout of an image into a directory that does not exist yet.
  using Fetch = std::function<Result<void>(const std::string& directory)>;
  /// The same of what `fetch` brings for a name in a registry. Others wait meanwhile.
  Result<Image> AddFetched(const Reference& reference, const Fetch& fetch,
                           const std::string& program) const;

  /// Keeps an image from being removed while the descriptor lives.
  static Result<UniqueFd> Hold(const Image& image);

  /// What is here: for `igloo env gc` and people.
  struct Stored {
    std::string digest = {};
    std::vector<std::string> names = {};  ///< ToText of references; empty: nobody asks for it
    std::uint64_t bytes = 0;
    bool in_use = false;  ///< by a process that holds it now
  };
  Result<std::vector<Stored>> List() const;

  /// Forgets a name, and removes the image with it if nothing else names it. False: there was none.
  /// Fails when a process uses the image.
  Result<bool> Remove(const Reference& reference) const;
  /// Removes every image that has no name but those of layouts and archives that `wanted` (ToText
  /// of references) does not have. What was pulled stays until it is removed by name, and what a
  /// process uses stays, too. Returns the digests of those that went.
  Result<std::vector<std::string>> Collect(const std::set<std::string>& wanted) const;

 private:
  Result<void> MakeDirectory() const;
  Result<UniqueFd> Lock() const;
  Result<Names> ReadNames() const;
  Result<void> WriteNames(const Names& names) const;
  std::string PlaceOf(const std::string& digest) const;
  Result<Image> ReadImage(const std::string& digest) const;
  Result<Image> AddLocked(const Reference& reference, const std::string& layout,
                          const std::string& program) const;
  Result<Image> Unpack(int layout, const Record& found, const Reference& reference,
                       const std::string& work, const std::string& program) const;
  Result<void> RemoveImage(const std::string& digest) const;
  void RemoveLeftovers() const;

  std::string directory_;
};

}  // namespace igloo::image

#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "service/resource.h"

namespace igloo::service {

/// What runs produced and their results only name: whole outputs, files. In memory, bounded; the
/// oldest run makes room. One thread.
class OutputStore {
 public:
  struct Limits {
    std::size_t bytes = 64U << 20;
    std::size_t items = 1000;
  };
  OutputStore() : OutputStore(Limits{}) {}
  explicit OutputStore(Limits limits) : limits_(limits) {}

  /// Something to be kept, under the name by which its URI ends.
  struct Item {
    std::string name = {};
    std::string mime_type = {};
    std::string bytes = {};
  };

  /// Keeps the items of one run: the URI of each, in their order, or none at all when they are too
  /// large together. SECURITY: nobody guesses a URI; it has 128 random bits. A name that is too
  /// long for one is cut in it.
  std::vector<std::string> Keep(std::vector<Item> items);

  /// The newest first.
  std::vector<Resource> List() const;
  std::optional<ResourceContents> Read(std::string_view uri) const;

  std::size_t bytes() const { return bytes_; }
  /// Another number whenever the list is another.
  std::uint64_t generation() const { return generation_; }

 private:
  struct Kept {
    Resource resource = {};
    std::string bytes = {};
  };
  struct Run {
    std::vector<Kept> items = {};
    std::size_t bytes = 0;
  };
  void DropOldest();

  Limits limits_;
  std::list<Run> runs_ = {};  ///< oldest first
  std::size_t bytes_ = 0, items_ = 0;
  std::uint64_t generation_ = 0;
};

}  // namespace igloo::service

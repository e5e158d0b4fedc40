#pragma once

#include <bitset>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace igloo {

enum class Letters { kExact, kFold };

/// Patterns as .gitignore has them, for many names in a row. '*', '?' and '[...]' stand for
/// characters of one name, '**' between slashes for any number of directories. A pattern without a
/// slash is for a name wherever it is, one with a slash for a path from the top; a slash at its end
/// says: directories only.
class Globs {
 public:
  struct Name {
    std::string_view path = {};  ///< from the top: "a/b/.env"
    bool directory = false;
  };

  Globs(const std::vector<std::string>& patterns, Letters letters);

  /// The number of the first pattern from `first` on that a name matches, if there is one.
  std::optional<std::size_t> Find(const Name& name, std::size_t first = 0) const;
  /// Whether something of that last name could match: quickly, for the many that cannot.
  bool Could(std::string_view last, bool directory) const;

 private:
  /// One pattern, with what can be said about the last name of whatever matches it.
  struct Row {
    std::vector<std::string> parts = {};  ///< one: it is for a name; none: for nothing
    std::string prefix = {}, suffix = {};
    bool exact = false;   ///< the last name is `prefix` and nothing else
    bool simple = false;  ///< `prefix` and `suffix` are all that there is to look at
    bool directories_only = false;
  };
  /// Which names are worth a look at the rows, by their first two and their last two characters:
  /// nearly all names of a large tree match nothing.
  struct Filter {
    std::bitset<1U << 16> first = {}, last = {};
    bool all = false;  ///< some row says nothing about either
    void Add(const Row& row);
  };

  static Row Compile(const std::string& pattern, Letters letters);
  static bool CanBeLast(const Row& row, std::string_view last);
  std::string Fold(std::string_view text) const;

  Letters letters_;
  std::vector<Row> rows_ = {};
  Filter directories_ = {}, others_ = {};
};

}  // namespace igloo

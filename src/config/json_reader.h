#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/problem.h"

namespace igloo::config {

/// Takes typed values out of one JSON object of a file and says what is wrong with them, by line.
/// A key counts whatever the case of its letters, and null is as good as nothing.
class JsonReader {
 public:
  /// `text` is what `object` was parsed from; all of them outlive the reader. `path` leads to the
  /// object.
  JsonReader(std::string_view text, const boost::json::object& object,
             std::vector<Problem>& problems, std::vector<std::string> path = {})
      : text_(text), object_(object), problems_(problems), path_(std::move(path)) {}

  /// Each takes what is there and right, and leaves the value alone otherwise. True: it was there.
  bool Take(std::string_view key, std::string& value);
  bool Take(std::string_view key, bool& value);
  bool Take(std::string_view key, std::optional<bool>& value);
  bool Take(std::string_view key, std::vector<std::string>& value);

  struct Range {
    std::uint64_t least = 1, most = 1;
  };
  bool Take(std::string_view key, Range range, std::uint64_t& value);
  bool Take(std::string_view key, Range range, std::optional<std::uint64_t>& value);

  /// Reads the object behind `key`, if there is one.
  void Enter(std::string_view key, const std::function<void(JsonReader&)>& read);
  /// Reads every object in the list behind `key`.
  void EnterEach(std::string_view key, const std::function<void(JsonReader&)>& read);

  void Complain(std::string_view key, std::string what, std::string hint);
  Problem At(std::string_view key, std::string what, std::string hint) const;
  /// What was there and nobody took.
  void NoteUnknown(std::vector<Problem>& notes) const;
  /// "security.network" for a key of this object.
  std::string FullName(std::string_view key) const;

 private:
  const boost::json::value* Find(std::string_view key);
  std::optional<std::uint64_t> Number(std::string_view key, Range range, bool& there);
  void Wrong(std::string_view key, std::string_view expected);

  std::string_view text_;
  const boost::json::object& object_;
  std::vector<Problem>& problems_;
  std::vector<std::string> path_;
  std::vector<std::string> asked_ = {};  ///< keys as their owner spells them
};

/// One JSON object and nothing behind it; the problem says where the text is wrong.
std::expected<boost::json::object, Problem> ParseJsonObject(std::string_view text);

}  // namespace igloo::config

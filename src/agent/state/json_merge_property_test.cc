// Over many made-up files: what must hold for every three-way merge, seen by a parser that we did
// not write.

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <random>

#include "agent/state/json_merge.h"

namespace igloo::agent {
namespace {

namespace json = boost::json;

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  unsigned Below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }

  json::value Value(int depth) {
    switch (Below(depth > 0 ? 6 : 4)) {
      case 0:
        return static_cast<std::int64_t>(Below(3));
      case 1:
        return json::value(json::string(std::string("s\"\xc3\xa9/") + std::to_string(Below(3))));
      case 2:
        return nullptr;
      case 3:
        return Below(2) == 0;
      case 4: {
        json::array items;
        for (unsigned i = Below(3); i > 0; --i) items.push_back(Value(depth - 1));
        return items;
      }
      default:
        return Object(depth - 1);
    }
  }

  json::object Object(int depth) {
    json::object object;
    for (unsigned i = Below(5); i > 0; --i) object[Key()] = Value(depth);
    return object;
  }

  /// Changes some keys of those that `mine` allows, on any level.
  void Change(json::object& object, const std::function<bool(const std::string&)>& mine,
              const std::string& path = "") {
    std::vector<std::string> keys;
    for (const auto& member : object) keys.emplace_back(member.key());
    for (const std::string& key : keys) {
      const std::string place = path + "/" + key;
      if (object[key].is_object() && Below(2) == 0) {
        Change(object[key].as_object(), mine, place);
      } else if (mine(place) && Below(3) == 0) {
        if (Below(3) == 0) {
          object.erase(key);
        } else {
          object[key] = Value(1);
        }
      }
    }
    const std::string added = Key();
    if (Below(2) == 0 && mine(path + "/" + added)) object[added] = Value(2);
  }

  std::string Write(const json::object& object) {
    if (Below(2) == 0) return json::serialize(object);
    std::string out = "{";
    for (const auto& member : object) {
      if (out.size() > 1) out += ",";
      out += "\n  " + json::serialize(member.key()) + ": " + json::serialize(member.value());
    }
    return out + "\n}\n";
  }

 private:
  std::string Key() { return std::string("k~/") + std::to_string(Below(6)); }
  std::mt19937 random_;
};

MergedJson Merge(const std::string& base, const std::string& host, const std::string& box) {
  auto merged = MergeJson({.file = "f", .base = base, .host = host, .box = box});
  EXPECT_TRUE(merged) << merged.error().what << "\n" << base << host << box;
  return merged.value_or(MergedJson{"{}"});
}

TEST(MergeJsonProperty, WithASideThatChangedNothingItIsTheOtherSide) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    Maker maker(seed);
    const json::object base = maker.Object(3), other = maker.Object(3);
    const std::string text = maker.Write(base), changed = maker.Write(other);
    EXPECT_EQ(Merge(text, changed, maker.Write(base)).text, changed);
    const auto taken = Merge(text, text, changed);
    EXPECT_EQ(json::parse(taken.text), json::value(other)) << text << changed;
    EXPECT_TRUE(taken.conflicts.empty());
  }
}

TEST(MergeJsonProperty, DisjointChangesMergeTheSameFromBothSides) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    Maker maker(seed);
    const json::object base = maker.Object(3);
    json::object host = base, box = base;
    // By the first key of a path: a change above takes what is below along.
    const auto of = [](std::size_t rest) {
      return [rest](const std::string& path) {
        return std::hash<std::string>()(path.substr(0, 5)) % 2 == rest;
      };
    };
    maker.Change(host, of(0));
    maker.Change(box, of(1));
    const std::string b = maker.Write(base), h = maker.Write(host), x = maker.Write(box);
    const auto one = Merge(b, h, x), other = Merge(b, x, h);
    EXPECT_EQ(json::parse(one.text), json::parse(other.text)) << b << h << x;
    EXPECT_TRUE(one.conflicts.empty() && other.conflicts.empty()) << b << h << x;
  }
}

TEST(MergeJsonProperty, MergingTwiceIsMergingOnce) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    Maker maker(seed);
    const auto any = [](const std::string&) { return true; };
    json::object base = maker.Object(3), host = base, box = base;
    maker.Change(host, any);
    maker.Change(box, any);
    const std::string b = maker.Write(base), h = maker.Write(host), x = maker.Write(box);
    const auto once = Merge(b, h, x);
    const auto twice = Merge(b, once.text, x);
    EXPECT_EQ(twice.text, once.text) << b << h << x;
    EXPECT_EQ(twice.conflicts, once.conflicts);
  }
}

TEST(MergeJsonProperty, BrokenTextsAreRefusedAndNeverCrash) {
  std::mt19937 random(7);
  constexpr std::string_view kBytes = "{}[]\",:\\ \n019.eE+-tfnul/*\x01\xc3\xa9";
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Maker maker(seed);
    std::string text = maker.Write(maker.Object(3));
    const std::size_t at = random() % text.size();
    text[at] = kBytes[random() % kBytes.size()];
    const auto merged = MergeJson({.file = "f", .base = "{}", .host = "{}", .box = text});
    boost::system::error_code failure;
    const json::value value = json::parse(text, failure);
    // Ours refuses more: keys that stand twice.
    if (merged) {
      EXPECT_FALSE(failure) << text;
      EXPECT_EQ(json::parse(merged->text), value) << text;
    }
  }
}

}  // namespace
}  // namespace igloo::agent

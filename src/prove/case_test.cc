#include "prove/case.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace igloo::prove {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

TEST(Cases, EachHasANameOfItsOwnAndWordsForPeople) {
  std::set<std::string> names;
  for (const Case& each : AllCases()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_THAT(each.text, Not(IsEmpty())) << each.name;
    EXPECT_LE(each.text.size(), 70U) << "a column of the table: " << each.name;
    EXPECT_THAT(each.attack, Not(IsEmpty())) << each.name;
  }
}

TEST(Cases, EachBelongsToAPromiseAndEachPromiseHasSome) {
  const std::vector<Case> all = AllCases();
  for (const Case& each : all) {
    EXPECT_TRUE(std::ranges::any_of(Promises(), [&](const Promise& promise) {
      return promise.id == each.promise;
    })) << each.name;
  }
  for (const Promise& promise : Promises()) {
    EXPECT_TRUE(std::ranges::any_of(
        all, [&](const Case& each) { return each.promise == promise.id && each.needs == nullptr; }))
        << promise.id << " is promised by every wall";
  }
}

/// Its words travel with zero bytes between them, and an empty one ends an attack.
TEST(Cases, WordsAreNeverEmpty) {
  for (const Case& each : AllCases()) {
    for (const std::string& word : each.attack) {
      EXPECT_THAT(word, Not(IsEmpty())) << each.name;
      EXPECT_FALSE(word.contains('\0')) << each.name;
    }
  }
}

TEST(Cases, AControlThatIsWeakenedGrantsSomething) {
  for (const Case& each : AllCases()) {
    EXPECT_EQ(each.control == Control::kWeakened, each.weaken != nullptr) << each.name;
  }
}

}  // namespace
}  // namespace igloo::prove

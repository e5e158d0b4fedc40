#include "environment/record_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::environment {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(RecordJson, TakesWhatIsOfItsKind) {
  const auto object =
      ObjectOf(R"({"text":"a","texts":["a",1,"b"],"number":3,"flag":true,"object":{"text":"c"}})");
  ASSERT_TRUE(object);
  EXPECT_EQ(TextAt(*object, "text"), "a");
  EXPECT_THAT(TextsAt(*object, "texts"), ElementsAre("a", "b"));
  EXPECT_EQ(NumberAt(*object, "number"), 3U);
  EXPECT_TRUE(FlagAt(*object, "flag"));
  ASSERT_NE(ObjectAt(*object, "object"), nullptr);
  EXPECT_EQ(TextAt(*ObjectAt(*object, "object"), "text"), "c");
}

TEST(RecordJson, AnythingElseIsAsGoodAsNothing) {
  const auto object = ObjectOf(R"({"a":[],"b":-1,"c":1.5,"d":null})");
  ASSERT_TRUE(object);
  for (const char* key : {"a", "b", "c", "d", "missing"}) {
    EXPECT_EQ(TextAt(*object, key), "") << key;
    EXPECT_THAT(TextsAt(*object, key), IsEmpty()) << key;
    EXPECT_EQ(NumberAt(*object, key), 0U) << key;
    EXPECT_FALSE(FlagAt(*object, key)) << key;
    EXPECT_EQ(ObjectAt(*object, key), nullptr) << key;
  }
  for (const char* text : {"", "[]", "{", "null", "{} {}"}) EXPECT_FALSE(ObjectOf(text)) << text;
}

TEST(RecordJson, NothingIsLargerThanItCouldBe) {
  const std::string fits(64U << 10, 'x');
  boost::json::object object{{"fits", fits}, {"long", fits + "x"}};
  EXPECT_EQ(TextAt(object, "fits"), fits);
  EXPECT_EQ(TextAt(object, "long"), "");
  object["many"] = boost::json::array(2000, "x");
  EXPECT_THAT(TextsAt(object, "many"), SizeIs(1024));
  EXPECT_FALSE(ObjectOf("{}" + std::string(4U << 20, ' ')));
}

}  // namespace
}  // namespace igloo::environment

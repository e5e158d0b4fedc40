#include "environment/conveniences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::environment {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(ConveniencesOfTest, KnowsWhatHasSome) {
  for (const char* language : {"python", "node"}) {
    const Conveniences* conveniences = ConveniencesOf({.language = language});
    ASSERT_NE(conveniences, nullptr) << language;
    for (const Conveniences::File& file : conveniences->Files()) {
      EXPECT_TRUE(file.text.ends_with('\n')) << file.name;
    }
    EXPECT_EQ(ConveniencesOf({.language = language, .conveniences = false}), nullptr);
  }
  for (const char* language : {"bash", "ruby", ""}) {
    EXPECT_EQ(ConveniencesOf({.language = language}), nullptr) << language;
  }
}

TEST(AddVariablesTest, LeavesWhatOthersHaveThere) {
  std::map<std::string, std::string> variables = {{"PYTHONPATH", "/mine"}, {"MPLBACKEND", "svg"}};
  AddVariables(*ConveniencesOf({.language = "python"}), variables);
  EXPECT_THAT(variables,
              ElementsAre(Pair("MPLBACKEND", "svg"), Pair("PYTHONPATH", "/run/igloo/.python:/mine"),
                          Pair("PYTHONUNBUFFERED", "1")));
  variables = {{"PYTHONPATH", ""}};
  AddVariables(*ConveniencesOf({.language = "python"}), variables);
  EXPECT_EQ(variables["PYTHONPATH"], "/run/igloo/.python");
  variables = {{"NODE_OPTIONS", "--no-warnings"}};
  AddVariables(*ConveniencesOf({.language = "node"}), variables);
  EXPECT_EQ(variables["NODE_OPTIONS"], "--require=/run/igloo/.node/igloo.js --no-warnings");
}

}  // namespace
}  // namespace igloo::environment

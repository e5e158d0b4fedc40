#include "environment/conveniences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::environment {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(FindConveniencesTest, KnowsWhatHasSome) {
  for (const char* language : {"python", "node"}) {
    const Conveniences* conveniences = FindConveniences(language);
    ASSERT_NE(conveniences, nullptr) << language;
    for (const Conveniences::File& file : conveniences->Files()) {
      EXPECT_TRUE(file.text.ends_with('\n')) << file.name;
    }
  }
  EXPECT_EQ(FindConveniences("bash"), nullptr);
  EXPECT_EQ(FindConveniences(""), nullptr);
}

TEST(AddVariablesTest, LeavesWhatOthersHaveThere) {
  std::map<std::string, std::string> variables = {{"PYTHONPATH", "/mine"}, {"MPLBACKEND", "svg"}};
  AddVariables(*FindConveniences("python"), variables);
  EXPECT_THAT(variables,
              ElementsAre(Pair("MPLBACKEND", "svg"), Pair("PYTHONPATH", "/run/igloo/.python:/mine"),
                          Pair("PYTHONUNBUFFERED", "1")));
  variables = {{"PYTHONPATH", ""}};
  AddVariables(*FindConveniences("python"), variables);
  EXPECT_EQ(variables["PYTHONPATH"], "/run/igloo/.python");
  variables = {{"NODE_OPTIONS", "--no-warnings"}};
  AddVariables(*FindConveniences("node"), variables);
  EXPECT_EQ(variables["NODE_OPTIONS"], "--require=/run/igloo/.node/igloo.js --no-warnings");
}

}  // namespace
}  // namespace igloo::environment

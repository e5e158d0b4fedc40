#include "environment/names.h"

#include <gtest/gtest.h>

#include <string>

namespace igloo::environment {
namespace {

TEST(Names, OfEnvironmentsNeedNoQuotes) {
  for (const char* name : {"python", "a", "7z", "_private", "node-22", "my.env_2"}) {
    EXPECT_TRUE(IsName(name)) << name;
  }
  for (const char* name : {"", "-rf", ".hidden", "..", "a b", "a/b", "caf\xc3\xa9", "a\n"}) {
    EXPECT_FALSE(IsName(name)) << name;
  }
  EXPECT_TRUE(IsName(std::string(64, 'a')));
  EXPECT_FALSE(IsName(std::string(65, 'a')));
}

TEST(Names, OfVariablesAreThoseOfShells) {
  for (const char* name : {"PATH", "_", "a1"}) EXPECT_TRUE(IsVariableName(name)) << name;
  for (const char* name : {"", "1a", "A=B", "A-B", "A.B", " A"}) {
    EXPECT_FALSE(IsVariableName(name)) << name;
  }
  EXPECT_TRUE(IsVariableName(std::string(256, 'A')));
  EXPECT_FALSE(IsVariableName(std::string(257, 'A')));
}

}  // namespace
}  // namespace igloo::environment

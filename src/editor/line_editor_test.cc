#include "editor/line_editor.h"

#include <gmock/gmock.h>

namespace igloo::editor {
namespace {

TEST(LineEditorTest, WordsShareTheirBeginning) {
  EXPECT_EQ(CommonBeginning({}), "");
  EXPECT_EQ(CommonBeginning({"one"}), "one");
  EXPECT_EQ(CommonBeginning({"print", "property", "pr"}), "pr");
  EXPECT_EQ(CommonBeginning({"a", "b"}), "");
  EXPECT_EQ(CommonBeginning({"\xc3\xa4", "\xc3\xb6"}), "") << "no character is cut in two";
}

}  // namespace
}  // namespace igloo::editor

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/driven.h"

namespace igloo::language {
namespace {

using igloo::testing::Driven;
using igloo::testing::DrivenPart;
using igloo::testing::DrivenRun;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

auto PartWith(const char* type, const auto& data, const char* encoding) {
  return AllOf(Field(&DrivenPart::type, type), Field(&DrivenPart::data, data),
               Field(&DrivenPart::encoding, encoding));
}

auto Png() { return PartWith("image/png", StartsWith("iVBORw0KGgo"), "base64"); }

class PythonRichDriver : public ::testing::Test {
 protected:
  Driven driven_ = Driven("python");
};

TEST_F(PythonRichDriver, SendsEveryFormThatAnObjectHas) {
  const DrivenRun run = driven_.Run(
      "class P:\n  def _repr_png_(self): return b'png'\n  def _repr_jpeg_(self): return 'anBn', "
      "{}\n"
      "  def _repr_html_(self): return '<b>'\n  def _repr_json_(self): return {'a': 1}\n"
      "  def __repr__(self): return 'P'\nP()");
  EXPECT_EQ(run.value, "P");
  EXPECT_THAT(run.parts, ElementsAre(PartWith("image/png", "cG5n", "base64"),
                                     PartWith("image/jpeg", "anBn", "base64"),
                                     PartWith("text/html", "<b>", "utf-8"),
                                     PartWith("application/json", "{\"a\": 1}", "utf-8")));
  EXPECT_THAT(driven_.Run("P()", "-").parts, IsEmpty());
  EXPECT_THAT(driven_.Run("display(P()); 1", "-").parts, ::testing::SizeIs(4));
}

TEST_F(PythonRichDriver, SendsLargePartsInPieces) {
  // Driven refuses a message of more than 1 MB.
  const DrivenRun run = driven_.Run(
      "class P:\n  def __init__(self, data): self.data = data\n"
      "  def _repr_png_(self): return self.data\n"
      "class H(P):\n  _repr_png_ = None\n  def _repr_html_(self): return self.data\n"
      "display(P(bytes(range(256)) * 20000))\n"
      "display(H(('x' * 131071 + '\\U0001f600\\1\"') * 8))\n"
      "display(H('y' * 131072)); display(H(''))",
      "-");
  ASSERT_EQ(run.parts.size(), 4U) << run.err;
  EXPECT_EQ(run.parts[0].data.size(), 20000U * 256 / 3 * 4 + 4);
  std::string expected;
  for (int i = 0; i < 8; ++i) expected += std::string(131071, 'x') + "\U0001f600\1\"";
  EXPECT_TRUE(run.parts[1].data == expected);
  EXPECT_EQ(run.parts[2].data, std::string(131072, 'y'));
  EXPECT_EQ(run.parts[3].data, "");
}

TEST_F(PythonRichDriver, IsNotFooledByObjectsThatHaveEveryAttribute) {
  const DrivenRun run = driven_.Run("from unittest.mock import MagicMock\nMagicMock()");
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.parts, IsEmpty());
}

TEST_F(PythonRichDriver, SurvivesAFormThatFails) {
  const DrivenRun run = driven_.Run(
      "class P:\n  def _repr_html_(self): raise KeyError(1)\n  def __repr__(self): return "
      "'P'\nP()");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.value, "P");
  EXPECT_THAT(run.err, HasSubstr("KeyError: 1"));
}

TEST_F(PythonRichDriver, LeavesOutPartsThatAreTooLarge) {
  const DrivenRun run = driven_.Run("class P:\n  def _repr_png_(self): return b'x' * 9000000\nP()");
  EXPECT_THAT(run.parts, ElementsAre(PartWith("text/plain", HasSubstr("left out"), "utf-8")));
}

TEST_F(PythonRichDriver, SendsFiguresOnShowAndAtTheEnd) {
  DrivenRun run =
      driven_.Run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nprint('shown')");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "shown\n");
  EXPECT_THAT(run.parts, ElementsAre(Png()));  // once: not again at the end
  run = driven_.Run("figure, axes = plt.subplots()\naxes.plot([1])\nplt.figure();", "-");
  EXPECT_THAT(run.parts, ElementsAre(Png(), Png()));
  EXPECT_THAT(driven_.Run("plt.plot([1])\nplt.close()").parts, IsEmpty());
  EXPECT_THAT(driven_.Run("figure").parts, ElementsAre(Png()));
  EXPECT_THAT(driven_.Run("1").parts, IsEmpty());
}

TEST_F(PythonRichDriver, SendsImages) {
  const DrivenRun run =
      driven_.Run("from PIL import Image\nimage = Image.new('RGB', (2, 2))\nimage.show()");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.parts, ElementsAre(Png()));
  EXPECT_THAT(driven_.Run("image").parts, ElementsAre(Png()));
}

TEST_F(PythonRichDriver, SendsTables) {
  const DrivenRun run = driven_.Run("import pandas\npandas.DataFrame({'name': ['x']})");
  EXPECT_EQ(run.value, "  name\n0    x");
  EXPECT_THAT(run.parts, ElementsAre(PartWith("text/html", HasSubstr("<td>x</td>"), "utf-8")));
}

}  // namespace
}  // namespace igloo::language

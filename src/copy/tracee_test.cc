#include "copy/tracee.h"

#include <gtest/gtest.h>
#include <sys/types.h>

namespace igloo::copy {
namespace {

constexpr pid_t kNobody = 1 << 30;  // above every pid

#ifdef __x86_64__
TEST(TraceeTest, AProcessThatIsNotThereCannotBeHeld) {
  EXPECT_FALSE(Tracee::Hold(kNobody));
  EXPECT_FALSE(NextFork::Expect(kNobody));
}
#else
TEST(TraceeTest, SaysThatSessionsCannotBeForkedHere) {
  for (const Error& error : {Tracee::Hold(kNobody).error(), NextFork::Expect(kNobody).error()}) {
    EXPECT_EQ(error.what, "sessions can be forked on x86_64 only");
    EXPECT_EQ(error.hint, "begin another session and run the same code there");
  }
}
#endif

}  // namespace
}  // namespace igloo::copy

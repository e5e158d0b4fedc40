// P7: memory in the buffers of sockets counts like any other.
#include <boost/json/parse.hpp>

#include "attack_case.h"
#include "base/spawn.h"

namespace igloo::testing {
namespace {

struct Amount {
  std::string kind;
  std::string megabytes;
};

void PrintTo(const Amount& amount, std::ostream* out) {
  *out << amount.megabytes << " MB in " << amount.kind;
}

/// Of connections that were reset and sockets that are under way less can be had.
const Amount kAmounts[] = {{"stream", "256"}, {"datagrams", "256"}, {"closed", "256"},
                           {"tcp", "256"},    {"udp", "256"},       {"reset", "128"},
                           {"flight", "90"}};

class SocketMemory : public ::testing::TestWithParam<std::tuple<Amount, Wall>> {};

void LimitMemory(sandbox::Policy& policy) { policy.limits.memory_bytes = 64U << 20; }
void DoNotLimitMemory(sandbox::Policy& policy) { policy.limits.memory_bytes = 0; }

TEST_P(SocketMemory, IsCountedByInit) {
  const auto& [amount, wall] = GetParam();
  const Scene scene;
  const std::vector<std::string> words = {"fill-sockets", amount.kind, amount.megabytes};
  const Outcome behind = AttackBehind(wall, scene, words, LimitMemory);
  EXPECT_EQ(behind.status, 137) << "not ended for its memory: " << behind.err;
  const Outcome control = AttackBehind(wall, scene, words, DoNotLimitMemory);
  EXPECT_EQ(control.status, kLeaked) << "control: without a limit it is to be had: " << control.err;
}

std::string NameOf(const ::testing::TestParamInfo<std::tuple<Amount, Wall>>& info) {
  return std::get<0>(info.param).kind + "_" + Name(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Walls, SocketMemory,
                         ::testing::Combine(::testing::ValuesIn(kAmounts), EveryWall()), NameOf);

class CountedSocketMemory : public ::testing::TestWithParam<Wall> {};

/// The same where igloo has a cgroup (as root here), and the verdict that it gives.
TEST_P(CountedSocketMemory, EndsTheRunWithTheVerdictMemory) {
  const Scene scene;
  for (const char* kind : {"stream", "tcp"}) {
    auto args = IglooArguments(GetParam(), scene, {"fill-sockets", kind, "256"});
    args.insert(args.end(), {"--json", "--memory", "64"});
    const Outcome behind = RunProgram({.program = BinDirectory() + "/igloo", .args = args});
    ASSERT_FALSE(behind.out.empty()) << behind.err;
    EXPECT_EQ(boost::json::parse(behind.out).at("verdict").as_string(), "memory") << behind.out;
    args.back() = "2000";
    const Outcome control = RunProgram({.program = BinDirectory() + "/igloo", .args = args});
    EXPECT_EQ(boost::json::parse(control.out).at("exit_code").as_int64(), kLeaked)
        << "control: so much is to be had: " << control.out;
  }
}

INSTANTIATE_TEST_SUITE_P(Walls, CountedSocketMemory, EveryBackend(), WallName);

/// Sockets that hold nothing cost nothing.
TEST(IdleSockets, AreNotTakenForMemory) {
  const Scene scene;
  const Outcome behind =
      AttackBehind(Wall::kJail, scene, {"fill-sockets", "stream", "16"}, LimitMemory);
  EXPECT_EQ(behind.status, kLeaked) << "a quarter of the limit was refused: " << behind.err;
}

}  // namespace
}  // namespace igloo::testing

#include "backend/microvm/emulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

namespace igloo::backend::microvm {
namespace {

using sandbox::Access;
using sandbox::HostTree;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kMegabyte = 1ULL << 20;

Division Sample() {
  Division division;
  division.outside = {
      HostTree{.source = "/usr", .target = "/host/usr"},
      HostTree{.source = "/home/ada/x", .target = "/shares/0", .access = Access::kReadWrite}};
  division.shares = {{"host", "/host", false}, {"share0", "/shares/0", true}};
  division.memory_bytes = 832 * kMegabyte;
  division.processors = 2;
  return division;
}

Parts SampleParts() {
  return {.emulator = "/usr/bin/qemu-system-x86_64",
          .relay = "/lib/igloo-machine",
          .kernel = "/boot/vmlinuz-6",
          .first_root = "archive"};
}

std::string Joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += word + " ";
  return all;
}

TEST(EmulatorWords, HaveThePlansSizeAndNothingThatNobodyNamed) {
  const auto words = EmulatorWords(Sample(), SampleParts(), 0);
  const std::string all = Joined(words);
  EXPECT_THAT(all, AllOf(HasSubstr("-m 832M"), HasSubstr("-smp 2"), HasSubstr("-nodefaults"),
                         HasSubstr("-no-user-config"), HasSubstr("-no-reboot")));
  EXPECT_THAT(words, Not(Contains("-netdev")));
  EXPECT_THAT(words, Not(Contains("-nic")));
  EXPECT_THAT(all, Not(HasSubstr("virtio-net"))) << "without -nodefaults one would be there";
  EXPECT_THAT(all, Not(HasSubstr("/home/ada"))) << "no path of the host's";
}

TEST(EmulatorWords, AReadOnlyShareIsSoOnTheHostsSide) {
  const auto words = EmulatorWords(Sample(), SampleParts(), 0);
  EXPECT_THAT(words, Contains(AllOf(HasSubstr("id=host,path=/host"), HasSubstr("readonly=on"))));
  EXPECT_THAT(words,
              Contains(AllOf(HasSubstr("id=share0,path=/shares/0"), Not(HasSubstr("readonly")))));
}

TEST(EmulatorWords, EachDescriptorHasAPort) {
  const auto count = [](std::size_t extra) {
    const auto words = EmulatorWords(Sample(), SampleParts(), extra);
    return std::ranges::count_if(
        words, [](const std::string& word) { return word.starts_with("virtserialport,"); });
  };
  EXPECT_EQ(count(0), 5);
  EXPECT_EQ(count(3), 8);
}

TEST(AroundEmulator, IsAPlanWithoutNetworkOrRights) {
  Division division = Sample();
  const sandbox::Policy policy = AroundEmulator(division, SampleParts(), 2);
  sandbox::HostFacts facts;
  for (const std::string& source : sandbox::SourcesOf(policy)) {
    const bool file = source == "/lib/igloo-machine" || source == "/boot/vmlinuz-6";
    const std::uint32_t kind = source.starts_with("/dev/") ? S_IFCHR : file ? S_IFREG : S_IFDIR;
    facts[source] = sandbox::PathFact{.type = kind};
  }
  const auto plan = sandbox::MakePlan(policy, facts);
  ASSERT_TRUE(plan) << plan.error().what;
  const std::string text = sandbox::Describe(*plan);
  EXPECT_TRUE(std::holds_alternative<sandbox::NoNetwork>(plan->network));
  EXPECT_EQ(plan->payload.extra_descriptors, 4U) << "two of the relay's own";
  EXPECT_EQ(plan->payload.seccomp, sandbox::Seccomp::kDefault);
  EXPECT_THAT(text, Not(HasSubstr("/dev/kvm")));
  ASSERT_GT(plan->payload.argv.size(), 3U);
  EXPECT_EQ(plan->payload.argv[0], "/igloo/machine");
  EXPECT_EQ(plan->payload.argv[1], "2");
  EXPECT_EQ(plan->payload.argv[2], "/usr/bin/qemu-system-x86_64");
}

}  // namespace
}  // namespace igloo::backend::microvm

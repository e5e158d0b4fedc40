#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

// IGLOO_FUZZ_TARGETS(X) is X(name) for each fuzz target of this folder. Each is compiled with a
// name of its own instead of LLVMFuzzerTestOneInput.
#include "fuzz_targets.h"

#define IGLOO_DECLARE(name) extern "C" int Fuzz_##name(const std::uint8_t* bytes, std::size_t size);
IGLOO_FUZZ_TARGETS(IGLOO_DECLARE)

namespace igloo::testing {
namespace {

struct Target {
  std::string_view name;
  int (*run)(const std::uint8_t* bytes, std::size_t size);
};
#define IGLOO_ROW(name) {#name, Fuzz_##name},
constexpr Target kTargets[] = {IGLOO_FUZZ_TARGETS(IGLOO_ROW)};

void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

/// Every seed of every target: what one decoder knows is nonsense to another.
std::vector<std::string> Seeds() {
  std::vector<std::string> seeds = {""};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(IGLOO_FUZZ_SEEDS)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  std::ranges::sort(seeds);
  return seeds;
}

/// Changes some bytes, cuts, or doubles a part. The same for the same numbers.
std::string Mutate(std::string bytes, std::minstd_rand& random) {
  if (bytes.empty()) return std::string(1 + random() % 16, static_cast<char>(random()));
  switch (random() % 4) {
    case 0:
      bytes.resize(random() % bytes.size());
      break;
    case 1: {
      const std::size_t from = random() % bytes.size(), to = random() % bytes.size();
      bytes.insert(to, bytes.substr(from, 64));
      break;
    }
    default:
      for (std::size_t i = 1 + random() % 4; i > 0; --i) {
        bytes[random() % bytes.size()] = static_cast<char>(random());
      }
  }
  return bytes;
}

class Corpus : public ::testing::TestWithParam<Target> {};

/// A target that is not satisfied ends the program.
TEST_P(Corpus, HoldsForItsSeedsAndTheirNeighbours) {
  constexpr int kNeighbours = 100;
  const std::vector<std::string> seeds = Seeds();
  ASSERT_GT(seeds.size(), 20U) << "no seeds in " << IGLOO_FUZZ_SEEDS;
  const auto run = [](const std::string& bytes) {
    // In memory of its own size, so that a byte too many is noticed.
    const auto exact = std::make_unique<std::uint8_t[]>(bytes.size());
    std::ranges::copy(bytes, exact.get());
    GetParam().run(exact.get(), bytes.size());
  };
  for (const std::string& seed : seeds) {
    run(seed);
    std::minstd_rand random(
        20);  // for each anew, so that one more seed changes no other's neighbours
    for (int i = 0; i < kNeighbours; ++i) run(Mutate(seed, random));
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Corpus, ::testing::ValuesIn(kTargets),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace igloo::testing

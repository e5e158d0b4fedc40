#include "bench/goals.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace igloo::bench {
namespace {

Candidate Measured(std::string key, std::initializer_list<double> micros) {
  Candidate candidate{.key = std::move(key)};
  for (const double each : micros) candidate.samples.Add(each);
  return candidate;
}

const Judgement& Of(const std::vector<Judgement>& all, std::string_view text) {
  return *std::ranges::find(all, text, &Judgement::text);
}

TEST(Judge, ComparesRatiosOfOneRunWithTheirBars) {
  const auto all =
      Judge({Measured("T", {100}), Measured("version", {140}), Measured("env_list", {301}),
             Measured("bwrap_100", {3000}), Measured("prepared_100", {200})},
            {});
  EXPECT_TRUE(Of(all, "igloo --version, in T").met());
  EXPECT_DOUBLE_EQ(*Of(all, "igloo --version, in T").ratio, 1.4);
  EXPECT_FALSE(Of(all, "igloo env list, in T").met());
  EXPECT_TRUE(Of(all, "100 store paths, faster than bwrap").met());
}

TEST(Judge, WhatWasNotMeasuredIsNeverMet) {
  for (const Judgement& each : Judge({}, {})) {
    EXPECT_FALSE(each.ratio) << each.text;
    EXPECT_FALSE(each.met()) << each.text;
  }
}

TEST(Judge, ATailIsComparedWithItsOwnMedian) {
  const auto all = Judge({Measured("one_shot", {10, 10, 10, 200})}, {});
  EXPECT_DOUBLE_EQ(*Of(all, "one shot, p99 of its p50").ratio, 20);
  EXPECT_FALSE(Of(all, "one shot, p99 of its p50").met());
}

TEST(Judge, TheServersOwnFiguresHaveBarsOfTheirOwn) {
  const std::vector<Figure> figures = {
      {"a", "memory, MiB", 9, 8}, {"b", "refused", 0, 0}, {"c", "c", 1}};
  const auto all = Judge(
      {Measured("mcp_start", {9'000}), Measured("mcp_echo", {10}), Measured("mcp_list", {31})}, {},
      figures);
  EXPECT_FALSE(Of(all, "memory, MiB").met());
  EXPECT_TRUE(Of(all, "refused").met());
  EXPECT_EQ(std::ranges::count(all, "c", &Judgement::text), 0) << "only told";
  EXPECT_TRUE(Of(all, "MCP server, to its first answer, ms").met());
  EXPECT_FALSE(Of(all, "MCP tools/list, of a bare echo").met());
}

TEST(Judge, RatesAreComparedWithThoseOfTheSameProgram) {
  const auto all = Judge({}, {Sustained{.key = "bwrap", .rates = {1000}},
                              Sustained{.key = "bwrap_python", .rates = {50}},
                              Sustained{.key = "ready_python", .rates = {300}}});
  EXPECT_DOUBLE_EQ(*Of(all, "sustained ready Python, runs of bwrap").ratio, 6);
  EXPECT_TRUE(Of(all, "sustained ready Python, runs of bwrap").met());
  EXPECT_FALSE(Of(all, "sustained launcher, runs of bwrap").ratio);
}

TEST(Judge, ASinkingRateIsAMiss) {
  const auto all = Judge({}, {Sustained{.key = "one_shot", .rates = {100, 90, 50}}});
  EXPECT_FALSE(Of(all, "sustained one shot, last window of first").met());
}

}  // namespace
}  // namespace igloo::bench

#pragma once

#include <utility>

namespace igloo {

/// Runs a function when the scope is left.
template <class F>
class ScopeExit {
 public:
  explicit ScopeExit(F function) : function_(std::move(function)) {}
  ScopeExit(const ScopeExit&) = delete;
  ScopeExit& operator=(const ScopeExit&) = delete;
  ~ScopeExit() { function_(); }

 private:
  F function_;
};

}  // namespace igloo

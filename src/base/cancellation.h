#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace igloo {

/// Says that nobody waits for a call's result any more. Copies mean the same call. One thread.
class Cancellation {
  struct State {
    bool requested = false;
    std::uint64_t next = 0;
    std::map<std::uint64_t, std::function<void()>> hooks = {};
  };

 public:
  /// Keeps a hook in place for as long as it lives.
  class Hook {
   public:
    Hook() = default;
    Hook(std::weak_ptr<State> state, std::uint64_t key) : state_(std::move(state)), key_(key) {}
    Hook(Hook&& other) noexcept : state_(std::exchange(other.state_, {})), key_(other.key_) {}
    Hook& operator=(Hook&& other) noexcept {
      std::swap(state_, other.state_);
      std::swap(key_, other.key_);
      return *this;
    }
    ~Hook() {
      if (const auto state = state_.lock()) state->hooks.erase(key_);
    }

   private:
    std::weak_ptr<State> state_ = {};
    std::uint64_t key_ = 0;
  };

  bool requested() const { return state_->requested; }

  /// `action` runs once, when the call is cancelled; at once if it has been already. It ends what
  /// the call waits for: a timer, a run.
  [[nodiscard]] Hook OnRequest(std::function<void()> action) {
    if (state_->requested) {
      action();
      return {};
    }
    const std::uint64_t key = state_->next++;
    state_->hooks.emplace(key, std::move(action));
    return {state_, key};
  }

  void Request() {
    if (std::exchange(state_->requested, true)) return;
    // A hook may remove others, and may be the last to know this object.
    const auto state = state_;
    while (!state->hooks.empty()) {
      const auto action = std::move(state->hooks.begin()->second);
      state->hooks.erase(state->hooks.begin());
      action();
    }
  }

 private:
  std::shared_ptr<State> state_ = std::make_shared<State>();  // shared by all copies and hooks
};

}  // namespace igloo

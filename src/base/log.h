#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace igloo {

/// Where a part of a program says what its user should know. Whoever gives the sink prints, and
/// decides which levels; a Log without a sink says nothing. Copies share the sink.
class Log {
 public:
  enum class Level : std::uint8_t {
    kError,    ///< something that was asked for is not done
    kWarning,  ///< something is weaker, or works otherwise than one would expect
    kInfo,     ///< nothing is wrong
    kDebug,    ///< for whoever looks into something
  };
  using Sink = std::function<void(Level level, std::string_view text)>;

  /// Says texts of one level.
  class Line {
   public:
    Line() = default;
    Line(std::shared_ptr<const Sink> sink, Level level) : sink_(std::move(sink)), level_(level) {}
    /// Whoever has no use for levels hears texts of this line alone.
    template <std::invocable<std::string_view> Hear>
      requires(!std::same_as<std::remove_cvref_t<Hear>, Line>)
    // NOLINTNEXTLINE(google-explicit-constructor): a lambda is a line
    Line(Hear&& hear) {
      if constexpr (std::constructible_from<bool, Hear>) {
        if (!static_cast<bool>(hear)) return;  // a function that is empty
      }
      sink_ = std::make_shared<const Sink>(
          [hear = std::forward<Hear>(hear)](Level, std::string_view text) { hear(text); });
    }

    void operator()(std::string_view text) const {
      if (sink_) (*sink_)(level_, text);
    }
    /// Whether there is a sink. It may drop this level all the same.
    explicit operator bool() const { return sink_ != nullptr; }

   private:
    std::shared_ptr<const Sink> sink_ = {};  // shared with the log and its copies
    Level level_ = Level::kWarning;
  };

  Log() = default;
  explicit Log(Sink sink) : sink_(sink ? std::make_shared<const Sink>(std::move(sink)) : nullptr) {}

  /// Takes the place of a `std::function<void(std::string_view)>`, too.
  Line At(Level level) const { return {sink_, level}; }

 private:
  std::shared_ptr<const Sink> sink_ = {};  // shared with its copies and lines
};

}  // namespace igloo

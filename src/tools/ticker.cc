#include "tools/ticker.h"

#include <algorithm>

#include "mcp/pch.h"
#include "tools/clip.h"

namespace igloo::tools {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kLongestLine = 200;
constexpr auto kInterval = std::chrono::seconds(1);

}  // namespace

std::shared_ptr<Ticker> Ticker::Start(mcp::Call& call, const asio::any_io_executor& executor,
                                      std::chrono::system_clock::time_point came) {
  const auto now = std::chrono::steady_clock::now();
  // Somebody may have set the clock meanwhile.
  const auto ago = std::clamp<std::chrono::system_clock::duration>(
      std::chrono::system_clock::now() - came, {}, std::chrono::hours(24));
  auto ticker = std::make_shared<Ticker>(call, executor, now - ago);
  // Nobody asked: nothing to do once a second.
  if (call.facts().progress_token) {
    asio::co_spawn(
        executor, [ticker]() -> asio::awaitable<void> { co_await ticker->Tick(); }, asio::detached);
  }
  return ticker;
}

void Ticker::Hear(std::string_view bytes) {
  if (call_ == nullptr || !call_->facts().progress_token) return;
  if (bytes.size() >= 2 * kLongestLine) {
    recent_ = bytes.substr(bytes.size() - 2 * kLongestLine);
    return;
  }
  recent_ += bytes;
  if (recent_.size() > 2 * kLongestLine) recent_.erase(0, recent_.size() - 2 * kLongestLine);
}

std::string Ticker::LastLine() const {
  std::string_view text = recent_;
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  const std::size_t begin = text.find_last_of("\r\n");
  if (begin != std::string_view::npos) text.remove_prefix(begin + 1);
  return Clean(WholeCharacters(text, kLongestLine));
}

void Ticker::Stop() {
  call_ = nullptr;
  timer_.cancel();
}

asio::awaitable<void> Ticker::Tick() {
  while (call_ != nullptr) {
    timer_.expires_after(kInterval);
    boost::system::error_code error;
    auto token = asio::redirect_error(asio::use_awaitable, error);
    co_await timer_.async_wait(token);
    if (call_ == nullptr) co_return;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began_;
    call_->Progress(taken.count(), {}, waiting_ ? "waiting for a free place" : LastLine());
  }
}

}  // namespace igloo::tools

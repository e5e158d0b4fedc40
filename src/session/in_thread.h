#pragma once

#include <unistd.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace igloo::session {

/// Does `work`, which returns a Result<void>, on a thread of its own, for what takes longer than
/// others can wait. The thread knows nothing of the event loop, which may end before it does, so
/// the work owns everything that it uses.
template <typename Work>
boost::asio::awaitable<Result<void>> InThread(boost::asio::io_context& loop, Work work) {
  auto pipe = MakePipe();
  if (!pipe) co_return std::unexpected(std::move(pipe).error());
  const auto result = std::make_shared<Result<void>>();
  try {
    std::thread([result, work = std::move(work), end = std::move(pipe->second)]() mutable {
      *result = work();
      (void)!::write(end.get(), "x", 1);
    }).detach();
  } catch (const std::system_error& failure) {
    co_return FailSys(failure.code().value(), "cannot start a thread");
  }
  boost::asio::posix::stream_descriptor over(loop, pipe->first.Release());
  boost::system::error_code error;
  auto token = boost::asio::redirect_error(boost::asio::use_awaitable, error);
  co_await over.async_wait(boost::asio::posix::stream_descriptor::wait_read, token);
  if (error) co_return Fail(Errc::kTimeout, "the server is being ended");
  co_return *result;
}

}  // namespace igloo::session

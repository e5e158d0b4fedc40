#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "base/cancellation.h"
#include "base/error.h"
#include "prove/behind.h"
#include "prove/case.h"
#include "prove/report.h"
#include "prove/scene.h"

namespace igloo::prove {

/// Attacks where no wall stands: they must win, or what a wall holds proves nothing.
class Controls {
 public:
  /// All of these outlive it. `usual`: sandboxes of the usual wall, for controls that need one;
  /// null with the reason in `why` where there are none.
  Controls(boost::asio::io_context& loop, Scene& scene, Behind* usual, Error why,
           Cancellation cancellation)
      : loop_(loop),
        scene_(scene),
        usual_(usual),
        why_not_(std::move(why)),
        cancellation_(std::move(cancellation)) {}

  /// Fails when it is cancelled.
  boost::asio::awaitable<Result<Attempt>> Try(const Case& attack);

 private:
  boost::asio::awaitable<Attempt> TryOnHost(const Case& attack);

  boost::asio::io_context& loop_;
  Scene& scene_;
  Behind* usual_;
  Error why_not_;
  Cancellation cancellation_;
};

}  // namespace igloo::prove

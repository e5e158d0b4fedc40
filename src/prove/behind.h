#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/cancellation.h"
#include "base/error.h"
#include "cgroup/groups.h"
#include "prove/case.h"
#include "prove/report.h"
#include "prove/scene.h"
#include "session/run.h"

namespace igloo::prove {

/// Attacks from inside of sandboxes of one wall.
class Behind {
 public:
  /// Hears how many attacks have ended since it was called last.
  using Ended = std::function<void(std::size_t count)>;

  /// All of these outlive it.
  Behind(boost::asio::io_context& loop, const wall::Capabilities& can, backend::Backend& backend,
         cgroup::Groups& groups, const Scene& scene, Cancellation cancellation)
      : loop_(loop),
        can_(can),
        backend_(backend),
        groups_(groups),
        scene_(scene),
        cancellation_(std::move(cancellation)) {}

  /// Tries all of them, many in one sandbox where they do not disturb each other. What each came
  /// to, in their order. Fails when not even the first sandbox can be made, or when it is
  /// cancelled.
  boost::asio::awaitable<Result<std::vector<Attempt>>> Attack(const std::vector<Case>& cases,
                                                              Ended ended);

  /// One attack in a sandbox of its own; `weaken`: with what its control is granted.
  boost::asio::awaitable<Result<Attempt>> AttackAlone(const Case& attack, bool weaken);

 private:
  /// Indexes of cases that one sandbox can try.
  using Batch = std::vector<std::size_t>;
  static std::vector<Batch> Divide(const std::vector<Case>& cases);
  boost::asio::awaitable<Result<void>> AttackTogether(const std::vector<Case>& cases, Batch batch,
                                                      const Ended& ended,
                                                      std::vector<Attempt>& attempts);
  boost::asio::awaitable<Result<session::RunResult>> RunSandbox(const Case& shape, bool weaken,
                                                                std::vector<std::string> words,
                                                                session::RunIo io);
  boost::asio::awaitable<Attempt> Judge(const Case& attack, session::RunResult result);

  boost::asio::io_context& loop_;
  const wall::Capabilities& can_;
  backend::Backend& backend_;
  cgroup::Groups& groups_;
  const Scene& scene_;
  Cancellation cancellation_;
};

/// What an exit code of igloo-attack stands for.
Attempt AttemptOf(int exit_code, std::string_view said);

/// Of a battery's output: what its attacks came to, as far as it got.
std::vector<Attempt> ReadBattery(std::string_view output);

}  // namespace igloo::prove

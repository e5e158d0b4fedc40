#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "backend/registry.h"
#include "base/cancellation.h"
#include "base/error.h"
#include "prove/report.h"
#include "wall/walls.h"

namespace igloo::prove {

/// How far a proof is.
struct Progress {
  std::size_t done = 0, total = 0;
  std::string_view where = {};  ///< a wall's name, or "without a wall"
};

struct Options {
  backend::Programs programs = {};
  std::string attack_program = {};  ///< igloo-attack
  std::string scene_parent = {};    ///< where the scene is made
  /// The walls to try, and how they are made. Tests bring lists of their own.
  std::span<const wall::Wall> walls = wall::All();
  std::span<const backend::Factory> factories = backend::Factories();
  const wall::Wall* only = nullptr;  ///< the one that the user named; null: all that are served
  std::function<void(const Progress&)> progress = {};
};

/// Tries all attacks behind every wall, and without one. Changes habits of this process while it
/// works (scene.h), and leaves nothing behind, also when it is cancelled. Fails when it is, and
/// when no scene can be made.
boost::asio::awaitable<Result<Report>> Prove(boost::asio::io_context& loop, Options options,
                                             Cancellation cancellation);

/// A directory for the scene: TMPDIR, unless only its owner can reach what is in it and root starts
/// igloo, whose sandboxes have other ids; /tmp then.
std::string SceneParent();

}  // namespace igloo::prove

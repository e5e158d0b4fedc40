#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/box.h"
#include "watch/watch.h"

namespace igloo::cli {

/// What covers a name in a project that a box works on itself: hidden files, and files and
/// directories that are read-only because the host's programs obey them (agent/git_guards.h). The
/// host can take a cover away: if one of its programs saves such a file by renaming a new one over
/// it, as git does, the box has the new one as it is (decisions 25 and 33). Nobody outside can put
/// the cover back, so igloo notices, and says so at once.
class CoverWatch {
 public:
  enum class Cover {
    kHidden,  ///< the box can read the file now
    kGuard,   ///< the box can write to it now
  };
  using Say = std::function<void(std::string_view path, Cover cover)>;

  /// Nothing is watched for a box that works on a copy: there the covers stay.
  CoverWatch(const agent::Box& box, Say say);

  /// Owned by the loop's run from here on (RunIo::beside). Why not all of it is watched; empty: it
  /// is.
  std::string Begin(boost::asio::io_context& loop);

 private:
  struct File {
    std::string path = {};
    std::uint64_t device = 0, inode = 0;
    Cover cover = Cover::kHidden;
    bool told = false;
  };
  struct State {
    std::vector<File> files = {};
    Say say = {};
    void Look();
  };
  std::shared_ptr<State> state_;
  std::optional<watch::Watch> watch_ = {};
};

}  // namespace igloo::cli

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

/// Hidden files of a project that a box works on itself, which the host can uncover: if a program
/// saves such a file by renaming a new one over it, the kernel takes the cover away in the box
/// (decision 25). Nobody outside can put it back, so igloo notices, and says so at once.
class HiddenWatch {
 public:
  using Say = std::function<void(std::string_view path)>;

  /// Nothing is watched for a box that works on a copy: there the covers stay.
  HiddenWatch(const agent::Box& box, Say say);

  /// Owned by the loop's run from here on (RunIo::beside). Why not all of it is watched; empty: it
  /// is.
  std::string Begin(boost::asio::io_context& loop);

 private:
  struct File {
    std::string path = {};
    std::uint64_t device = 0, inode = 0;
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

#include "cli/agent/hidden_watch.h"

#include <sys/stat.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "base/error_text.h"

namespace igloo::cli {
namespace {

namespace asio = boost::asio;

}  // namespace

HiddenWatch::HiddenWatch(const agent::Box& box, Say say) : state_(std::make_shared<State>()) {
  state_->say = std::move(say);
  if (!box.changes.empty()) return;
  const auto add = [&](const std::string& top, const std::vector<sandbox::Hidden>& all) {
    for (const sandbox::Hidden& each : all) {
      state_->files.push_back(
          {.path = top + "/" + each.path, .device = each.fact.device, .inode = each.fact.inode});
    }
  };
  add(box.project, box.hidden);
  for (const agent::Mount& mount : box.mounts) {
    const auto* tree = std::get_if<sandbox::HostTree>(&mount.entry);
    if (tree != nullptr && tree->access == sandbox::Access::kReadWrite) {
      add(tree->source, tree->hidden);
    }
  }
}

void HiddenWatch::State::Look() {
  for (File& file : files) {
    struct stat info{};
    // What is only gone uncovers nothing. The box itself can neither replace nor remove it.
    if (file.told || ::lstat(file.path.c_str(), &info) != 0) continue;
    if (info.st_dev == file.device && info.st_ino == file.inode) continue;
    file.told = true;
    say(file.path);
  }
}

std::string HiddenWatch::Begin(asio::io_context& loop) {
  if (state_->files.empty()) return {};
  std::vector<watch::Watched> watched;
  for (const File& each : state_->files) watched.push_back({.path = each.path});
  auto made = watch::Watch::Make(loop, std::move(watched));
  if (!made) return InOneLine(made.error());
  watch_.emplace(*std::move(made));
  // It may have happened since the box was built.
  state_->Look();
  asio::co_spawn(
      loop,
      // The watch is closed before it goes, so that nobody waits in it any more.
      [](watch::Watch* watch, std::shared_ptr<State> state) -> asio::awaitable<void> {
        while (co_await watch->Changed()) state->Look();
      }(&*watch_, state_),
      asio::detached);
  return watch_->incomplete() ? InOneLine(*watch_->incomplete()) : std::string();
}

}  // namespace igloo::cli

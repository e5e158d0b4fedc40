// What sessions do with files: those that come with later calls, and those that clients read.

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "mcp/pch.h"
#include "session/workspace.h"
#include "tools/living.h"
#include "tools/store.h"

namespace igloo::tools {

namespace asio = boost::asio;

namespace {

/// Of all sessions together: a list must not hold the server up.
constexpr std::size_t kMostListed = 1000;

}  // namespace

asio::awaitable<Result<void>> Sessions::Prepare(Found living, const Asked& asked) {
  if (!std::exchange(living->started, true)) {
    const auto started = co_await living->resident->Start();
    if (!started) co_return std::unexpected(Forget(asked.id, living, started.error()));
    living->ready = true;
    if (const Found parent = std::exchange(living->parent, nullptr)) {
      auto copied = co_await CopyFrom(parent, living, living->stop);
      if (!copied) {
        (void)Forget(asked.id, living, copied.error());
        co_return Wrap(fmt::format("session '{}' cannot be forked", Printable(*asked.fork_of)),
                       std::move(copied).error());
      }
      // What was copied is no news.
      const std::vector<environment::GivenFile> none;
      (void)co_await ReadInSlices(living->resident->workspace(), none, parts_.left,
                                  &living->stamps);
    }
  }
  if (living->stop.requested()) co_return Fail(Errc::kTimeout, "the call was stopped");
  for (const environment::GivenFile& file : asked.files) {
    auto stamp = session::WriteBelow(living->resident->workspace(), file);
    if (!stamp) co_return std::unexpected(std::move(stamp).error());
    // As it is now it is no news; once the code has changed it, it is.
    living->stamps[file.path] = *stamp;
  }
  co_return Result<void>();
}

Result<mcp::ResourceContents> Sessions::Read(const SessionFile& file) const {
  IGLOO_ASSIGN(const Found living, Known(file.session));
  if (!living->ready) return Fail(Errc::kNotFound, "the session has not begun yet");
  IGLOO_ASSIGN(std::string bytes, session::ReadBelow(living->resident->workspace(), file.path,
                                                     parts_.left.file_bytes));
  std::string type = MimeTypeOf(file.path, bytes, session::IsPlainText(bytes));
  return ContentsOf(UriOf(file), std::move(type), std::move(bytes));
}

std::vector<mcp::Resource> Sessions::Files() const {
  std::vector<mcp::Resource> list;
  std::size_t looked = 0;
  for (const auto& [id, living] : sessions_) {
    if (!living->ready) continue;
    for (const auto& [path, stamp] : living->stamps) {
      if (++looked > kMostListed) return list;
      const auto size = session::SizeBelow(living->resident->workspace(), path);
      if (!size) continue;
      list.push_back({.uri = UriOf({.session = id, .path = path}),
                      .name = Quoted(ToUtf8(path)),
                      .description = "in session " + Quoted(id),
                      .size = *size});
    }
  }
  return list;
}

}  // namespace igloo::tools

// What sessions do with files: those that come with later calls, and those that clients read.

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "service/resource.h"
#include "service/session_entry.h"
#include "session/asio.h"
#include "session/files/workspace.h"

namespace igloo::service {

namespace asio = boost::asio;

namespace {

/// Of all sessions together: a list must not hold the server up.
constexpr std::size_t kMostListed = 1000;

}  // namespace

asio::awaitable<Result<void>> Sessions::Prepare(Found entry, const Asked& asked) {
  if (!std::exchange(entry->started, true)) {
    const auto started = co_await entry->inside->Start();
    if (!started) co_return std::unexpected(Forget(asked.id, entry, started.error()));
    entry->ready = true;
    if (const Found parent = std::exchange(entry->parent, nullptr)) {
      auto copied = co_await CopyFrom(parent, entry, entry->stop);
      if (!copied) {
        (void)Forget(asked.id, entry, copied.error());
        co_return Wrap(fmt::format("session '{}' cannot be forked", Printable(*asked.fork_of)),
                       std::move(copied).error());
      }
      // What was copied is no news.
      const std::vector<environment::GivenFile> none;
      (void)co_await ReadInSlices(entry->inside->workspace(), none, parts_.left, &entry->stamps);
    }
  }
  if (entry->stop.requested()) co_return Fail(Errc::kTimeout, "the call was stopped");
  if (!asked.files.empty() && entry->inside->workspace() < 0) {
    co_return Fail(Errc::kFailedPrecondition,
                   "sessions of environment '" + entry->environment +
                       "' take no files: its backend "
                       "cannot pass them in",
                   "write them with code, or leave 'session' out");
  }
  for (const environment::GivenFile& file : asked.files) {
    auto stamp = session::WriteBelow(entry->inside->workspace(), file);
    if (!stamp) co_return std::unexpected(std::move(stamp).error());
    // As it is now it is no news; once the code has changed it, it is.
    entry->stamps[file.path] = *stamp;
  }
  co_return Result<void>();
}

Result<ResourceContents> Sessions::Read(const SessionFile& file) const {
  IGLOO_ASSIGN(const Found entry, Known(file.session));
  if (!entry->ready) return Fail(Errc::kNotFound, "the session has not begun yet");
  IGLOO_ASSIGN(std::string bytes,
               session::ReadBelow(entry->inside->workspace(), file.path, parts_.left.file_bytes));
  std::string type = MimeTypeOf(file.path, bytes, session::IsPlainText(bytes));
  return ResourceContents{UriOf(file), std::move(type), std::move(bytes)};
}

std::vector<Resource> Sessions::Files() const {
  std::vector<Resource> list;
  std::size_t looked = 0;
  for (const auto& [id, entry] : sessions_) {
    if (!entry->ready) continue;
    for (const auto& [path, stamp] : entry->stamps) {
      if (++looked > kMostListed) return list;
      const auto size = session::SizeBelow(entry->inside->workspace(), path);
      if (!size) continue;
      list.push_back({.uri = UriOf({.session = id, .path = path}),
                      .name = Quoted(ToUtf8(path)),
                      .description = "in session " + Quoted(id),
                      .size = *size});
    }
  }
  return list;
}

}  // namespace igloo::service

#include "agent/control.h"

#include <sys/socket.h>

#include <array>
#include <boost/json.hpp>

#include "base/file.h"
#include "base/lines.h"
#include "base/pass.h"
#include "base/text.h"
#include "base/unix_listener.h"
#include "session/asio.h"

namespace igloo::agent {

namespace asio = boost::asio;
namespace json = boost::json;
using asio::posix::stream_descriptor;

namespace {

constexpr std::size_t kLongestLine = 64U << 10;

std::string ErrorLine(const Error& error) {
  return json::serialize(
             json::object{{"error", json::object{{"what", error.what}, {"hint", error.hint}}}}) +
         "\n";
}

struct Request {
  std::string what = {};
  std::vector<std::string> argv = {};  ///< of "enter"
};

Result<Request> ReadRequest(std::string_view line) {
  boost::system::error_code error;
  const json::value value = json::parse(line, error);
  const json::object* object = error ? nullptr : value.if_object();
  const json::value* what = object != nullptr ? object->if_contains("do") : nullptr;
  const json::value* argv = object != nullptr ? object->if_contains("argv") : nullptr;
  Request request;
  if (what != nullptr && what->is_string()) request.what = what->get_string();
  const bool words = argv != nullptr && argv->is_array();
  for (std::size_t i = 0; words && i < argv->get_array().size(); ++i) {
    const json::string* word = argv->get_array()[i].if_string();
    if (word == nullptr) return Fail(Errc::kInvalidArgument, "a word of the program is no text");
    request.argv.emplace_back(*word);
  }
  const bool plain = request.what == "pause" || request.what == "resume";
  if (plain || (request.what == "enter" && !request.argv.empty())) return request;
  return Fail(Errc::kInvalidArgument, "the box does not understand this",
              "use the igloo that started it");
}

/// Somebody who wants in.
class Client : public std::enable_shared_from_this<Client> {
 public:
  Client(asio::io_context& loop, UniqueFd fd, std::shared_ptr<const BoxActions> actions)
      : socket_(loop, fd.Release()), actions_(std::move(actions)) {}

  asio::awaitable<void> Serve() {
    const auto self = shared_from_this();
    LineBuffer lines(kLongestLine);
    UniqueFd terminal;
    std::array<char, 4096> buffer;
    for (;;) {
      boost::system::error_code error;
      auto token = session::Redirect(error);
      co_await socket_.async_wait(stream_descriptor::wait_read, token);
      if (error) co_return;
      auto came = ReceiveWithFds(socket_.native_handle(), buffer);
      if (came && !*came) continue;
      if (!came || (*came)->count == 0) co_return Close();
      if (!(*came)->fds.empty()) terminal = std::move((*came)->fds.front());
      lines.Append({buffer.data(), (*came)->count});
      const auto line = lines.Next();
      if (!line) continue;
      Answer(line->too_long ? std::string() : line->text, std::move(terminal));
      co_return;
    }
  }

 private:
  void Answer(const std::string& line, UniqueFd terminal) {
    auto request = ReadRequest(line);
    if (!request) return Say(ErrorLine(request.error()));
    if (request->what != "enter") {
      const auto done = request->what == "pause" ? actions_->pause() : actions_->resume();
      return SayEnd(done ? Result<int>(0) : std::unexpected(done.error()));
    }
    if (!terminal) {
      return SayEnd(Fail(Errc::kInvalidArgument, "no terminal came along"));
    }
    actions_->enter(request->argv, std::move(terminal),
                    [self = shared_from_this()](const Result<int>& code) { self->SayEnd(code); });
  }

  void SayEnd(const Result<int>& code) {
    Say(code ? json::serialize(json::object{{"exit", *code}}) + "\n" : ErrorLine(code.error()));
  }

  /// A line is small: a socket that has no room for it has nobody at its other end.
  void Say(const std::string& line) {
    if (!socket_.is_open()) return;
    (void)!::send(socket_.native_handle(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    Close();
  }

  void Close() {
    boost::system::error_code ignored;
    if (socket_.is_open()) socket_.close(ignored);
  }

  stream_descriptor socket_;
  std::shared_ptr<const BoxActions> actions_;
};

}  // namespace

Result<std::unique_ptr<BoxControl>> BoxControl::Open(asio::io_context& loop,
                                                     const std::string& path, BoxActions actions) {
  IGLOO_ASSIGN(UnixListener listener, UnixListener::Open(path));
  const auto shared = std::make_shared<const BoxActions>(std::move(actions));
  const auto serve = [&loop, shared](UniqueFd fd) {
    auto client = std::make_shared<Client>(loop, std::move(fd), shared);
    asio::co_spawn(loop, client->Serve(), asio::detached);
    return client;
  };
  return std::unique_ptr<BoxControl>(new BoxControl(loop, std::move(listener), serve));
}

Result<UniqueFd> AskToEnter(const std::string& path, const std::vector<std::string>& argv,
                            int terminal) {
  IGLOO_ASSIGN(UniqueFd socket, ConnectToOwn(path));
  json::array words(argv.begin(), argv.end());
  const std::string line =
      json::serialize(json::object{{"do", "enter"}, {"argv", std::move(words)}}) + "\n";
  const int passed[] = {terminal};
  IGLOO_TRY(SendWithFds(socket.get(), line, passed));
  return socket;
}

Result<void> AskFor(const std::string& path, std::string_view what) {
  IGLOO_ASSIGN(const UniqueFd socket, ConnectToOwn(path));
  IGLOO_TRY(WriteAll(socket.get(), json::serialize(json::object{{"do", what}}) + "\n"));
  IGLOO_TRY(ReadExit(socket.get()));
  return {};
}

Result<int> ReadExit(int connection) {
  const auto line = ReadAll(connection, kLongestLine);
  boost::system::error_code error;
  const json::value value = line ? json::parse(*line, error) : json::value();
  const json::object* answer = error ? nullptr : value.if_object();
  if (answer == nullptr) {
    return Fail(Errc::kFailedPrecondition, "the box has ended");
  }
  if (const json::value* code = answer->if_contains("exit"); code != nullptr && code->is_int64()) {
    return static_cast<int>(code->get_int64());
  }
  Error failure{Errc::kFailedPrecondition, "the box gave no answer", {}, 0};
  if (const json::value* said = answer->if_contains("error");
      said != nullptr && said->is_object()) {
    const auto text = [&](std::string_view key) {
      const json::value* at = said->get_object().if_contains(key);
      return at != nullptr && at->is_string() ? std::string(at->get_string()) : std::string();
    };
    failure.what = text("what");
    failure.hint = text("hint");
  }
  return std::unexpected(std::move(failure));
}

}  // namespace igloo::agent

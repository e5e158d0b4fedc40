#include "cli/mcp/mcp_peer.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/file.h"
#include "base/text.h"

namespace igloo::cli {
namespace {

namespace json = boost::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongestLine = 16U << 20;
constexpr std::size_t kKeptOfErrors = 4096;
/// A server whose client has gone ends by itself; one that does not is killed.
constexpr int kFarewellMillis = 5000;

std::vector<std::string> EnvironmentWith(const std::string& state_home) {
  constexpr std::string_view kName = "XDG_STATE_HOME=";
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) {
    const bool replaced = !state_home.empty() && std::string_view(*each).starts_with(kName);
    if (!replaced) all.emplace_back(*each);
  }
  if (!state_home.empty()) all.push_back(std::string(kName) + state_home);
  return all;
}

/// Takes what has come; closes `fd` at its end.
void Take(UniqueFd& fd, std::string& into) {
  char buffer[65'536];
  const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
  if (count > 0) {
    into.append(buffer, static_cast<std::size_t>(count));
  } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
    fd.Reset();
  }
}

}  // namespace

Result<McpPeer> McpPeer::Start(const std::vector<std::string>& command,
                               const std::string& state_home) {
  McpPeer peer;
  IGLOO_ASSIGN(FdPair input, MakePipe());
  IGLOO_ASSIGN(FdPair output, MakePipe());
  IGLOO_ASSIGN(FdPair errors, MakePipe());
  const SpawnOptions options{.program = command.front(),
                             .argv = command,
                             .env = EnvironmentWith(state_home),
                             .fds = {{input.first.get(), STDIN_FILENO},
                                     {output.second.get(), STDOUT_FILENO},
                                     {errors.second.get(), STDERR_FILENO}},
                             .own_session = true};
  IGLOO_ASSIGN(peer.child_, Spawn(options));
  peer.input_ = std::move(input.second);
  peer.output_ = std::move(output.first);
  peer.errors_ = std::move(errors.first);
  return peer;
}

McpPeer::~McpPeer() {
  if (!child_) return;
  input_.Reset();
  pollfd end{.fd = child_.pidfd(), .events = POLLIN, .revents = 0};
  (void)::poll(&end, 1, kFarewellMillis);
}

Error McpPeer::Gone() {
  while (said_.ends_with('\n')) said_.pop_back();
  const std::string last = said_.substr(said_.rfind('\n') + 1);
  return {Errc::kFailedPrecondition,
          last.empty() ? "the server ended without a word"
                       : fmt::format("the server ended: {}", Printable(last)),
          "start 'igloo mcp' by hand: it says on standard error what is wrong", 0};
}

Result<std::string> McpPeer::NextLine(Clock::time_point until) {
  for (;;) {
    const std::size_t end = pending_.find('\n');
    if (end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    if (!output_) return std::unexpected(Gone());
    if (pending_.size() > kLongestLine) {
      return Fail(Errc::kExhausted, "the server sends a line that does not end");
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) {
      return Fail(Errc::kTimeout, "the server does not answer",
                  "is the machine very busy? 'igloo doctor' tries every wall by itself");
    }
    pollfd both[] = {{.fd = output_.get(), .events = POLLIN, .revents = 0},
                     {.fd = errors_.get(), .events = POLLIN, .revents = 0}};
    if (::poll(both, 2, static_cast<int>(left.count())) < 0) continue;
    if (both[1].revents != 0) Take(errors_, said_);
    if (said_.size() > kKeptOfErrors) said_.erase(0, said_.size() - kKeptOfErrors);
    if (both[0].revents != 0) Take(output_, pending_);
  }
}

Result<json::object> McpPeer::Ask(std::string_view method, json::object params,
                                  std::chrono::seconds patience) {
  const int id = next_id_++;
  const auto until = Clock::now() + patience;
  const json::object request{
      {"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
  // A server that has gone already says why below.
  (void)WriteAll(input_.get(), json::serialize(request) + "\n");
  for (;;) {
    IGLOO_ASSIGN(const std::string line, NextLine(until));
    boost::system::error_code failure;
    json::value message = json::parse(line, failure);
    json::object* object = failure ? nullptr : message.if_object();
    if (object == nullptr) {
      return Fail(Errc::kProtocol,
                  "the server wrote what is no message: " + Printable(line.substr(0, 200)));
    }
    const json::value* answers = object->if_contains("id");
    if (answers == nullptr || *answers != id) continue;
    json::value* result = object->if_contains("result");
    if (result != nullptr && result->is_object()) return std::move(result->as_object());
    const json::value* error = object->if_contains("error");
    return Fail(Errc::kProtocol,
                "the server refused: " +
                    (error == nullptr ? line.substr(0, 200) : Printable(json::serialize(*error))));
  }
}

}  // namespace igloo::cli

#include "cli/session/session_servers.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "base/unix_listener.h"
#include "cli/config/settings.h"
#include "service/places.h"
#include "tools/control_socket.h"

namespace igloo::cli {
namespace {

/// An answer is at most this long: a list, or some output.
constexpr std::size_t kLongestAnswer = 16U << 20;

bool IsRefused(const Result<UniqueFd>& connected) {
  return !connected && connected.error().sys_errno == ECONNREFUSED;
}

std::optional<pid_t> PidOf(std::string_view name) {
  if (!name.ends_with(tools::ControlSocket::kEnding)) return std::nullopt;
  name.remove_suffix(tools::ControlSocket::kEnding.size());
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc() || end != name.data() + name.size() || pid <= 0) return std::nullopt;
  return pid;
}

}  // namespace

Result<std::vector<SessionServer>> FindSessionServers() {
  std::vector<SessionServer> servers;
  const auto place = service::StatePlace();
  if (!place) return servers;
  const std::string directory = tools::ControlSocket::DirectoryIn(*place);
  std::error_code missing;
  std::vector<SessionServer> found;
  for (const auto& entry : std::filesystem::directory_iterator(directory, missing)) {
    const auto pid = PidOf(entry.path().filename().string());
    if (pid) found.push_back({.pid = *pid, .socket = entry.path().string()});
  }
  for (SessionServer& each : found) {
    const auto connected = ConnectToOwn(each.socket);
    if (connected) {
      servers.push_back(std::move(each));
    } else if (IsRefused(connected)) {
      IGLOO_ASSIGN(const UniqueFd lock, tools::LockSockets(directory));
      if (IsRefused(ConnectToOwn(each.socket))) ::unlink(each.socket.c_str());
    }
  }
  std::ranges::sort(servers, {}, &SessionServer::pid);
  return servers;
}

Result<ServerRequest> ServerRequest::Send(const SessionServer& server,
                                          const service::control::Request& request) {
  const std::string line = boost::json::serialize(tools::Encode(request)) + "\n";
  if (line.size() > tools::kLongestRequest) {
    return Fail(Errc::kInvalidArgument, "that is too long for one request", "send less at a time");
  }
  IGLOO_ASSIGN(UniqueFd socket, ConnectToOwn(server.socket));
  IGLOO_TRY(WriteAll(socket.get(), line));
  return ServerRequest(std::move(socket));
}

Result<bool> ServerRequest::Wait() const {
  constexpr timespec kPatience{.tv_sec = 5, .tv_nsec = 0};
  sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  sigdelset(&mask, SIGINT);
  pollfd watched{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  const int count = ::ppoll(&watched, 1, patient_ ? nullptr : &kPatience, &mask);
  if (count > 0) return true;
  if (count < 0) return false;
  return Fail(Errc::kTimeout, "the server does not answer", "look whether it is stopped");
}

Result<std::optional<tools::ControlMessage>> ServerRequest::Next() {
  for (;;) {
    if (const std::size_t end = bytes_.find('\n'); end != std::string::npos) {
      auto message = tools::DecodeMessage(std::string_view(bytes_).substr(0, end));
      bytes_.erase(0, end + 1);
      return message;
    }
    IGLOO_ASSIGN(const bool came, Wait());
    if (!came) return std::nullopt;
    std::array<char, 65536> buffer;
    const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR) return std::nullopt;
    if (count <= 0) {
      return Fail(Errc::kFailedPrecondition, "the server has ended, and its sessions with it");
    }
    bytes_.append(buffer.data(), static_cast<std::size_t>(count));
    if (bytes_.size() > kLongestAnswer) return Fail(Errc::kProtocol, "the server talks too much");
  }
}

Result<service::control::Answer> AskServer(const SessionServer& server,
                                           const service::control::Request& request) {
  IGLOO_ASSIGN(ServerRequest asked, ServerRequest::Send(server, request));
  asked.LimitPatience();
  for (;;) {
    IGLOO_ASSIGN(auto message, asked.Next());
    if (!message) continue;
    if (auto* answer = std::get_if<service::control::Answer>(&*message)) return std::move(*answer);
  }
}

Result<std::vector<FoundSession>> FindSessions(const std::optional<std::string>& server) {
  IGLOO_ASSIGN(auto servers, FindSessionServers());
  if (server) {
    std::erase_if(servers, [&](const auto& each) { return *server != std::to_string(each.pid); });
    if (servers.empty()) {
      return Fail(Errc::kNotFound, fmt::format("no server '{}' has sessions", Printable(*server)),
                  "'igloo session list' shows those that live, and the number of their server");
    }
  }
  std::vector<FoundSession> sessions;
  for (const SessionServer& each : servers) {
    const auto listed = AskServerFor<service::control::Listed>(each, service::control::List{});
    if (!listed) continue;  // it ended a moment ago
    for (const service::Sessions::Listed& row : listed->sessions) {
      sessions.push_back({.server = each,
                          .id = row.id,
                          .environment = row.environment,
                          .interpreter = row.interpreter,
                          .age_ms = row.age.count(),
                          .idle_ms = row.idle.count(),
                          .busy = row.busy});
    }
  }
  return sessions;
}

Result<FoundSession> FindSession(const std::string& id, const std::optional<std::string>& server) {
  IGLOO_ASSIGN(std::vector<FoundSession> all, FindSessions(server));
  std::erase_if(all, [&](const FoundSession& each) { return each.id != id; });
  if (all.size() == 1) return std::move(all.front());
  if (all.empty()) {
    return Fail(Errc::kNotFound, fmt::format("there is no session '{}'", Printable(id)),
                "'igloo session list' shows those that live");
  }
  std::string pids;
  for (const FoundSession& each : all) {
    pids += (pids.empty() ? "" : " or ") + fmt::format("--server {}", each.server.pid);
  }
  return Fail(Errc::kInvalidArgument,
              fmt::format("{} servers have a session '{}'", all.size(), Printable(id)),
              "say which one is meant: " + pids);
}

}  // namespace igloo::cli

#include "bench/mcp_client.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>

#include "base/file.h"

namespace igloo::bench {
namespace {

constexpr int kPatienceMillis = 60'000;

}  // namespace

std::string McpRequest(std::string_view id, std::string_view method, std::string_view more) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{{"_meta":{{)"
                     R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                     R"("io.modelcontextprotocol/clientCapabilities":{{}}}}{}{}}}}})",
                     id, method, more.empty() ? "" : ",", more);
}

Result<McpClient> McpClient::Start(const Command& command) {
  const Stopwatch watch;
  IGLOO_ASSIGN(Process process, Process::Start(command, Input::kPipe));
  return McpClient(std::move(process), watch);
}

Result<void> McpClient::Send(std::string_view line) {
  return WriteAll(process_.input().get(), std::string(line) + "\n");
}

Result<std::string> McpClient::Hear() {
  std::array<char, 64U << 10> buffer;
  std::size_t searched = 0;
  for (;;) {
    const std::size_t end = heard_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = heard_.substr(0, end);
      heard_.erase(0, end + 1);
      return line;
    }
    searched = heard_.size();
    pollfd state{process_.output(), POLLIN, 0};
    if (::poll(&state, 1, kPatienceMillis) != 1) {
      return Fail(Errc::kTimeout, "the server does not answer");
    }
    const ssize_t count = ::read(process_.output(), buffer.data(), buffer.size());
    if (count <= 0) {
      const auto ended = process_.Finish();
      if (!ended) return std::unexpected(ended.error());
      return Fail(Errc::kProtocol, "the server has ended");
    }
    heard_.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

Result<std::string> McpClient::Ask(std::string_view line) {
  IGLOO_TRY(Send(line));
  return Hear();
}

}  // namespace igloo::bench

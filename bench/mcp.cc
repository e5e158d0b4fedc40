#include "bench/mcp.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>

#include "base/file.h"
#include "bench/mcp_client.h"
#include "bench/mcp_load.h"

namespace igloo::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// One sample is the median of so many: a single one would mostly measure who was asleep.
constexpr unsigned kTrips = 200;
constexpr const char* kNode = "/usr/bin/node";

/// The reference SDK's server with one tool like ours.
constexpr const char* kSdkServer = R"js(
const { McpServer } = require("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");
const { z } = require("zod");
const server = new McpServer({ name: "sdk", version: "1" });
server.registerTool("run", { description: "Runs code.", inputSchema: { code: z.string() } },
                    async () => ({ content: [] }));
server.connect(new StdioServerTransport());
)js";

/// A kind of server and how one speaks to it.
struct Kind {
  Command command = {};
  std::string hello = {}, list = {};
};

std::string LegacyRequest(std::string_view method, std::string_view params) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{}}})", method, params);
}

Result<double> StartOnce(const Kind& kind) {
  IGLOO_ASSIGN(McpClient client, McpClient::Start(kind.command));
  IGLOO_ASSIGN(const std::string answer, client.Ask(kind.hello));
  const double micros = client.micros();
  const auto read = ReadAnswer(answer);
  if (read && read->fine) return micros;
  return Fail(Errc::kProtocol, "the server answered: " + answer.substr(0, 200));
}

Result<double> MedianTrip(McpClient& client, const std::string& line) {
  Samples trips;
  for (unsigned i = 0; i < kTrips; ++i) {
    const auto begin = Clock::now();
    IGLOO_TRY(client.Ask(line));
    trips.Add(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  return trips.median();
}

}  // namespace

struct McpServers::Shared {
  /// A server of this kind that has been greeted.
  static Result<McpClient*> Running(const Kind& kind, std::optional<McpClient>& at) {
    if (!at) {
      IGLOO_ASSIGN(McpClient client, McpClient::Start(kind.command));
      if (!kind.hello.empty()) IGLOO_TRY(client.Ask(kind.hello));
      at.emplace(std::move(client));
    }
    return &*at;
  }
  Result<double> ListOnce() {
    IGLOO_ASSIGN(McpClient * client, Running(igloo, server));
    return MedianTrip(*client, igloo.list);
  }
  Result<double> EchoOnce() {
    if (!echo) {
      // The same bytes in both directions.
      IGLOO_ASSIGN(McpClient * client, Running(igloo, server));
      IGLOO_ASSIGN(const std::string answer, client->Ask(igloo.list));
      const Command command{{echo_program, std::to_string(answer.size() + 1)}};
      IGLOO_ASSIGN(McpClient started, McpClient::Start(command));
      echo.emplace(std::move(started));
    }
    return MedianTrip(*echo, igloo.list);
  }
  Result<double> SdkListOnce() {
    IGLOO_ASSIGN(McpClient * client, Running(sdk, sdk_server));
    return MedianTrip(*client, sdk.list);
  }

  Kind igloo = {}, sdk = {};
  std::string echo_program = {};
  std::string sdk_missing = {};  ///< why there is none
  std::optional<McpClient> server = {}, echo = {}, sdk_server = {};
};

McpServers::McpServers(const Ground& ground, Command server) : shared_(std::make_shared<Shared>()) {
  shared_->igloo = {.command = std::move(server),
                    .hello = McpRequest("1", "server/discover"),
                    .list = McpRequest("1", "tools/list")};
  shared_->echo_program = ground.programs() + "/igloo-bench-echo";
  const std::string modules = ground.cache() + "/node_modules";
  shared_->sdk = {
      .command = {{kNode, "-e", kSdkServer}, {"NODE_PATH=" + modules}},
      .hello = LegacyRequest("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{},)"
                                           R"("clientInfo":{"name":"bench","version":"1"}})"),
      .list = LegacyRequest("tools/list", "{}")};
  if (::access(kNode, X_OK) != 0 ||
      ::access((modules + "/@modelcontextprotocol/sdk").c_str(), R_OK) != 0) {
    shared_->sdk_missing = "not installed; get it with: make bench-peers";
  }
}

McpServers::~McpServers() = default;

std::vector<Candidate> McpServers::Candidates() {
  std::vector<Candidate> out;
  const auto add = [&](std::string key, std::string name, Once once) {
    out.push_back({.key = std::move(key), .name = std::move(name), .once = std::move(once)});
  };
  const auto shared = shared_;
  add("mcp_echo", "a line to a bare echo and back", [shared] { return shared->EchoOnce(); });
  add("mcp_list", "igloo mcp, tools/list", [shared] { return shared->ListOnce(); });
  add("mcp_start", "igloo mcp, to its first answer", [shared] { return StartOnce(shared->igloo); });
  const std::size_t own = out.size();
  add("mcp_list_sdk", "reference SDK, tools/list", [shared] { return shared->SdkListOnce(); });
  add("mcp_start_sdk", "reference SDK, to its answer", [shared] { return StartOnce(shared->sdk); });
  out.back().every = 4;  // half a second each
  for (std::size_t i = own; i < out.size() && !shared->sdk_missing.empty(); ++i) {
    out[i].once = {};
    out[i].failure = shared->sdk_missing;
  }
  return out;
}

std::optional<McpAnswer> ReadAnswer(const std::string& line) {
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(line, error);
  const auto* object = error ? nullptr : value.if_object();
  if (object == nullptr || !object->contains("id") || object->contains("method")) return {};
  McpAnswer answer{.id = boost::json::serialize(object->at("id"))};
  const auto* result = object->if_contains("result");
  const auto* fields = result != nullptr ? result->if_object() : nullptr;
  const auto* failed = fields != nullptr ? fields->if_contains("isError") : nullptr;
  answer.fine = fields != nullptr && (failed == nullptr || *failed != true);
  return answer;
}

McpResults McpServers::Measure(unsigned calls) const {
  McpResults results;
  McpLoad load(shared_->igloo.command, results.figures);
  if (const auto done = load.Run(calls); !done) results.failure = done.error().what;
  return results;
}

}  // namespace igloo::bench

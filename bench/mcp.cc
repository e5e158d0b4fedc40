#include "bench/mcp.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>

#include "base/file.h"
#include "bench/mcp_client.h"
#include "bench/mcp_load.h"
#include "bench/mcp_ready.h"
#include "bench/stopwatch.h"

namespace igloo::bench {
namespace {

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

/// One that runs the code as most do who have no other way: bwrap and Python for each call. Its
/// arguments are the command before the code.
constexpr const char* kSdkRunner = R"js(
const { McpServer } = require("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");
const { execFile } = require("node:child_process");
const { z } = require("zod");
const [program, ...words] = process.argv.slice(1);
const server = new McpServer({ name: "sdk", version: "1" });
server.registerTool("run", { description: "Runs code.", inputSchema: { code: z.string() } },
                    ({ code }) => new Promise((resolve) => {
  execFile(program, [...words, code], (error, stdout, stderr) => {
    resolve({ content: [{ type: "text", text: stdout + stderr }], isError: Boolean(error) });
  });
}));
server.connect(new StdioServerTransport());
)js";

constexpr const char* kSdkCall = R"json({"name":"run","arguments":{"code":"print(1)"}})json";

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
    const Stopwatch watch;
    IGLOO_TRY(client.Ask(line));
    trips.Add(watch.micros());
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
  Result<double> FreshOnce() {
    IGLOO_ASSIGN(McpClient * client, Running(igloo, server));
    return TimeCall(*client, PythonRequest(), "1\\n");
  }
  Result<double> SdkFreshOnce() {
    IGLOO_ASSIGN(McpClient * client, Running(sdk_runner, sdk_runner_server));
    return TimeCall(*client, sdk_runner.list, "1\\n");
  }
  /// The same on the server that answers with nothing.
  Result<double> SdkNothingOnce() {
    IGLOO_ASSIGN(McpClient * client, Running(sdk, sdk_server));
    return TimeCall(*client, sdk_runner.list, "content");
  }
  Result<double> OpenOnce() {
    IGLOO_ASSIGN(McpClient * client, Running(igloo, server));
    return OpenSession(*client);
  }
  Result<double> OpenColdOnce() {
    IGLOO_ASSIGN(McpClient * client, Running(unready, unready_server));
    return OpenSession(*client);
  }
  Result<double> SdkListOnce() {
    IGLOO_ASSIGN(McpClient * client, Running(sdk, sdk_server));
    return MedianTrip(*client, sdk.list);
  }

  Kind igloo = {}, sdk = {};
  Kind sdk_runner = {};  ///< its `list` is a call
  Kind unready = {};     ///< igloo with nothing that waits, and room for many sessions
  std::string echo_program = {};
  std::string sdk_missing = {};  ///< why there is none
  std::string bwrap_missing = {};
  std::optional<McpClient> server = {}, echo = {}, sdk_server = {}, sdk_runner_server = {},
                           unready_server = {};
  Command many = {};  ///< igloo with room for many sessions
};

McpServers::McpServers(Ground& ground, Command server) : shared_(std::make_shared<Shared>()) {
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
  PrepareReady(ground);
}

/// The servers for code in fresh sandboxes and sessions.
void McpServers::PrepareReady(Ground& ground) {
  const auto configured = [&](const std::string& name, const char* text) {
    const std::string path = ground.directory() + "/" + name + ".toml";
    std::ofstream(path) << text;
    Command command = shared_->igloo.command;
    command.argv.insert(command.argv.end(), {"--config", path});
    return command;
  };
  shared_->unready = {.command = configured("unready", "[environments.python]\nwarm = 0\n"),
                      .hello = shared_->igloo.hello};
  shared_->many = configured("many", "[session]\nlimit = 1000\n");
  const auto cold = Through("bwrap", ground, {"/usr/bin/python3", "-c"});
  if (!cold) {
    shared_->bwrap_missing = cold.error().what;
    return;
  }
  Words words = {kNode, "-e", kSdkRunner, "--"};
  words.insert(words.end(), cold->argv.begin(), cold->argv.end());
  shared_->sdk_runner = {.command = {words, shared_->sdk.command.environment},
                         .hello = shared_->sdk.hello,
                         .list = LegacyRequest("tools/call", kSdkCall)};
}

McpServers::~McpServers() = default;

std::vector<Candidate> McpServers::Candidates() {
  std::vector<Candidate> out;
  const auto add = [&](std::string key, std::string name, Once once) -> Candidate& {
    return out.emplace_back(
        Candidate{.key = std::move(key), .name = std::move(name), .once = std::move(once)});
  };
  const auto shared = shared_;
  add("mcp_echo", "a line to a bare echo and back", [shared] { return shared->EchoOnce(); });
  add("mcp_list", "igloo mcp, tools/list", [shared] { return shared->ListOnce(); });
  add("mcp_start", "igloo mcp, to its first answer", [shared] { return StartOnce(shared->igloo); });
  add("mcp_fresh", "igloo mcp, fresh Python", [shared] {
    return shared->FreshOnce();
  }).one_of_many = true;
  add("mcp_fresh_long", "igloo mcp, after a while", [shared] { return shared->FreshOnce(); });
  add("mcp_session", "igloo mcp, opens a session", [shared] { return shared->OpenOnce(); });
  add("mcp_session_unready", "the same, none ready", [shared] { return shared->OpenColdOnce(); });
  const std::size_t own = out.size();
  add("mcp_list_sdk", "reference SDK, tools/list", [shared] { return shared->SdkListOnce(); });
  add("mcp_start_sdk", "reference SDK, to its answer", [shared] { return StartOnce(shared->sdk); });
  out.back().every = 4;  // half a second each
  add("mcp_nothing_sdk", "reference SDK, a call of nothing",
      [shared] { return shared->SdkNothingOnce(); });
  add("mcp_fresh_sdk", "reference SDK + bwrap Python", [shared] {
    return shared->SdkFreshOnce();
  }).one_of_many = true;
  if (!shared->bwrap_missing.empty()) out.back().failure = shared->bwrap_missing;
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

Figures McpServers::Measure(unsigned calls) const {
  Figures figures;
  McpLoad load(shared_->igloo.command, figures);
  if (const auto done = load.Run(calls); !done) figures.failure = done.error().what;
  return figures;
}

Figures McpServers::MeasureReady(unsigned calls, unsigned sessions) const {
  Figures figures;
  auto done = MeasureTail(shared_->igloo.command, calls, figures);
  if (done) done = MeasureSessions(shared_->many, sessions, figures);
  if (!done) figures.failure = done.error().what;
  return figures;
}

}  // namespace igloo::bench

#include "cli/serve_mcp.h"

#include <filesystem>

#include "base/text.h"
#include "cli/serve.h"
#include "cli/settings.h"
#include "mcp/http_token.h"
#include "tools/instructions.h"
#include "tools/per_environment_contract.h"
#include "tools/run_contract.h"

namespace igloo::cli {
namespace {

enum class Which { kRun, kPerEnvironment, kBoth };

Result<Which> ReadTools(const ParsedArgs& args) {
  const std::string text = args.Get("--tools").value_or("run");
  if (text == "run") return Which::kRun;
  if (text == "per-environment") return Which::kPerEnvironment;
  if (text == "both") return Which::kBoth;
  return Fail(Errc::kInvalidArgument, "there are no tools '" + Printable(text) + "'",
              "write --tools run, --tools per-environment or --tools both");
}

/// Where the token is that HTTP clients must bring.
Result<std::string> TokenFile(const ParsedArgs& args) {
  if (auto file = args.Get("--token-file")) return *std::move(file);
  auto place = StatePlace();
  if (!place) {
    Error error = Wrap("there is no place for a token", std::move(place).error()).error();
    error.hint += ", or name a file with --token-file";
    return std::unexpected(std::move(error));
  }
  const std::string& state = *place;
  std::error_code failure;
  std::filesystem::create_directories(state, failure);
  if (!failure) {
    std::filesystem::permissions(state, std::filesystem::perms::owner_all, failure);
  }
  if (failure) return FailSys(failure.value(), "cannot make '" + state + "'");
  return state + "/http-token";
}

Result<std::optional<mcp::HttpOptions>> ReadHttp(const ParsedArgs& args, Console& console) {
  const auto text = args.Get("--http");
  if (!text) {
    for (const std::string_view flag : {"--no-token", "--token-file"}) {
      if (!args.Has(flag)) continue;
      return Fail(Errc::kInvalidArgument, std::string(flag) + " says something about HTTP only",
                  "write --http 127.0.0.1:8730 as well, or leave it out");
    }
    return std::nullopt;
  }
  if (args.Has("--stdio")) {
    return Fail(Errc::kInvalidArgument, "--stdio and --http contradict each other",
                "leave one of them out");
  }
  mcp::HttpOptions options;
  IGLOO_ASSIGN(options.address, mcp::ParseHttpAddress(*text));
  const bool by_name = std::holds_alternative<mcp::UnixSocket>(options.address);
  if (by_name) return options;
  if (args.Has("--no-token")) {
    if (!mcp::IsLoopback(options.address)) {
      return Fail(Errc::kInvalidArgument, "--no-token is for this machine's own addresses only",
                  "leave it out, or listen on 127.0.0.1");
    }
    console.Note("warning: every program and every user of this machine can call this server");
    return options;
  }
  IGLOO_ASSIGN(const std::string file, TokenFile(args));
  IGLOO_ASSIGN(options.token, mcp::ReadOrMakeToken(file));
  console.Note("clients need the token in '" + Printable(file) +
               "', as 'Authorization: Bearer TOKEN'");
  return options;
}

}  // namespace

Result<int> ServeMcp(const ParsedArgs& args, Console& console) {
  IGLOO_ASSIGN(const Which which, ReadTools(args));
  Serving serving{.face = {.info = {.name = "igloo",
                                    .version = IGLOO_VERSION,
                                    .title = "Igloo",
                                    .description = "Runs code in disposable sandboxes"},
                           .instructions = tools::Instructions},
                  .args = WithNamedProject(args),
                  .sandboxes = which == Which::kRun ? Sandboxes::kIgnore : Sandboxes::kServe};
  serving.contracts = [which](tools::Workshop workshop) {
    std::vector<std::unique_ptr<tools::Contract>> contracts;
    if (which != Which::kPerEnvironment) {
      contracts.push_back(std::make_unique<tools::RunContract>(workshop));
    }
    if (which != Which::kRun) {
      contracts.push_back(
          std::make_unique<tools::PerEnvironmentContract>(workshop, tools::Uncovered::kServe));
    }
    return contracts;
  };
  IGLOO_ASSIGN(serving.http, ReadHttp(args, console));
  return Serve(std::move(serving), console);
}

}  // namespace igloo::cli

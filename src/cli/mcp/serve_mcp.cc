#include "cli/mcp/serve_mcp.h"

#include <fmt/format.h>

#include "base/private_directory.h"
#include "base/text.h"
#include "cli/config/settings.h"
#include "cli/mcp/serve.h"
#include "http/token.h"
#include "service/places.h"
#include "tools/instructions.h"
#include "tools/per_environment_contract.h"
#include "tools/run_contract.h"

namespace igloo::cli {
namespace {

using config::Tools;

/// A contract that counts only while the configuration (or the command line) asks for its tools.
class Chosen : public tools::Contract {
 public:
  using When = std::function<bool(const config::Config&)>;
  Chosen(std::unique_ptr<tools::Contract> contract, When when)
      : contract_(std::move(contract)), when_(std::move(when)) {}

  std::vector<mcp::Tool> Tools(const service::Setup& setup) const override {
    if (!when_(setup.config())) return {};
    return contract_->Tools(setup);
  }
  boost::asio::awaitable<mcp::Answer<mcp::ToolResult>> Run(
      mcp::Call& call, mcp::ToolCall request, std::shared_ptr<const service::Setup> setup,
      service::Trace& trace) override {
    return contract_->Run(call, std::move(request), std::move(setup), trace);
  }

 private:
  std::unique_ptr<tools::Contract> contract_;
  When when_;
};

/// Where the token is that HTTP clients must bring.
Result<std::string> TokenFile(const ParsedArgs& args) {
  if (auto file = args.Get("--token-file")) return *std::move(file);
  auto place = service::StatePlace();
  if (!place) {
    Error error = Wrap("there is no place for a token", std::move(place).error()).error();
    error.hint += ", or name a file with --token-file";
    return std::unexpected(std::move(error));
  }
  const std::string& state = *place;
  IGLOO_TRY(OpenPrivateDirectory(state));
  return state + "/http-token";
}

/// Where the server is to listen for HTTP; none: it serves standard input and output. The command
/// line beats the configuration.
Result<std::optional<http::Address>> AddressOf(const ParsedArgs& args,
                                               const config::DaemonConfig& daemon) {
  const bool http = daemon.transport == "http";
  if (const auto flag = args.Get("--http")) return http::ParseAddress(*flag);
  if (!http && daemon.listen != config::kUsualListen) {
    return Fail(Errc::kInvalidArgument,
                fmt::format("the configuration has listen = \"{}\" in [daemon], where nobody would "
                            "listen: transport is \"stdio\"",
                            Printable(daemon.listen)),
                "write transport = \"http\" beside it, or leave 'listen' out");
  }
  if (!http || args.Has("--stdio")) return std::nullopt;
  auto address = http::ParseAddress(daemon.listen);
  if (!address) return Wrap("'listen' in [daemon]", std::move(address).error());
  return address;
}

/// How HTTP clients reach the server, and what they must know.
Result<void> ReadHttp(const ParsedArgs& args, Serving& serving) {
  IGLOO_ASSIGN(const auto address, AddressOf(args, ReadDaemon(args)));
  if (!address) {
    for (const std::string_view flag : {"--no-token", "--token-file"}) {
      if (!args.Has(flag)) continue;
      return Fail(Errc::kInvalidArgument, std::string(flag) + " says something about HTTP only",
                  "write --http 127.0.0.1:8730 as well, or leave it out");
    }
    return {};
  }
  if (args.Has("--http") && args.Has("--stdio")) {
    return Fail(Errc::kInvalidArgument, "--stdio and --http contradict each other",
                "leave one of them out");
  }
  mcp::HttpOptions& options = serving.http.emplace();
  options.address = *address;
  const bool by_name = std::holds_alternative<http::UnixSocket>(options.address);
  if (by_name) return {};
  if (args.Has("--no-token")) {
    if (!http::IsLoopback(options.address)) {
      return Fail(Errc::kInvalidArgument, "--no-token is for this machine's own addresses only",
                  "leave it out, or listen on 127.0.0.1");
    }
    serving.notes.emplace_back(
        "warning: every program and every user of this machine can call this server");
    return {};
  }
  IGLOO_ASSIGN(const std::string file, TokenFile(args));
  IGLOO_ASSIGN(serving.tokens, http::ReadOrMakeTokens(file));
  const bool several = serving.tokens.size() > 1;
  serving.notes.push_back(
      fmt::format("clients need {} in '{}', as 'Authorization: Bearer TOKEN'{}",
                  several ? "one of the tokens" : "the token", Printable(file),
                  several ? "; each token has sessions and kept output of its own" : ""));
  return {};
}

}  // namespace

Result<std::optional<config::Tools>> ToolsFlag(const ParsedArgs& args) {
  const auto text = args.Get("--tools");
  if (!text) return std::nullopt;
  if (const auto tools = config::FindTools(*text)) return tools;
  return Fail(Errc::kInvalidArgument, "there are no tools '" + Printable(*text) + "'",
              "write --tools run, --tools per-environment or --tools both");
}

Result<void> RefuseFlags(const ParsedArgs& args, std::span<const std::string_view> flags,
                         std::string_view whose, std::string hint) {
  for (const std::string_view flag : flags) {
    if (!args.Has(flag)) continue;
    return Fail(Errc::kInvalidArgument, fmt::format("{} has no {}", whose, flag), std::move(hint));
  }
  return {};
}

Result<int> ServeMcp(const ParsedArgs& args, Console& console) {
  constexpr std::string_view kOfInstall[] = {"--remove", "--json",  "--dry-run", "--force",
                                             "--name",   "--scope", "--file"};
  IGLOO_TRY(RefuseFlags(args, kOfInstall, "the server",
                        "leave it out, or write 'igloo mcp install CLIENT'"));
  IGLOO_ASSIGN(const std::optional<Tools> flag, ToolsFlag(args));
  const auto chosen = [flag](const config::Config& config) {
    return flag.value_or(config.daemon.tools);
  };
  // The model is told as well: it would look for /project.
  std::string missing;
  std::vector<std::string> notes;
  const ParsedArgs named = WithNamedProject(args, [&](std::string_view note) {
    notes.emplace_back(note);
    missing = fmt::format("\nNote: {}.\n", note);
  });
  Serving serving{
      .face = {.info = {.name = "igloo",
                        .version = IGLOO_VERSION,
                        .title = "Igloo",
                        .description = "Runs code in disposable sandboxes"},
               .instructions =
                   [missing](const service::Setup& setup, const std::vector<mcp::Tool>& served) {
                     return tools::Instructions(setup, served) + missing;
                   }},
      .args = named,
      .sandboxes =
          [chosen](const config::Config& config) {
            return chosen(config) == Tools::kRun ? Sandboxes::kIgnore : Sandboxes::kServe;
          },
      .notes = std::move(notes)};
  serving.contracts = [chosen](tools::Workshop workshop) {
    std::vector<std::unique_ptr<tools::Contract>> contracts;
    contracts.push_back(std::make_unique<Chosen>(std::make_unique<tools::RunContract>(workshop),
                                                 [chosen](const config::Config& config) {
                                                   return chosen(config) != Tools::kPerEnvironment;
                                                 }));
    contracts.push_back(std::make_unique<Chosen>(
        std::make_unique<tools::PerEnvironmentContract>(workshop, tools::Uncovered::kServe),
        [chosen](const config::Config& config) { return chosen(config) != Tools::kRun; }));
    return contracts;
  };
  IGLOO_TRY(ReadHttp(args, serving));
  return Serve(std::move(serving), console);
}

}  // namespace igloo::cli

#include "cli/serve_mcp.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <charconv>
#include <cstdlib>

#include "base/text.h"
#include "cli/serve.h"
#include "tools/instructions.h"
#include "tools/run_contract.h"

namespace igloo::cli {
namespace {

Result<mcp::HttpOptions> ReadAddress(const std::string& text) {
  mcp::HttpOptions options;
  const std::size_t colon = text.rfind(':');
  const std::string port = colon == std::string::npos ? text : text.substr(colon + 1);
  if (colon != std::string::npos) options.address = text.substr(0, colon);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), options.port);
  if (error != std::errc() || end != port.data() + port.size()) {
    return Fail(Errc::kInvalidArgument, "'" + Printable(text) + "' is no address",
                "write one as 127.0.0.1:8730");
  }
  return options;
}

/// A project that the surroundings name, as nix-sandbox-mcp's users do it; flags beat it.
ParsedArgs WithProject(ParsedArgs args) {
  const char* named = std::getenv("PROJECT_DIR");
  struct stat info{};
  const bool usable = named != nullptr && ::stat(named, &info) == 0 && S_ISDIR(info.st_mode);
  if (usable && !args.Has("--project") && !args.Has("--no-project")) {
    args.flags["--project"] = named;
  }
  return args;
}

}  // namespace

Result<int> ServeMcp(const ParsedArgs& args, Console& console) {
  Serving serving{.face = {.info = {.name = "igloo",
                                    .version = IGLOO_VERSION,
                                    .title = "Igloo",
                                    .description = "Runs code in disposable sandboxes"},
                           .instructions = tools::Instructions},
                  .contracts =
                      [](tools::Workshop workshop) {
                        std::vector<std::unique_ptr<tools::Contract>> contracts;
                        contracts.push_back(std::make_unique<tools::RunContract>(workshop));
                        return contracts;
                      },
                  .load = LoadFor(WithProject(args), console)};
  if (const auto address = args.Get("--http")) {
    IGLOO_ASSIGN(serving.transport.http, ReadAddress(*address));
  }
  return Serve(std::move(serving), console);
}

}  // namespace igloo::cli

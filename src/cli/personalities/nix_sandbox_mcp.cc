#include "cli/personalities/nix_sandbox_mcp.h"

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/serve.h"
#include "tools/original.h"

namespace igloo::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--stdio", "", "serve a client on standard input and output; so without any option"},
    {"--log-level", "LEVEL", "trace, debug, info (default), warn or error", Values::kChoices,
     "trace debug info warn error"},
    {"--version", "", "say which version this is"},
};

constexpr Command kCommand = {
    .name = "nix-sandbox-mcp",
    .summary = "one MCP tool that runs code in sandboxes, served by igloo",
    .usage = "[--stdio] [--log-level LEVEL]",
    .flags = kFlags,
    .words = {},
    .details = "",
    .run = nullptr,
};

constexpr const char* kVersion = "0.1.0";

Result<int> ServeOriginal(Console& console) {
  return Serve({.face = {.info = {.name = std::string(kNixSandboxMcp), .version = kVersion},
                         .features = {.list_changes = false},
                         .instructions = tools::OriginalInstructions},
                .contracts =
                    [](tools::Workshop workshop) {
                      std::vector<std::unique_ptr<tools::Contract>> contracts;
                      contracts.push_back(std::make_unique<tools::OriginalContract>(workshop));
                      return contracts;
                    },
                .args = WithNamedProject({}, [&](std::string_view note) { console.Note(note); })},
               console);
}

}  // namespace

int NixSandboxMcpMain(std::span<const std::string> words, Console& console) {
  const auto args = ParseArgs(kCommand, words);
  if (args && args->Has("--help")) {
    console.Out(
        "nix-sandbox-mcp - one MCP tool that runs code in sandboxes, served by igloo\n\n"
        "Usage: nix-sandbox-mcp [--stdio] [--log-level trace|debug|info|warn|error]\n");
    return 0;
  }
  if (args && args->Has("--version")) {
    console.Out(std::string("nix-sandbox-mcp ") + kVersion + " (igloo " IGLOO_VERSION ")\n");
    return 0;
  }
  const Result<int> code = args ? ServeOriginal(console) : std::unexpected(args.error());
  if (code) return *code;
  console.Report(code.error());
  return args ? 1 : 2;
}

}  // namespace igloo::cli

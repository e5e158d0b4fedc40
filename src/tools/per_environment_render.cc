#include <fmt/format.h>

#include "base/error_text.h"
#include "base/text.h"
#include "mcp/service.h"
#include "service/runner.h"
#include "tools/per_environment.h"

namespace igloo::tools {
namespace {

using session::RunResult;
using session::Verdict;

/// Of each stream. As JSON a byte takes up to six, and clients end a connection at 10 MB a line.
constexpr std::size_t kMaxText = 512U << 10;

std::string TextOf(const session::CappedText& stream) {
  const std::string kept = stream.kept();
  std::string text = ToUtf8(kept.substr(0, kMaxText));
  if (stream.total() > kMaxText || stream.cut()) {
    text += fmt::format("\n[the first {} of {} bytes]", std::min(kept.size(), kMaxText),
                        stream.total());
  }
  return text;
}

/// The limit that ended it, when one did: an exit code alone would not tell.
std::string LimitOf(const EnvironmentTool& tool, Verdict verdict) {
  const config::SandboxSpec::Resources& resources = tool.spec.resources;
  switch (verdict) {
    case Verdict::kMemory:
      return fmt::format("it used more than its {} MB of memory", resources.memory_mb.value_or(0));
    case Verdict::kProcesses:
      return fmt::format("it had more than its {} processes", resources.processes.value_or(0));
    case Verdict::kDisk:
      return "it wrote more than there is room for";
    case Verdict::kOutput:
      return "it wrote more output than is taken";
    case Verdict::kInterrupted:
    case Verdict::kKilled:
      return "it was ended from outside";
    default:
      return "";
  }
}

std::string Join(std::string first, std::string_view second) {
  if (!first.empty() && !second.empty() && !first.ends_with('\n')) first += '\n';
  return std::move(first) + std::string(second);
}

/// The contract gives a failed command's standard error and nothing else; its output, which says
/// how far it came, stands before it where there is one.
std::string FailureText(const EnvironmentTool& tool, const RunResult& result) {
  const std::string output = TextOf(result.output), error = TextOf(result.error);
  std::string text = output;
  if (!error.empty()) text = output.empty() ? error : output + "\nStderr:\n" + error;
  const std::string limit = LimitOf(tool, result.verdict);
  if (error.empty() || !limit.empty()) {
    text = Join(std::move(text), fmt::format("Command failed with exit code {}{}{}",
                                             result.exit_code, limit.empty() ? "" : ": ", limit));
  }
  const bool could_have = tool.spec.security.network == "bridge" && !tool.raw_sockets;
  return Join(std::move(text), could_have ? service::RawSocketsHint(tool.environment, result) : "");
}

}  // namespace

mcp::Answer<mcp::ToolResult> Render(const EnvironmentTool& tool, const RunResult& result) {
  if (result.verdict == Verdict::kTimeout) {
    return mcp::Refuse(
        mcp::RpcCode::kInternalError,
        fmt::format("execution timeout after {} seconds", tool.spec.timeout_seconds));
  }
  if (result.verdict != Verdict::kOk) return mcp::ToolFailure(FailureText(tool, result));
  std::string text = TextOf(result.output);
  if (const std::string error = TextOf(result.error); !error.empty()) {
    text += "\nStderr:\n" + error;
  }
  mcp::ToolResult out;
  out.content.emplace_back(mcp::content::Text{std::move(text)});
  return out;
}

mcp::ToolResult RenderRefusal(const Error& error) {
  return mcp::ToolFailure("Sandbox execution failed: " + InOneLine(error));
}

}  // namespace igloo::tools

#include "mcp/pch.h"
#include "tools/render.h"
#include "tools/schema.h"

namespace igloo::tools {

namespace {

mcp::JsonObject SessionsProperty() {
  mcp::JsonObject sessions = Property("array", "those that live, for session_action list");
  sessions["items"] = mcp::JsonObject{
      {"type", "object"},
      {"properties", mcp::JsonObject{{"id", Property("string", "its name")},
                                     {"env", Property("string", "its environment")},
                                     {"age_seconds", Property("integer", "since its first call")},
                                     {"idle_seconds", Property("integer", "since its last call")},
                                     {"busy", Property("boolean", "a call is under way")}}},
      {"required", boost::json::array{"id", "env", "age_seconds", "idle_seconds", "busy"}}};
  return sessions;
}

}  // namespace

mcp::JsonObject OutputSchema() {
  const mcp::JsonObject file{
      {"type", "object"},
      {"properties",
       mcp::JsonObject{{"path", Property("string", "relative to the working directory")},
                       {"size", Property("integer", "in bytes")},
                       {"mime_type", Property("string", "its type")},
                       {"uri", Property("string", "resource to read it from")}}},
      {"required", boost::json::array{"path", "size", "mime_type"}}};
  mcp::JsonObject files = Property("array", "new and changed files in the working directory");
  files["items"] = file;
  mcp::JsonObject parts = Property("array", "what it displayed; pictures stand in the content");
  parts["items"] = mcp::JsonObject{
      {"type", "object"},
      {"properties",
       mcp::JsonObject{{"mime_type", Property("string", "its type")},
                       {"text", Property("string", "if it is text that fits here")},
                       {"uri", Property("string", "resource to read it from, if it does not")}}},
      {"required", boost::json::array{"mime_type"}}};
  return {{"type", "object"},
          {"properties",
           mcp::JsonObject{
               {"verdict", Property("string",
                                    "ok, exit, signal, timeout, memory, processes, disk, "
                                    "output, interrupted, killed; refused: it did not run")},
               {"summary", Property("string", "how it ended, and what to do about it")},
               {"env", Property("string", "the environment it ran in")},
               {"exit_code", Property("integer", "as a shell says it; absent if it did not run")},
               {"signal", Property("integer", "that ended it; absent if none did")},
               {"session", Property("string", "the session it ran in; absent if it had none")},
               {"value", Property("string", "of a last expression; absent if there is none")},
               {"parts", std::move(parts)},
               {"notes", TextsProperty("what became of the session, and what its network refused")},
               {"sessions", SessionsProperty()},
               {"timed_out", Property("boolean", "it hit its time limit")},
               {"stdout", Property("string", "what it printed")},
               {"stderr", Property("string", "what it printed as errors")},
               {"truncated", Property("boolean", "stdout or stderr is cut in the middle")},
               {"stdout_bytes", Property("integer", "before the cut")},
               {"stderr_bytes", Property("integer", "before the cut")},
               {"full_output", TextsProperty("resources with what is cut here")},
               {"duration_ms", Property("integer", "wall-clock time")},
               {"queued_ms", Property("integer", "it waited before, for a free place")},
               {"cpu_ms", Property("integer", "processor time; absent if unknown")},
               {"memory_bytes", Property("integer", "of its largest process; absent if unknown")},
               {"files", std::move(files)},
               {"more_files",
                Property("integer", "that are not listed here; resources/list has them")}}},
          {"required", boost::json::array{"verdict", "summary", "env", "timed_out", "stdout",
                                          "stderr", "truncated", "duration_ms", "files"}}};
}

}  // namespace igloo::tools

#include "tools/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "mcp/pch.h"
#include "tools/arguments.h"
#include "tools/clip.h"

namespace igloo::tools {
namespace {

using session::Verdict;

/// An answer is one line that must stay below 8 MiB, and pictures travel in base64.
constexpr std::size_t kMostPictures = 4U << 20;
/// So that reading one back fits into an answer, whatever is in it.
constexpr std::size_t kPart = 3U << 20;

std::string Seconds(std::uint64_t micros) {
  return fmt::format("{:.{}f} s", static_cast<double>(micros) / 1e6, micros < 10'000'000 ? 2 : 0);
}

std::string Limit(std::uint64_t milliseconds) {
  return fmt::format("{:g} s", static_cast<double>(milliseconds) / 1000.0);
}

/// How a run ended, and what can be done about it.
std::string Explain(const Finished& finished) {
  const session::RunResult& run = finished.run;
  switch (run.verdict) {
    case Verdict::kOk:
      return "exit code 0";
    case Verdict::kExit:
      return fmt::format("exit code {}", run.exit_code);
    case Verdict::kSignal:
      return fmt::format("ended by signal {}", run.signal);
    case Verdict::kTimeout:
      return fmt::format(
          "stopped at its time limit of {}; timeout_seconds gives it more, up to {} s",
          Limit(finished.time_limit_ms), kLongestSeconds);
    case Verdict::kMemory:
      return fmt::format("killed: it used more than its {} of memory; work on less at a time",
                         HumanBytes(finished.memory_limit_bytes));
    case Verdict::kProcesses:
      return fmt::format("exit code {}: it ran into its limit on processes; start fewer at once",
                         run.exit_code);
    case Verdict::kDisk:
      return fmt::format(
          "exit code {}: it filled its space for files, or wrote a file larger than it may; "
          "write less",
          run.exit_code);
    case Verdict::kOutput:
      return "killed: it wrote without end; print less";
    case Verdict::kInterrupted:
      return "interrupted";
    case Verdict::kKilled:
      return "killed";
  }
  return "?";
}

/// Something to keep for a run, and where the result says so.
struct KeptOutput {
  std::string_view stream;
  std::vector<std::string> uris = {};
};

/// A stream as it is kept: the beginning and the end, when it was too long even for that.
std::string WholeText(const session::CappedText& stream) {
  if (!stream.cut()) return stream.kept();
  return fmt::format("{}\n[... {} bytes were not kept]\n{}", stream.kept(), stream.omitted(),
                     stream.last());
}

void AddStream(std::string_view name, const session::CappedText& stream, std::size_t room,
               std::vector<Store::Item>& items, std::vector<std::string_view>& owners) {
  if (stream.total() <= room) return;
  const std::string whole = WholeText(stream);
  std::string_view rest = whole;
  for (int part = 1; !rest.empty(); ++part) {
    const std::string_view piece = WholeCharacters(rest, kPart);
    rest.remove_prefix(piece.size());
    const bool only = part == 1 && rest.empty();
    items.push_back({.name = only ? std::string(name) : fmt::format("{}-{}", name, part),
                     .mime_type = "text/plain",
                     .bytes = std::string(piece)});
    owners.push_back(name);
  }
}

/// Everything of one run that its result only names.
struct Named {
  std::vector<std::string> output = {}, error = {};
  std::vector<std::string> files = {};  ///< in the order of the files; empty: not kept
};

Named KeepAll(const Finished& finished, const Share& share, Store& store) {
  std::vector<Store::Item> items;
  std::vector<std::string_view> owners;
  AddStream("stdout", finished.run.output, share.output, items, owners);
  AddStream("stderr", finished.run.error, share.error, items, owners);
  const std::size_t streams = items.size();
  for (const session::LeftFile& file : finished.left.files) {
    if (!file.read) continue;
    items.push_back({.name = "files/" + file.path,
                     .mime_type = MimeTypeOf(file.path, file.bytes),
                     .bytes = file.bytes});
  }
  const std::vector<std::string> uris = store.Keep(std::move(items));
  Named named;
  for (std::size_t i = 0; i < streams && i < uris.size(); ++i) {
    (owners[i] == "stdout" ? named.output : named.error).push_back(uris[i]);
  }
  std::size_t next = streams;
  for (const session::LeftFile& file : finished.left.files) {
    named.files.push_back(file.read && next < uris.size() ? uris[next] : "");
    if (file.read) ++next;
  }
  return named;
}

std::string Advice(const session::CappedText& stream, const std::vector<std::string>& uris) {
  if (uris.empty()) return "";
  std::string advice = stream.cut() ? "its first and last parts are in " : "all of it is in ";
  for (const std::string& uri : uris) advice += (&uri == uris.data() ? "" : " and ") + uri;
  return advice;
}

mcp::JsonObject FileJson(const session::LeftFile& file, const std::string& uri) {
  mcp::JsonObject out{{"path", ToUtf8(file.path)},
                      {"size", file.size},
                      {"mime_type", MimeTypeOf(file.path, file.bytes)}};
  if (!uri.empty()) out["uri"] = uri;
  return out;
}

std::string FileLine(const session::LeftFile& file, const std::string& uri) {
  std::string line = fmt::format("[file {}, {} bytes, ", Printable(file.path), file.size);
  line += uri.empty() ? "too large to be kept: print what is needed of it" : uri;
  return line + "]\n";
}

/// Links to what was kept, and the pictures themselves.
void AddContent(const Finished& finished, const Named& named, mcp::ToolResult& result) {
  std::size_t pictures = 0;
  const auto& files = finished.left.files;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string type = MimeTypeOf(files[i].path, files[i].bytes);
    const bool picture = IsImage(type) && pictures + files[i].bytes.size() <= kMostPictures;
    if (picture && !files[i].bytes.empty()) {
      pictures += files[i].bytes.size();
      result.content.emplace_back(mcp::content::Image{{files[i].bytes}, type});
    }
    if (named.files[i].empty()) continue;
    result.content.emplace_back(mcp::content::Link{{.uri = named.files[i],
                                                    .name = ToUtf8(files[i].path),
                                                    .mime_type = type,
                                                    .size = files[i].size}});
  }
  for (const auto* uris : {&named.output, &named.error}) {
    for (const std::string& uri : *uris) {
      result.content.emplace_back(mcp::content::Link{
          {.uri = uri, .name = uri.substr(uri.rfind('/') + 1), .mime_type = "text/plain"}});
    }
  }
}

boost::json::array Texts(const std::vector<std::string>& texts) {
  boost::json::array out;
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

mcp::JsonObject Structured(const Finished& finished, const Presentation& how, const Shown& out,
                           const Shown& err, const Named& named) {
  const session::RunResult& run = finished.run;
  mcp::JsonObject o{{"verdict", session::Name(run.verdict)},
                    {"summary", Explain(finished)},
                    {"env", how.environment},
                    {"exit_code", run.exit_code},
                    {"timed_out", run.verdict == Verdict::kTimeout},
                    {"stdout", out.text},
                    {"stderr", err.text},
                    {"truncated", out.omitted + err.omitted > 0},
                    {"stdout_bytes", run.output.total()},
                    {"stderr_bytes", run.error.total()},
                    {"duration_ms", run.usage.wall_micros / 1000},
                    {"cpu_ms", run.usage.cpu_micros / 1000},
                    {"memory_bytes", run.usage.peak_kib * 1024}};
  if (run.signal != 0) o["signal"] = run.signal;
  if (!finished.session.empty()) o["session"] = finished.session;
  if (finished.value) o["value"] = *finished.value;
  if (!finished.notes.empty()) o["notes"] = Texts(finished.notes);
  std::vector<std::string> kept = named.output;
  kept.insert(kept.end(), named.error.begin(), named.error.end());
  if (!kept.empty()) o["full_output"] = Texts(kept);
  boost::json::array files;
  for (std::size_t i = 0; i < finished.left.files.size(); ++i) {
    files.push_back(FileJson(finished.left.files[i], named.files[i]));
  }
  o["files"] = std::move(files);
  return o;
}

/// Parts that are no pictures are kept to be read.
void AddPart(const session::Part& part, mcp::ToolResult& result) {
  if (IsImage(part.type)) {
    result.content.emplace_back(mcp::content::Image{{part.bytes}, part.type});
  } else {
    result.content.emplace_back(mcp::content::Text{part.bytes});
  }
}

void AddSection(std::string& text, std::string_view heading, const std::string& section) {
  if (section.empty()) return;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += heading;
  text += section;
}

std::string Text(const Finished& finished, const Shown& out, const Shown& err, const Named& named) {
  std::string text = out.text;
  AddSection(text, text.empty() ? "" : "--- stderr ---\n", err.text);
  if (finished.value) AddSection(text, "", *finished.value + "\n");
  std::string footer;
  for (const std::string& note : finished.notes) footer += "[" + note + "]\n";
  for (std::size_t i = 0; i < finished.left.files.size(); ++i) {
    footer += FileLine(finished.left.files[i], named.files[i]);
  }
  if (!finished.looked_for_files) {
    footer += "[files are not returned: the environment's backend, bubblewrap, cannot]\n";
  }
  if (!finished.left.complete) footer += "[there are more files, which are not listed]\n";
  footer += fmt::format("[{}, {}]", Explain(finished), Seconds(finished.run.usage.wall_micros));
  AddSection(text, "", footer);
  return text;
}

mcp::JsonObject Property(std::string_view type, std::string_view description) {
  return {{"type", type}, {"description", description}};
}

}  // namespace

mcp::ToolResult RenderRun(const Finished& finished, const Presentation& how, Store& store) {
  const session::RunResult& run = finished.run;
  const Share share = Divide(how.room, run.output.total(), run.error.total());
  const Named named = KeepAll(finished, share, store);
  const Shown out = Clip(run.output, share.output, Advice(run.output, named.output));
  const Shown err = Clip(run.error, share.error, Advice(run.error, named.error));
  mcp::ToolResult result;
  result.content.emplace_back(mcp::content::Text{Text(finished, out, err, named)});
  AddContent(finished, named, result);
  std::size_t shown = 0;
  for (const session::Part& part : finished.parts) {
    shown += part.bytes.size();
    if (shown <= kMostPictures) AddPart(part, result);
  }
  result.structured = Structured(finished, how, out, err, named);
  result.is_error = run.verdict != Verdict::kOk;
  return result;
}

mcp::ToolResult RenderFailure(const Error& error, const std::string& environment) {
  const std::string text = error.hint.empty() ? error.what : error.what + "; " + error.hint;
  mcp::ToolResult result;
  result.content.emplace_back(mcp::content::Text{ToUtf8(text)});
  result.structured = mcp::JsonObject{{"verdict", "refused"},
                                      {"summary", ToUtf8(text)},
                                      {"env", environment},
                                      {"timed_out", false},
                                      {"stdout", ""},
                                      {"stderr", ""},
                                      {"truncated", false},
                                      {"duration_ms", 0},
                                      {"files", boost::json::array{}}};
  result.is_error = true;
  return result;
}

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
  mcp::JsonObject full = Property("array", "resources with output that is cut here");
  full["items"] = mcp::JsonObject{{"type", "string"}};
  mcp::JsonObject notes = Property("array", "what became of the session");
  notes["items"] = mcp::JsonObject{{"type", "string"}};
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
               {"notes", std::move(notes)},
               {"timed_out", Property("boolean", "it hit its time limit")},
               {"stdout", Property("string", "what it printed")},
               {"stderr", Property("string", "what it printed as errors")},
               {"truncated", Property("boolean", "stdout or stderr is cut in the middle")},
               {"stdout_bytes", Property("integer", "before the cut")},
               {"stderr_bytes", Property("integer", "before the cut")},
               {"full_output", std::move(full)},
               {"duration_ms", Property("integer", "wall-clock time")},
               {"cpu_ms", Property("integer", "processor time")},
               {"memory_bytes", Property("integer", "of its largest process")},
               {"files", std::move(files)}}},
          {"required", boost::json::array{"verdict", "summary", "env", "timed_out", "stdout",
                                          "stderr", "truncated", "duration_ms", "files"}}};
}

}  // namespace igloo::tools

#include "tools/render.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error_text.h"
#include "base/text.h"
#include "mcp/pch.h"
#include "tools/arguments.h"
#include "tools/clip.h"
#include "tools/named.h"
#include "tools/picture.h"

namespace igloo::tools {
namespace {

using session::Verdict;

/// An answer is one line that must stay below 8 MiB; some of them are for what stands around the
/// result and for links.
constexpr std::size_t kMostAnswer = (8U << 20) - (512U << 10);
/// Files that a result lists, and the bytes of each path that it shows: a list must not crowd the
/// output out of a model's memory.
constexpr std::size_t kListed = 20, kLongestPath = 200;
/// What a session shows as text is at most this long, together.
constexpr std::size_t kMostParts = 100'000;

std::string Seconds(std::uint64_t micros) {
  return fmt::format("{:.{}f} s", static_cast<double>(micros) / 1e6, micros < 10'000'000 ? 2 : 0);
}

std::string Limit(std::uint64_t milliseconds) {
  return fmt::format("{:g} s", static_cast<double>(milliseconds) / 1000.0);
}

/// A wait that somebody noticed: it is not the code that was slow.
std::string Waited(const service::Finished& finished) {
  constexpr std::int64_t kNoticed = 100'000;
  if (finished.queued_micros <= kNoticed) return "";
  return ", after " + Seconds(static_cast<std::uint64_t>(finished.queued_micros)) +
         " of waiting for a free place";
}

std::string Advice(const session::CappedText& stream, const std::vector<std::string>& uris) {
  if (uris.empty()) return "";
  std::string advice = stream.cut() ? "its first and last parts are in " : "all of it is in ";
  for (const std::string& uri : uris) advice += (&uri == uris.data() ? "" : " and ") + uri;
  return advice;
}

mcp::JsonObject FileJson(const NamedItem& file) {
  mcp::JsonObject out{{"path", ToUtf8(file.name)}, {"size", file.size}, {"mime_type", file.type}};
  if (!file.uri.empty()) out["uri"] = file.uri;
  return out;
}

std::string WhyNotKept(const NamedItem& thing) {
  if (thing.state == session::LeftFile::State::kUnreadable) return "cannot be read";
  return "too large to be kept: print what is needed of it";
}

std::string FileLine(const NamedItem& file) {
  return fmt::format("[file {}, {} bytes, {}]\n", Printable(Quoted(file.name, kLongestPath)),
                     file.size, file.uri.empty() ? WhyNotKept(file) : file.uri);
}

std::string FileLines(const std::vector<NamedItem>& files) {
  std::string lines;
  for (std::size_t i = 0; i < std::min(files.size(), kListed); ++i) lines += FileLine(files[i]);
  if (files.size() > kListed) {
    lines += fmt::format("[and {} more files: resources/list]\n", files.size() - kListed);
  }
  return lines;
}

mcp::Content LinkTo(const NamedItem& thing) {
  return mcp::content::Link{{.uri = thing.uri,
                             .name = Quoted(ToUtf8(thing.name), kLongestPath),
                             .mime_type = thing.type,
                             .size = thing.size}};
}

/// Pictures as far as there is room for them, and links to what was kept.
class Contents {
 public:
  Contents(std::size_t room, Sequences sequences, mcp::ToolResult& result)
      : room_(room), sequences_(sequences), result_(result) {}

  void Add(Named& named) {
    for (std::size_t i = 0; i < named.files.size(); ++i) {
      NamedItem& file = named.files[i];
      const bool shown = file.shown && AddPicture(*std::move(file.shown), file.type);
      if ((shown || i < kListed) && !file.uri.empty()) result_.content.push_back(LinkTo(file));
    }
    for (const auto* uris : {&named.output, &named.error, &named.value}) {
      for (const std::string& uri : *uris) {
        result_.content.emplace_back(mcp::content::Link{
            {.uri = uri, .name = uri.substr(uri.rfind('/') + 1), .mime_type = "text/plain"}});
      }
    }
    for (NamedItem& part : named.parts) AddPart(part);
  }

 private:
  void AddPart(NamedItem& part) {
    if (part.shown && !IsImage(part.type)) {
      AddText(Clean(part.shown->bytes, sequences_));
    } else if (part.shown && AddPicture(*std::move(part.shown), part.type)) {
      return;
    } else if (!part.uri.empty() && links_++ < kListed) {
      result_.content.push_back(LinkTo(part));
    }
  }
  void AddText(std::string text) {
    const std::size_t size = JsonSize(text);
    if (size > room_) return;
    room_ -= size;
    result_.content.emplace_back(mcp::content::Text{std::move(text)});
  }
  bool AddPicture(mcp::Blob picture, const std::string& type) {
    const std::size_t size = (picture.bytes.size() + 2) / 3 * 4;
    if (size > room_) return false;
    room_ -= size;
    result_.content.emplace_back(mcp::content::Image{std::move(picture), type});
    return true;
  }

  std::size_t room_;
  Sequences sequences_;
  std::size_t links_ = 0;  ///< to parts
  mcp::ToolResult& result_;
};

/// What a session showed: texts as they are, all else as where it can be read, if it can.
boost::json::array PartsJson(const std::vector<NamedItem>& parts, Sequences sequences) {
  boost::json::array out;
  for (const NamedItem& part : parts) {
    mcp::JsonObject each{{"mime_type", part.type}};
    if (part.shown && !IsImage(part.type)) each["text"] = Clean(part.shown->bytes, sequences);
    if (!part.uri.empty()) each["uri"] = part.uri;
    out.push_back(std::move(each));
  }
  return out;
}

boost::json::array Texts(const std::vector<std::string>& texts) {
  boost::json::array out;
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

/// What of each stream is shown.
struct Streams {
  Shown output = {}, error = {};
  std::optional<Shown> value = {};
};

Streams ClipAll(const service::Finished& finished, const Room& room, const Named& named,
                Sequences sequences) {
  const session::RunResult& run = finished.run;
  Streams streams{
      .output = Clip(run.output, room.output, Advice(run.output, named.output), sequences),
      .error = Clip(run.error, room.error, Advice(run.error, named.error), sequences)};
  if (finished.value) {
    session::CappedText value(finished.value->size());
    value.Append(*finished.value);
    streams.value = Clip(value, room.value, Advice(value, named.value), sequences);
  }
  return streams;
}

mcp::JsonObject Structured(const service::Finished& finished, const Presentation& how,
                           const Streams& streams, const Named& named) {
  const session::RunResult& run = finished.run;
  mcp::JsonObject o{{"verdict", session::Name(run.verdict)},
                    {"summary", HowItEnded(finished)},
                    {"env", how.environment},
                    {"exit_code", run.exit_code},
                    {"timed_out", run.verdict == Verdict::kTimeout},
                    {"stdout", streams.output.text},
                    {"stderr", streams.error.text},
                    {"truncated", streams.output.omitted + streams.error.omitted > 0},
                    {"stdout_bytes", run.output.total()},
                    {"stderr_bytes", run.error.total()},
                    {"duration_ms", run.usage.wall_micros / 1000},
                    {"queued_ms", finished.queued_micros / 1000}};
  if (run.usage.peak_kib != 0) {  // not every interpreter knows
    o["cpu_ms"] = run.usage.cpu_micros / 1000;
    o["memory_bytes"] = run.usage.peak_kib * 1024;
  }
  if (run.signal != 0) o["signal"] = run.signal;
  if (!finished.session.empty()) o["session"] = finished.session;
  if (streams.value) o["value"] = streams.value->text;
  if (!named.parts.empty()) o["parts"] = PartsJson(named.parts, how.sequences);
  if (const auto notes = service::NotesOf(finished); !notes.empty()) o["notes"] = Texts(notes);
  std::vector<std::string> kept = named.output;
  kept.insert(kept.end(), named.error.begin(), named.error.end());
  kept.insert(kept.end(), named.value.begin(), named.value.end());
  if (!kept.empty()) o["full_output"] = Texts(kept);
  boost::json::array files;
  for (std::size_t i = 0; i < std::min(named.files.size(), kListed); ++i) {
    files.push_back(FileJson(named.files[i]));
  }
  o["files"] = std::move(files);
  if (named.files.size() > kListed) o["more_files"] = named.files.size() - kListed;
  return o;
}

void AddSection(std::string& text, std::string_view heading, const std::string& section) {
  if (section.empty()) return;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += heading;
  text += section;
}

std::string Text(const service::Finished& finished, const Streams& streams, const Named& named) {
  std::string text = streams.output.text;
  AddSection(text, text.empty() ? "" : "--- stderr ---\n", streams.error.text);
  if (streams.value) AddSection(text, "", streams.value->text + "\n");
  std::string footer;
  for (const std::string& note : service::NotesOf(finished)) footer += "[" + note + "]\n";
  footer += FileLines(named.files);
  if (!finished.looked_for_files) {
    footer += fmt::format("[files are not returned: the environment's backend, {}, cannot]\n",
                          finished.backend);
  }
  if (!finished.left.complete) footer += "[there are more files, which are not listed]\n";
  footer += fmt::format("[{}, {}{}]", HowItEnded(finished), Seconds(finished.run.usage.wall_micros),
                        Waited(finished));
  AddSection(text, "", footer);
  return text;
}

Room RoomFor(const service::Finished& finished, std::size_t room) {
  const std::uint64_t output = finished.run.output.total(), error = finished.run.error.total();
  // The value of an expression is to output what errors are: short as a rule, and it matters.
  const std::uint64_t value = finished.value ? finished.value->size() : 0;
  const Share first = Divide(room, output + error, value);
  const Share rest = Divide(first.output, output, error);
  return {.output = rest.output,
          .error = rest.error,
          .value = first.error,
          .parts = std::min(room, kMostParts)};
}

}  // namespace

std::string HowItEnded(const service::Finished& finished) {
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

bool EndedFromOutside(session::Verdict verdict) {
  return verdict != Verdict::kOk && verdict != Verdict::kExit;
}

mcp::ToolResult RenderRun(service::Finished finished, const Presentation& how,
                          service::OutputStore& store) {
  const Room room = RoomFor(finished, how.room);
  Named named = NameAll(finished, room, store);
  const Streams streams = ClipAll(finished, room, named, how.sequences);
  std::string text = Text(finished, streams, named);
  mcp::ToolResult result;
  result.structured = Structured(finished, how, streams, named);
  // INVARIANT: text and lists are bounded so that they always fit; pictures get what they leave.
  const std::size_t taken = JsonSize(text) + boost::json::serialize(*result.structured).size();
  result.content.emplace_back(mcp::content::Text{std::move(text)});
  Contents(kMostAnswer - std::min(taken, kMostAnswer), how.sequences, result).Add(named);
  result.is_error = finished.run.verdict != Verdict::kOk;
  return result;
}

mcp::ToolResult RenderWord(std::string text, const std::string& environment) {
  mcp::ToolResult result;
  result.structured =
      mcp::JsonObject{{"verdict", "ok"},    {"summary", text},  {"env", environment},
                      {"timed_out", false}, {"stdout", ""},     {"stderr", ""},
                      {"truncated", false}, {"duration_ms", 0}, {"files", boost::json::array{}}};
  result.content.emplace_back(mcp::content::Text{std::move(text)});
  return result;
}

mcp::ToolResult RenderFailure(const Error& error, const std::string& environment) {
  mcp::ToolResult result = RenderWord(ToUtf8(InOneLine(error)), environment);
  result.structured->as_object()["verdict"] = "refused";
  result.is_error = true;
  return result;
}

}  // namespace igloo::tools

#include "backend/microvm/orders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "ops/ops.h"

namespace igloo::backend::microvm {
namespace {

constexpr const char* kReport = "this should not happen; please report it";

void AddMount(const Share& share, std::string& mounts) {
  const std::string_view options =
      share.writable ? "rw,trans=virtio,version=9p2000.L,msize=512000,access=any,cache=mmap"
                     : "ro,trans=virtio,version=9p2000.L,msize=512000,access=any,cache=loose";
  for (const std::string_view text : {std::string_view("9p"), std::string_view(share.tag),
                                      std::string_view(share.directory), options}) {
    mounts += text;
    mounts += '\0';
  }
}

std::string Mounts(const Division& division) {
  std::string mounts;
  for (const Share& share : division.shares) AddMount(share, mounts);
  return mounts;
}

std::string_view Doing(machine::Stage stage) {
  using machine::Stage;
  switch (stage) {
    case Stage::kDevices:
      return "looking for its devices";
    case Stage::kModule:
      return "loading a module of its kernel";
    case Stage::kPorts:
      return "waiting for its channels";
    case Stage::kOrders:
      return "reading its orders";
    case Stage::kClock:
      return "setting its clock";
    case Stage::kMount:
      return "mounting";
    case Stage::kStreams:
      return "connecting the program's streams";
    case Stage::kSources:
      return "looking at";
    case Stage::kLauncher:
      return "starting its launcher";
    case Stage::kNone:
    case Stage::kLast:
      break;
  }
  return "starting";
}

/// The end of what it said, in one line, behind its outcome.
std::string LastWords(const machine::Event& event) {
  std::string text = TextOf(event);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.empty()) return "; it said nothing";
  return "; it said last: " + text;
}

}  // namespace

Result<std::string> EncodeOrders(const Division& division, std::span<const machine::Way> extra,
                                 const Birth& birth) {
  const std::string environment = sandbox::Encode(division.inside.environment);
  const std::string fresh = sandbox::Encode(division.inside.fresh);
  const std::string run = sandbox::Encode(division.inside.run);
  const std::size_t body = environment.size() + fresh.size() + run.size();
  const std::string mounts = Mounts(division);
  if (body > ops::kMaxBytes || mounts.size() > machine::kMaxMounts) {
    return Fail(Errc::kExhausted, "the plan is larger than 80 MB",
                "code of up to 64 MB can be run; pass larger data in the project");
  }
  ops::Request request{};
  request.magic = ops::kMagic;
  request.kind = ops::Kind::kRun;
  request.fd_count = static_cast<std::uint16_t>(ops::kFirstExtra + extra.size());
  request.environment_bytes = static_cast<std::uint32_t>(environment.size());
  request.fresh_bytes = static_cast<std::uint32_t>(fresh.size());
  request.run_bytes = static_cast<std::uint32_t>(run.size());
  request.inner_uid = division.inside.identity.uid;
  request.inner_gid = division.inside.identity.gid;
  request.host_id_base = division.inside.identity.host_id_base;
  request.init_fds = static_cast<std::uint32_t>(request.fd_count - ops::kControl);

  machine::Launch launch{};
  launch.magic = machine::kMagic;
  launch.extra = static_cast<std::uint32_t>(extra.size());
  std::ranges::copy(extra, launch.ways);
  launch.seconds = birth.seconds;
  launch.nanoseconds = birth.nanoseconds;
  std::ranges::copy(birth.seed, launch.seed);
  launch.mounts_bytes = static_cast<std::uint32_t>(mounts.size());
  launch.request_bytes = static_cast<std::uint32_t>(sizeof request + body);

  std::string orders(reinterpret_cast<const char*>(&launch), sizeof launch);
  orders += mounts;
  orders.append(reinterpret_cast<const char*>(&request), sizeof request);
  return orders + environment + fresh + run;
}

bool Events::Next(machine::Event& event) {
  if (bytes_.size() < sizeof event) return false;
  std::memcpy(&event, bytes_.data(), sizeof event);
  bytes_.erase(0, sizeof event);
  return true;
}

std::string TextOf(const machine::Event& event) {
  const std::size_t size = std::min<std::size_t>(event.text_size, sizeof event.text);
  return Printable({event.text, size}, Newlines::kEscape);
}

Error ExplainEvent(const machine::Event& event) {
  using machine::EventKind;
  if (event.kind == EventKind::kFailed) {
    return {Errc::kFailedPrecondition,
            fmt::format("the virtual machine could not start the sandbox while {} '{}': {}",
                        Doing(event.stage), TextOf(event), ErrnoText(event.sys_errno)),
            "run 'igloo doctor' to see what this machine can do", event.sys_errno};
  }
  if (event.kind == EventKind::kNotStarted) {
    return {Errc::kFailedPrecondition,
            "the emulator could not be started: " + ErrnoText(event.sys_errno), kReport,
            event.sys_errno};
  }
  const int status = event.sys_errno;
  std::string how = fmt::format("QEMU exited with {}", status);
  if (status >= 128) how = fmt::format("QEMU was ended by signal {}", status - 128);
  if (TextOf(event).contains("Kernel panic")) how = "its kernel panicked";
  return {Errc::kFailedPrecondition,
          "the virtual machine ended by itself: " + how + LastWords(event),
          "out of memory? 'memory_mb' gives it more", 0};
}

}  // namespace igloo::backend::microvm

#include "session/zygote.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>

#include "base/file.h"
#include "base/text.h"
#include "session/box.h"
#include "session/pass.h"

namespace igloo::session {
namespace {

/// The program comes behind it: as an argument, Python would keep it several times, four bytes a
/// letter. It is compiled by a child, because a compilation leaves memory in pieces between which
/// little can be given back, and without the words that are for people; its text is not kept. Every
/// fork would have its share of all that.
constexpr std::string_view kLoader = R"py(
import marshal, os
def compiled(text):
    read, write = os.pipe()
    if os.fork() == 0:
        with open(write, "wb") as out:
            marshal.dump(compile(text, "<string>", "exec", optimize=2), out)
        os._exit(0)
    os.close(write)
    with open(read, "rb") as file:
        code = marshal.load(file)
    os.wait()
    return code
exec(compiled(os.read(3, 1 << 20)))
)py";

/// Some tens of kilobytes: they fit, and nobody has to wait for a reader.
Result<void> SendText(int socket, std::string_view text) {
  if (::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
      static_cast<ssize_t>(text.size())) {
    return {};
  }
  return Fail(Errc::kExhausted, "the orders of a ready interpreter do not fit into a socket");
}

}  // namespace

Result<Zygote> Zygote::Start(backend::jail::JailBackend& backend, const sandbox::Plan& plan,
                             std::string_view program, const std::vector<std::string>& preload) {
  // The host's belongs to no namespace over which the zygote has a right.
  if (std::holds_alternative<sandbox::HostNetwork>(plan.network)) {
    return Fail(Errc::kFailedPrecondition,
                "an interpreter that is forked cannot enter the host's network");
  }
  wire::Start start = backend::StartMessage(plan.payload, wire::NewNonce());
  start.seccomp = wire::SeccompProfile::kZygote;
  // Its forks get both from igloo-init; here they would count other sandboxes' processes.
  start.limits.clear();
  start.paths.clear();
  start.cwd = "/";
  start.extra_descriptors = 1;
  // Behind the interpreter and its options stand the driver's file, which is not there, and the
  // code's.
  if (start.argv.size() < 3) return Fail(Errc::kInvalidArgument, "this is no driver's plan");
  const std::string code_file = start.argv.back();
  start.argv.resize(start.argv.size() - 2);
  start.argv.insert(start.argv.end(), {"-c", std::string(kLoader), code_file});
  start.argv.insert(start.argv.end(), preload.begin(), preload.end());
  IGLOO_ASSIGN(const std::string frame, wire::EncodeStart(start));

  IGLOO_ASSIGN(FdPair control, MakeSocketPair(SOCK_STREAM));
  IGLOO_ASSIGN(FdPair orders, MakeSocketPair(SOCK_SEQPACKET));
  const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const std::array fds = {control.second.get(), nothing.get(), nothing.get(), nothing.get(),
                          orders.second.get()};
  IGLOO_TRY(SendText(control.first.get(), frame));
  IGLOO_TRY(SendText(orders.first.get(), program));
  Zygote zygote;
  IGLOO_ASSIGN(zygote.hold_, backend.StartZygote(plan, fds));
  zygote.orders_ = std::move(orders.first);
  return zygote;
}

Result<void> Zygote::Fork(UniqueFd adoption, const cgroup::Lease* group) {
  std::vector<int> fds = {adoption.get()};
  UniqueFd entrance;
  if (group != nullptr && group->leaf().kind() == cgroup::Kind::kV2) {
    entrance.Reset(::openat(group->leaf().entrance(), "cgroup.procs", O_WRONLY | O_CLOEXEC));
    if (!entrance) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot open the entrance of the cgroup");
    }
    fds.push_back(entrance.get());
  } else if (group != nullptr) {
    fds.push_back(group->leaf().entrance());
  }
  return PassFds(orders_.get(), 'f', fds);
}

bool Zygote::alive() const {
  char ignored;
  return ::recv(orders_.get(), &ignored, 1, MSG_PEEK | MSG_DONTWAIT) != 0;
}

void Zygote::Listen() {
  std::array<char, 2048> buffer;
  for (;;) {
    const ssize_t size = ::recv(orders_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size <= 0) return;
    const std::string_view said(buffer.data(), static_cast<std::size_t>(size));
    if (said == "ready") {
      ready_ = true;
    } else if (complaints_.size() < 100) {
      complaints_.push_back(Printable(said));
    }
  }
}

bool Zygote::ready() {
  if (!ready_) Listen();
  return ready_;
}

std::vector<std::string> Zygote::TakeComplaints() {
  Listen();
  return std::exchange(complaints_, {});
}

}  // namespace igloo::session

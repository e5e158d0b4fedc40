#include "backend/container/container.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/container/host_ids.h"
#include "backend/container/render.h"
#include "backend/launched_sandbox.h"
#include "base/file.h"
#include "base/text.h"
#include "container/place.h"

namespace igloo::backend::container {
namespace {

/// Where all igloos of this machine agree on who has which ids.
constexpr const char* kLeases = "/run/igloo";

/// One that nobody can guess, in the 64 letters that a host's name may have.
Result<std::string> NewMachineName() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) == sizeof number) {
    return fmt::format("igloo-{:016x}", number);
  }
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot get random bytes");
}

constexpr const char* kKilled = "something on this machine killed it (out of memory?); see dmesg";

/// What to do about an engine that made no container, or ended one.
std::string HintFor(std::string_view complaint) {
  if (complaint.contains("terminated by signal")) return kKilled;
  if (complaint.contains("cgroup")) {
    return "a container needs the directory /sys/fs/cgroup (of a mounted sysfs) and the right to "
           "make cgroups of version 2; inside another container, start that one with more rights "
           "(--privileged), or use another backend";
  }
  if (complaint.contains("Operation not permitted") || complaint.contains("Permission denied")) {
    return "systemd-nspawn needs all rights of root: in a container, start that one with more "
           "(--privileged), or use another backend";
  }
  return "see 'igloo doctor', or use another backend";
}

class ContainerSandbox : public LaunchedSandbox {
 public:
  ContainerSandbox(UniqueFd reply, const sandbox::Plan& plan, Launcher launcher,
                   UniqueFd complaints, IdBlock ids)
      : LaunchedSandbox(std::move(reply), plan),
        ids_(std::move(ids)),
        complaints_(std::move(complaints)),
        launcher_(std::move(launcher)) {}

  void Kill() override {
    LaunchedSandbox::Kill();
    launcher_.HangUp();
  }

  Error WhyGone() override {
    const std::string said = Complaint();
    if (said.empty()) {
      return {Errc::kFailedPrecondition, "the container ended without a report", kKilled, 0};
    }
    return {Errc::kFailedPrecondition, "the container ended: " + said, HintFor(said), 0};
  }

 private:
  Error OnFailure(const ops::Reply& reply) override {
    if (reply.step != ops::Step::kClone) return LaunchedSandbox::OnFailure(reply);
    const std::string said = Complaint();
    return {Errc::kFailedPrecondition,
            "systemd-nspawn made no container: " + (said.empty() ? "it says nothing" : said),
            HintFor(said), 0};
  }

  /// What the engine has written so far.
  std::string Complaint() const {
    (void)SetNonBlocking(complaints_.get());
    std::string text(16U << 10, '\0');
    const ssize_t count = ::read(complaints_.get(), text.data(), text.size());
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    while (text.ends_with('\n')) text.pop_back();
    return Printable(text);
  }

  IdBlock ids_;
  UniqueFd complaints_;
  Launcher launcher_;  // ends first, and everything with it
};

class ContainerBackend : public Backend {
 public:
  ContainerBackend(Programs programs, bool timeline)
      : programs_(std::move(programs)), timeline_(timeline) {}

  HostIds expected_ids() const override { return {.kind = HostIds::Kind::kOwn}; }

  Result<std::unique_ptr<Sandbox>> Start(const sandbox::Plan& plan, Channels channels) override {
    IGLOO_ASSIGN(IdBlock ids, LeaseBlock(kLeases));
    IGLOO_ASSIGN(const std::string machine, NewMachineName());
    IGLOO_ASSIGN(const Command command, Render(plan, {.machine = machine, .first_id = ids.first}));
    IGLOO_ASSIGN(FdPair complaints, MakePipe());
    SpawnOptions options{.program = programs_.container,
                         .argv = {"igloo-container"},
                         .env = command.env,
                         .fds = {{complaints.second.get(), STDERR_FILENO},
                                 {ids.lease.get(), igloo::container::kLease}},
                         .own_session = true};
    options.argv.insert(options.argv.end(), command.argv.begin(), command.argv.end());
    IGLOO_ASSIGN(Launcher launcher, Launcher::StartProgram(std::move(options)));

    IGLOO_ASSIGN(FdPair reply, MakeSocketPair(SOCK_SEQPACKET));
    // A container is not born into a cgroup: it enters when it has its job.
    IGLOO_ASSIGN(StartRequest start,
                 MakeStartRequest(plan, ops::Kind::kRun, channels, reply.second.get(), true));
    start.request.host_id_base = ids.first;
    if (timeline_) start.request.flags |= ops::kRequestTimeline;
    const std::string environment = sandbox::Encode(plan.environment);
    const std::string fresh = sandbox::Encode(plan.fresh);
    const std::string run = sandbox::Encode(plan.run);
    IGLOO_TRY(launcher.Send(start.request, {.environment = environment, .fresh = fresh, .run = run},
                            start.fds));
    IGLOO_TRY(SetNonBlocking(reply.first.get()));
    return std::make_unique<ContainerSandbox>(std::move(reply.first), plan, std::move(launcher),
                                              std::move(complaints.first), std::move(ids));
  }

 private:
  Programs programs_;
  bool timeline_;
};

}  // namespace

Result<std::unique_ptr<Backend>> Make(Programs programs, bool timeline) {
  if (::access(igloo::container::kEngine, X_OK) != 0) {
    return Fail(Errc::kNotFound, "systemd-nspawn is not installed",
                "install it: sudo apt install systemd-container");
  }
  return std::make_unique<ContainerBackend>(std::move(programs), timeline);
}

}  // namespace igloo::backend::container

#include "backend/jail/jail.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "backend/explain.h"
#include "backend/launched_sandbox.h"
#include "base/error_text.h"
#include "base/file.h"

namespace igloo::backend::jail {
namespace {

/// One that may stand on a template.
class JailSandbox : public LaunchedSandbox {
 public:
  JailSandbox(UniqueFd reply, const sandbox::Plan& plan, std::shared_ptr<Templates> templates,
              std::shared_ptr<const std::uint64_t> template_id)
      : LaunchedSandbox(std::move(reply), plan),
        templates_(std::move(templates)),
        template_id_(std::move(template_id)) {}

 private:
  Error OnFailure(const ops::Reply& reply) override {
    if (reply.step == ops::Step::kUnknownTemplate || reply.step == ops::Step::kTemplateGone) {
      std::erase_if(*templates_, [&](const auto& each) { return each.id == template_id_; });
    }
    return LaunchedSandbox::OnFailure(reply);
  }

  std::shared_ptr<Templates> templates_;  // the backend's
  std::shared_ptr<const std::uint64_t> template_id_;
};

}  // namespace

bool CanBePrepared(const sandbox::Plan& plan) {
  return !std::holds_alternative<sandbox::HostNetwork>(plan.network) &&
         sandbox::DeviceOf(plan.network) == nullptr;
}

Result<void> JailBackend::Warm() {
  if (launcher_) return {};
  ids_.reset();
  IGLOO_ASSIGN(launcher_, Launcher::Start(programs_, mode_ == Mode::kCold));
  auto ids = LookForIds();
  auto given = ids ? GainIds(*ids) : std::unexpected(ids.error());
  if (given) {
    ids_ = *std::move(ids);
    had_ids_ = true;
    return {};
  }
  why_no_ids_ = std::move(given).error();
  if (std::exchange(had_ids_, false) || ids) {
    Note("weaker user id: sandboxes have the id of the user who started this", why_no_ids_);
  }
  // The launcher is in a user namespace that nobody has mapped.
  if (ids) {
    launcher_.reset();
    IGLOO_ASSIGN(launcher_, Launcher::Start(programs_, mode_ == Mode::kCold));
  }
  return {};
}

Result<SubordinateIds> JailBackend::LookForIds() const {
  if (mode_ == Mode::kCold) {
    return Fail(Errc::kFailedPrecondition, "a run by itself does not ask for subordinate ids",
                "run the code in a server: 'igloo mcp', 'igloo repl'");
  }
  if (!programs_.leases) return std::unexpected(programs_.leases.error());
  if (programs_.leases->empty() || ::geteuid() == 0) {
    return Fail(Errc::kFailedPrecondition, "nobody asked for subordinate ids");
  }
  return FindSubordinateIds();
}

Result<void> JailBackend::GainIds(const SubordinateIds& ids) {
  // Whether there is a place to agree on them, and one of them is free.
  IGLOO_TRY(LeaseBlock(ids, *programs_.leases));
  return GiveIds(*launcher_, ids);
}

HostIds JailBackend::expected_ids() const {
  if (::geteuid() == 0) return {.kind = HostIds::Kind::kOwn};
  auto ids = LookForIds();
  if (!ids) return {.why = std::move(ids).error()};
  return {.kind = HostIds::Kind::kSubordinate, .users = ids->users};
}

Result<HostIds> JailBackend::host_ids() {
  HostIds expected = expected_ids();
  if (expected.kind != HostIds::Kind::kSubordinate) return expected;
  IGLOO_TRY(Warm());
  if (!ids_) return HostIds{.why = why_no_ids_};
  return expected;
}

void JailBackend::Note(std::string_view what, const Error& error) const {
  if (note_) note_(std::string(what) + ": " + InOneLine(error));
}

Result<void> JailBackend::Send(const ops::Request& request, const Launcher::Lists& lists,
                               std::span<const int> fds) {
  auto sent = launcher_->Send(request, lists, fds);
  // A request that was refused before it left harms nobody; a socket that broke has no other end.
  if (!sent && sent.error().sys_errno != 0) ForgetLauncher();
  return sent;
}

void JailBackend::ForgetLauncher() {
  launcher_.reset();
  templates_->clear();
}

Template* JailBackend::FindTemplate(const sandbox::Plan& plan, bool own_ids) {
  const auto found = std::ranges::find_if(*templates_, [&](const Template& each) {
    return each.ids.has_value() == own_ids && each.environment == plan.environment &&
           each.fresh == plan.fresh;
  });
  if (found == templates_->end()) return nullptr;
  std::rotate(found, found + 1, templates_->end());
  return &templates_->back();
}

std::optional<IdBlock> JailBackend::TakeBlock(const sandbox::Plan& plan) {
  if (!ids_ || !sandbox::NeedsStartersId(plan).empty()) return std::nullopt;
  auto block = LeaseBlock(*ids_, *programs_.leases);
  const bool said = std::exchange(said_no_block_, !block.has_value());
  if (block) return *std::move(block);
  if (!said) {
    Note("weaker: sandboxes get the id of the user who started this instead of one of their own",
         block.error());
  }
  return std::nullopt;
}

Result<const Template*> JailBackend::TemplateFor(const sandbox::Plan& plan) {
  const bool own_ids = ids_ && sandbox::NeedsStartersId(plan).empty();
  if (const Template* found = FindTemplate(plan, own_ids)) return found;
  IGLOO_TRY(MakeRoom());
  std::optional<IdBlock> ids = TakeBlock(plan);
  if (own_ids && !ids) {
    if (const Template* found = FindTemplate(plan, false)) return found;
  }
  IGLOO_ASSIGN(const std::uint64_t id, Prepare(plan, ids));
  templates_->push_back({.environment = plan.environment,
                         .fresh = plan.fresh,
                         .id = std::make_shared<std::uint64_t>(id),
                         .ids = std::move(ids)});
  return &templates_->back();
}

Result<void> JailBackend::MakeRoom() {
  // Half of what the launcher can hold; a template with its waiting sandboxes takes a megabyte.
  constexpr std::size_t kMaxTemplates = 32;
  if (templates_->size() < kMaxTemplates) return {};
  const auto idle = std::ranges::find_if(
      *templates_, [](const Template& each) { return each.id.use_count() == 1; });
  if (idle == templates_->end()) {
    return Fail(Errc::kExhausted, "32 prepared environments are in use already",
                "wait for a run in one of them to end");
  }
  ops::Request request{};
  request.kind = ops::Kind::kForget;
  request.template_id = *idle->id;
  request.inner_uid = request.inner_gid = ops::kDefaultInnerId;
  IGLOO_ASSIGN(const FdPair reply, MakeSocketPair(SOCK_SEQPACKET));
  const int fds[] = {reply.second.get()};
  IGLOO_TRY(Send(request, {}, fds));
  templates_->erase(idle);
  return {};
}

Result<std::uint64_t> JailBackend::Prepare(const sandbox::Plan& plan,
                                           const std::optional<IdBlock>& ids) {
  IGLOO_ASSIGN(FdPair reply, MakeSocketPair(SOCK_SEQPACKET));
  ops::Request request{};
  request.kind = ops::Kind::kPrepare;
  request.inner_uid = plan.identity.uid;
  request.inner_gid = plan.identity.gid;
  request.host_id_base = plan.identity.host_id_base;
  request.template_id = next_template_++;
  std::vector<int> fds = {reply.second.get()};
  if (ids) {
    request.flags |= ops::kRequestSubordinateIds;
    request.host_id_base = ids->first_uid;
    request.host_gid_base = ids->first_gid;
    fds.push_back(ids->lease.get());
  }
  const std::string environment = sandbox::Encode(plan.environment);
  const std::string fresh = sandbox::Encode(plan.fresh);
  const Launcher::Lists lists{.environment = environment, .fresh = fresh};
  IGLOO_TRY(Send(request, lists, fds));
  reply.second.Reset();
  // Preparing is off the path of every run but the first: this one waits.
  for (;;) {
    IGLOO_ASSIGN(const auto received, ReceiveReply(reply.first.get()));
    if (!received) continue;
    if (received->end) {
      ForgetLauncher();
      return Fail(Errc::kFailedPrecondition, "the launcher died while preparing",
                  "something on this machine killed it (out of memory?); run again");
    }
    const ops::ReplyKind kind = received->reply.kind;
    if (kind == ops::ReplyKind::kFailed) return std::unexpected(Explain(received->reply, plan));
    if (kind == ops::ReplyKind::kReady) break;
  }
  return request.template_id;
}

Result<std::unique_ptr<Sandbox>> JailBackend::Start(const sandbox::Plan& plan, Channels channels) {
  auto started = TryStart(plan, channels);
  // Somebody killed the launcher since the last run: nothing of this one has begun.
  if (!started && !launcher_ && mode_ == Mode::kPrepared) started = TryStart(plan, channels);
  return started;
}

Result<std::unique_ptr<Sandbox>> JailBackend::TryStart(const sandbox::Plan& plan,
                                                       const Channels& channels) {
  IGLOO_TRY(Warm());
  const bool prepared = mode_ == Mode::kPrepared && CanBePrepared(plan);
  std::shared_ptr<const std::uint64_t> template_id;
  bool other_id = false;
  if (prepared) {
    IGLOO_ASSIGN(const Template* const base, TemplateFor(plan));
    template_id = base->id;
    other_id = ::geteuid() == 0 || base->ids.has_value();
  }
  IGLOO_ASSIGN(FdPair reply, MakeSocketPair(SOCK_SEQPACKET));
  const ops::Kind kind = prepared ? ops::Kind::kRunPrepared : ops::Kind::kRun;
  IGLOO_ASSIGN(StartRequest start,
               MakeStartRequest(plan, kind, channels, reply.second.get(), other_id));
  if (prepared) start.request.template_id = *template_id;
  if (timeline_) start.request.flags |= ops::kRequestTimeline;
  const std::string environment = prepared ? "" : sandbox::Encode(plan.environment);
  const std::string fresh = prepared ? "" : sandbox::Encode(plan.fresh);
  const std::string run = sandbox::Encode(plan.run);
  const Launcher::Lists lists{.environment = environment, .fresh = fresh, .run = run};
  IGLOO_TRY(Send(start.request, lists, start.fds));
  IGLOO_TRY(SetNonBlocking(reply.first.get()));
  return std::make_unique<JailSandbox>(std::move(reply.first), plan, templates_,
                                       std::move(template_id));
}

}  // namespace igloo::backend::jail

#include "backend/explain.h"

#include <cerrno>

#include "base/text.h"

namespace igloo::backend {
namespace {

constexpr std::string_view kAskDoctor = "run 'igloo doctor' to see what this machine can do";
constexpr std::string_view kMoreNetworks = "raise user.max_net_namespaces with sysctl";

/// The host path that operation `index` mounts.
std::string SourceOf(const sandbox::Plan& plan, std::size_t index) {
  const sandbox::Step* step = sandbox::StepAt(plan, index);
  if (step == nullptr) return "a mount source";
  if (const auto* bind = std::get_if<sandbox::step::Bind>(step)) return bind->source;
  if (const auto* view = std::get_if<sandbox::step::Overlay>(step)) return view->source;
  if (const auto* base = std::get_if<sandbox::step::Base>(step)) return base->source;
  if (const auto* copy = std::get_if<sandbox::step::Copy>(step)) return copy->source;
  return "a mount source";
}

Error Make(const ops::Reply& reply, std::string what, std::string hint) {
  const int error = reply.sys_errno;
  return {Errc::kFailedPrecondition, std::move(what) + ": " + ErrnoText(error), std::move(hint),
          error};
}

Error ExplainClone(const ops::Reply& reply) {
  const std::string what = "cannot create the sandbox's namespaces";
  switch (reply.sys_errno) {
    case EPERM:
    case EACCES:
      return Make(reply, what,
                  "this machine forbids user namespaces; allow them (sysctl "
                  "kernel.unprivileged_userns_clone=1, or on Ubuntu "
                  "kernel.apparmor_restrict_unprivileged_userns=0) and see 'igloo doctor'");
    case ENOSPC:
    case EUSERS:
      return Make(reply, what,
                  "the limit on namespaces is reached or zero; raise user.max_user_namespaces and "
                  "its siblings with sysctl");
    case EAGAIN:
      return Make(reply, what, "the limit on processes is reached; end some or raise ulimit -u");
    default:
      return Make(reply, what, std::string(kAskDoctor));
  }
}

Error ExplainSource(const ops::Reply& reply, const std::string& source) {
  if (reply.sys_errno == E2BIG) {
    return Make(reply, "the sandbox has too many host paths",
                "8192 can be shown; name directories that hold several of them");
  }
  if (reply.sys_errno == EINVAL) {
    return Make(reply, "cannot mount '" + source + "'",
                "something is mounted below it that this user may not separate from it; name a "
                "directory without mounts below, or start igloo as root");
  }
  return Make(reply, "cannot mount '" + source + "'",
              "check that it exists and that you may read it");
}

/// What to do about `sys_errno` at `step`.
std::string HintFor(const sandbox::Step& step, int sys_errno) {
  namespace is = sandbox::step;
  const auto* overlay = std::get_if<is::Overlay>(&step);
  const bool view = overlay != nullptr && overlay->access == sandbox::Access::kReadOnly;
  const bool sized = std::holds_alternative<is::Root>(step) ||
                     std::holds_alternative<is::Tmpfs>(step) ||
                     std::holds_alternative<is::File>(step) ||
                     std::holds_alternative<is::Copy>(step) || (overlay != nullptr && !view);
  if (sized && sys_errno == ENOSPC) return "the given size is too small for it";
  const bool of_environment = std::holds_alternative<is::Base>(step) ||
                              std::holds_alternative<is::FromBase>(step) ||
                              (view && !overlay->map_owner);
  if (of_environment && sys_errno == ESTALE) {
    return "it changed while the sandbox was being built; try again";
  }
  if (of_environment) {
    return "the kernel's overlay file system is needed here ('modprobe overlay'), and it does not "
           "lie on two others: start igloo outside of nested containers, or use the backend "
           "bubblewrap, behind which code can watch how the host uses these files";
  }
  if (view) {
    return "the project's file system cannot be shown as a read-only view (mounts below it, or it "
           "is an overlay itself); copy the project elsewhere";
  }
  if (overlay != nullptr && overlay->keeps_changes) {
    return "either the project cannot be the lower half of an overlay (mounts below it, or its own "
           "file system is one), or the directory that keeps its changes cannot be the upper one: "
           "it needs a local file system with extended attributes; set XDG_STATE_HOME to another";
  }
  if (overlay != nullptr) {
    return "this project cannot be the lower half of an overlay (mounts below it, or its own file "
           "system is one); use ':ro' instead";
  }
  if (std::holds_alternative<is::Proc>(step) && sys_errno == EPERM) {
    return "the kernel allows a fresh /proc only where the present one is not masked: inside a "
           "container, start that container with an unmasked /proc";
  }
  if (std::holds_alternative<is::PrivateNetwork>(step) &&
      (sys_errno == ENOSPC || sys_errno == EUSERS)) {
    return std::string(kMoreNetworks);
  }
  if (std::holds_alternative<is::Hide>(step) && (sys_errno == ESTALE || sys_errno == ENOENT)) {
    return "the project changed while the sandbox was being built; try again";
  }
  const bool device = std::holds_alternative<is::Edge>(step) ||
                      std::holds_alternative<is::Closed>(step) ||
                      std::holds_alternative<is::Resolver>(step);
  if (device) {
    return "a device needs the kernel's veth and policy routing ('modprobe veth'); the tier "
           "'allow' needs neither";
  }
  if (sys_errno == ENOENT || sys_errno == ELOOP) {
    return "the place to mount at does not exist or is reached through a symbolic link";
  }
  return std::string(kAskDoctor);
}

Error ExplainOperation(const ops::Reply& reply, const sandbox::Plan& plan) {
  const sandbox::Step* step = sandbox::StepAt(plan, reply.index);
  if (step == nullptr) {
    return Make(reply, "cannot build the sandbox at step " + std::to_string(reply.index),
                std::string(kAskDoctor));
  }
  return Make(reply, "cannot build the sandbox at \"" + sandbox::DescribeStep(*step) + "\"",
              HintFor(*step, reply.sys_errno));
}

Error ExplainStep(const ops::Reply& reply, const sandbox::Plan& plan) {
  const std::string source = Printable(SourceOf(plan, reply.index));
  switch (reply.step) {
    case ops::Step::kClone:
      return ExplainClone(reply);
    case ops::Step::kMaps:
      return Make(reply, "cannot map the sandbox's user",
                  "inside a container the ids from " + std::to_string(plan.identity.host_id_base) +
                      " on must be mapped; start igloo as an ordinary user there");
    case ops::Step::kSource:
      return ExplainSource(reply, source);
    case ops::Step::kSourceChanged:
      return Make(reply, "'" + source + "' changed while the sandbox was being built",
                  "try again; if it happens again, somebody is replacing it");
    case ops::Step::kSourceMap:
      return Make(reply, "cannot give the sandbox's user the files of '" + source + "'",
                  "its file system has no id-mapped mounts (overlayfs, some network file systems): "
                  "copy the project elsewhere, or start igloo as its owner instead of root");
    case ops::Step::kIdentity:
      return Make(reply, "cannot become the sandbox's user", "run 'igloo doctor'");
    case ops::Step::kHelper:
      return Make(reply, "cannot make a private network", std::string(kMoreNetworks));
    case ops::Step::kUnshare:
      return ExplainClone(reply);
    case ops::Step::kTemplateFull:
      if (reply.sys_errno == ENOSPC) {
        return Make(reply, "64 prepared environments are kept already", "wait for runs to end");
      }
      return Make(reply, "255 sandboxes are running already", "wait for one to end");
    case ops::Step::kCgroup:
      return Make(reply, "cannot enter the sandbox's cgroup",
                  "somebody removed or froze it; run again to get another");
    case ops::Step::kHandOut:
      return Make(reply, "igloo cannot be shown the sandbox's files", std::string(kAskDoctor));
    case ops::Step::kOperation:
      return ExplainOperation(reply, plan);
    case ops::Step::kUnknownTemplate:
    case ops::Step::kTemplateGone:
      return Make(reply, "the prepared environment is gone",
                  "something on this machine killed it (out of memory?); run again to prepare it "
                  "anew");
    case ops::Step::kNone:
    case ops::Step::kDecode:
      break;
  }
  return {Errc::kInternal,
          "the launcher refused a request (step " +
              std::to_string(static_cast<std::uint32_t>(reply.step)) +
              "): " + ErrnoText(reply.sys_errno),
          "this is a bug in igloo; please report it", reply.sys_errno};
}

}  // namespace

Error Explain(const ops::Reply& reply, const sandbox::Plan& plan) {
  Error error = ExplainStep(reply, plan);
  // Whatever was under way, the cure is the same.
  if (reply.sys_errno == EMFILE) error.hint = kRaiseOpenFiles;
  return error;
}

}  // namespace igloo::backend

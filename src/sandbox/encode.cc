#include <arpa/inet.h>
#include <sys/stat.h>

#include <charconv>
#include <cstring>

#include "base/overloaded.h"
#include "ops/ops.h"
#include "sandbox/plan.h"

namespace igloo::sandbox {
namespace {

using ops::Code;
using ops::Op;

/// Starts an operation; every field that has no meaning for its code stays zero.
Op Make(Code code) {
  Op op{};
  op.code = code;
  return op;
}

void Append(std::string& out, Op op, std::string_view path = {}, std::string_view text = {}) {
  op.path_size = static_cast<std::uint32_t>(path.size());
  op.text_size = static_cast<std::uint32_t>(text.size());
  op.size = static_cast<std::uint32_t>(ops::PaddedSize(path.size(), text.size()));
  const std::size_t end = out.size() + op.size;
  out.append(reinterpret_cast<const char*>(&op), sizeof op);
  out.append(path).append(1, '\0').append(text).append(1, '\0');
  out.resize(end, '\0');
}

Op WithCapacity(Op op, const Capacity& capacity) {
  op.bytes = capacity.bytes;
  op.inodes = capacity.inodes.value_or(0);
  return op;
}

Op WithFact(Op op, const PathFact& fact) {
  op.device = fact.device;
  op.inode = fact.inode;
  op.mode = fact.type;
  return op;
}

Op MappingOwner(Op op, const PathFact& fact) {
  op.flags |= ops::kFlagMapOwner;
  op.owner_uid = fact.uid;
  op.owner_gid = fact.gid;
  return op;
}

Op WithMode(Op op, std::uint32_t mode) {
  op.mode = mode;
  return op;
}

/// IPv4, as the network has it. What is no address becomes 0, which the launcher refuses.
std::uint32_t AddressOf(const std::string& text) {
  in_addr address{};
  return inet_pton(AF_INET, text.c_str(), &address) == 1 ? address.s_addr : 0;
}

Op WithAddress(Op op, std::uint32_t address) {
  op.address = address;
  return op;
}

/// Of "10.0.0.0/8". What is no network gets 0 bits, which the launcher refuses.
Op WithNetwork(Op op, const std::string& network) {
  const std::size_t slash = network.find('/');
  in_addr first{};
  if (slash == std::string::npos) return op;
  if (inet_pton(AF_INET, network.substr(0, slash).c_str(), &first) != 1) return op;
  const char* const end = network.data() + network.size();
  std::uint32_t bits = 0;
  const auto read = std::from_chars(network.data() + slash + 1, end, bits);
  if (read.ec != std::errc{} || read.ptr != end) return op;
  return WithAddress(WithMode(op, bits), first.s_addr);
}

void EncodeBind(std::string& out, const step::Bind& bind) {
  Op op = WithFact(Make(Code::kBind), bind.fact);
  if (bind.access == Access::kReadOnly) op.flags |= ops::kFlagReadOnly;
  if (bind.device) op.flags |= ops::kFlagDevice | ops::kFlagNoExec;
  if (bind.map_owner) op = MappingOwner(op, bind.fact);
  Append(out, op, bind.target, bind.source);
}

void EncodeTmpfs(std::string& out, const step::Tmpfs& tmpfs) {
  Op op = WithMode(WithCapacity(Make(Code::kTmpfs), tmpfs.capacity), tmpfs.mode);
  if (tmpfs.execution == Execution::kForbidden) op.flags |= ops::kFlagNoExec;
  Append(out, op, tmpfs.target);
}

void EncodeOverlay(std::string& out, const step::Overlay& overlay) {
  Op op = WithFact(WithCapacity(Make(Code::kOverlay), overlay.capacity), overlay.fact);
  if (overlay.access == Access::kReadOnly) op.flags |= ops::kFlagReadOnly;
  if (overlay.keeps_changes) op.flags |= ops::kFlagKeepsChanges;
  if (overlay.map_owner) op = MappingOwner(op, overlay.fact);
  Append(out, op, overlay.target, overlay.source);
}

Op WithRawSockets(Op op, bool granted) {
  if (granted) op.flags |= ops::kFlagRawSockets;
  return op;
}

void EncodeStep(std::string& out, const Step& step) {
  std::visit(
      Overloaded{
          [&](const step::Root& s) { Append(out, WithCapacity(Make(Code::kRoot), s.capacity)); },
          [&](const step::Directory& s) {
            Append(out, WithMode(Make(Code::kDirectory), s.mode), s.path);
          },
          [&](const step::Symlink& s) { Append(out, Make(Code::kSymlink), s.path, s.points_to); },
          [&](const step::File& s) {
            Append(out, WithMode(Make(Code::kFile), s.mode), s.path, s.content);
          },
          [&](const step::NamedPipe& s) { Append(out, Make(Code::kNamedPipe), s.path); },
          [&](const step::Bind& s) { EncodeBind(out, s); },
          [&](const step::Tmpfs& s) { EncodeTmpfs(out, s); },
          [&](const step::Overlay& s) { EncodeOverlay(out, s); },
          [&](const step::Base& s) {
            Append(out, WithFact(Make(Code::kBase), s.fact), {}, s.source);
          },
          [&](const step::FromBase& s) {
            Append(out, WithFact(Make(Code::kFromBase), s.fact), s.target, s.path);
          },
          [&](const step::Copy& s) {
            Append(out, WithFact(Make(Code::kCopy), s.fact), s.target, s.source);
          },
          [&](const step::Proc& s) { Append(out, Make(Code::kProc), s.target); },
          [&](const step::Mask& s) {
            Append(out, Make(s.directory ? Code::kMaskDirectory : Code::kMaskFile), s.target);
          },
          [&](const step::Hide& s) {
            Op op = WithFact(Make(Code::kHide), s.fact);
            op.bytes = s.tree.size();
            if (s.view) op.flags |= ops::kFlagView;
            Append(out, op, s.target, s.cover);
          },
          [&](const step::ReadOnly& s) {
            Op op = Make(Code::kReadOnly);
            if (s.over) op.flags |= ops::kFlagOver;
            Append(out, op, s.target);
          },
          [&](const step::EnterRoot&) { Append(out, Make(Code::kPivot)); },
          [&](const step::SealRoot&) { Append(out, Make(Code::kSeal)); },
          [&](const step::PrivateNetwork&) { Append(out, Make(Code::kNetwork)); },
          [&](const step::Edge& s) {
            const Op op = WithMode(Make(Code::kEdge), AddressOf(s.gateway));
            Append(out, WithAddress(op, AddressOf(s.inside)));
          },
          [&](const step::Closed& s) { Append(out, WithNetwork(Make(Code::kClose), s.network)); },
          [&](const step::Resolver& s) {
            Append(out, WithAddress(Make(Code::kResolver), AddressOf(s.address)));
          },
          [&](const step::Hostname& s) { Append(out, Make(Code::kHostname), {}, s.name); },
          [&](const step::NoMoreNamespaces&) { Append(out, Make(Code::kNoNamespaces)); },
          [&](const step::Listen& s) { Append(out, WithMode(Make(Code::kListen), s.port)); },
          [&](const step::Sockets& s) { Append(out, WithMode(Make(Code::kSockets), s.count)); },
          [&](const step::HandOut& s) {
            Op op = Make(Code::kHandOut);
            if (s.kept) op.flags |= ops::kFlagKept;
            Append(out, op, s.path);
          },
          [&](const step::BoundPrivileges& s) {
            Append(out, WithRawSockets(Make(Code::kBoundPrivileges), s.raw_sockets));
          },
          [&](const step::DropPrivileges& s) {
            Append(out, WithRawSockets(Make(Code::kDropPrivileges), s.raw_sockets));
          },
          [&](const step::StartInit&) { Append(out, Make(Code::kBecomeInit)); },
      },
      step);
}

}  // namespace

std::string Encode(const std::vector<Step>& steps) {
  std::string encoded;
  for (const Step& step : steps) EncodeStep(encoded, step);
  return encoded;
}

}  // namespace igloo::sandbox

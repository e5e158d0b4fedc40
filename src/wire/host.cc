#include "wire/host.h"

#include <sys/random.h>

#include <limits>

#include "base/overloaded.h"

namespace igloo::wire {
namespace {

class Writer {
 public:
  explicit Writer(std::uint8_t kind) {
    bytes_.resize(kHeaderSize);
    U8(kind);
  }
  void U8(std::uint8_t value) { bytes_ += static_cast<char>(value); }
  void U32(std::uint32_t value) { Integer(value, 4); }
  void U64(std::uint64_t value) { Integer(value, 8); }
  void Text(std::string_view text) {
    if (text.find('\0') != std::string_view::npos) has_nul_ = true;
    U32(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
    bytes_ += '\0';
  }
  void Put(const Nonce& nonce) {
    U64(nonce.high);
    U64(nonce.low);
  }
  bool has_nul() const { return has_nul_; }
  std::size_t payload_size() const { return bytes_.size() - kHeaderSize; }
  std::string Finish() && {
    EncodeLength(static_cast<std::uint32_t>(payload_size()),
                 reinterpret_cast<unsigned char*>(bytes_.data()));
    return std::move(bytes_);
  }

 private:
  void Integer(std::uint64_t value, int bytes) {
    for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
      bytes_ += static_cast<char>(value >> shift);
    }
  }
  std::string bytes_ = {};
  bool has_nul_ = false;
};

Nonce TakeNonce(Fields& fields) {
  Nonce nonce;
  nonce.high = fields.U64();
  nonce.low = fields.U64();
  return nonce;
}

Ended TakeEnded(Fields& fields) {
  Ended ended;
  ended.nonce = TakeNonce(fields);
  ended.kind = static_cast<EndKind>(fields.U8());
  ended.cause = static_cast<EndCause>(fields.U8());
  ended.hits = fields.U8();
  ended.status = fields.U32();
  ended.cpu_micros = fields.U64();
  ended.peak_kib = fields.U64();
  ended.wall_micros = fields.U64();
  ended.landlock_abi = fields.U64();
  for (std::uint64_t& stamp : ended.stamps) stamp = fields.U64();
  return ended;
}

bool Plausible(EndKind kind, std::uint32_t status) {
  const bool exited = kind == EndKind::kExited && status <= 255;
  return exited || (kind == EndKind::kSignalled && status >= 1 && status <= 64);
}

bool Plausible(InitStep step, std::uint32_t sys_errno) {
  return step <= InitStep::kRestore && sys_errno <= 4095;
}

bool Plausible(const Ended& ended) {
  return Plausible(ended.kind, ended.status) && ended.cause <= EndCause::kMemory &&
         ended.hits <= (kHitProcesses | kHitDisk);
}

bool Plausible(const Seen& seen) {
  const bool file = seen.kind == SeenKind::kRead || seen.kind == SeenKind::kWritten;
  return seen.kind >= SeenKind::kCall && seen.kind <= SeenKind::kBlind && seen.number <= 4095 &&
         seen.times > 0 && seen.program.size() <= kMaxSeenProgram &&
         seen.path.size() <= kMaxSeenPath &&
         (file ? seen.path.starts_with('/') : seen.path.empty());
}

}  // namespace

Nonce NewNonce() {
  Nonce nonce;
  // 16 bytes never come short and never block after boot.
  (void)!::getrandom(&nonce, sizeof nonce, 0);
  return nonce;
}

Result<std::string> EncodeStart(const Start& start) {
  Writer out(static_cast<std::uint8_t>(ToInit::kStart));
  out.Put(start.nonce);
  out.U64(start.time_limit_ms);
  out.U64(start.grace_ms);
  out.U64(start.memory_limit_bytes);
  out.U8(static_cast<std::uint8_t>(start.memory));
  out.U8(static_cast<std::uint8_t>(start.seccomp));
  out.U32(static_cast<std::uint32_t>(start.limits.size()));
  for (const ResourceLimit& limit : start.limits) {
    out.U32(limit.resource);
    out.U64(limit.value);
  }
  out.U32(static_cast<std::uint32_t>(start.paths.size()));
  for (const PathRule& rule : start.paths) {
    out.U8(static_cast<std::uint8_t>(rule.right));
    out.Text(rule.path);
  }
  out.Text(start.cwd);
  out.U32(start.extra_descriptors);
  out.U8(static_cast<std::uint8_t>(start.terminal));
  out.U8(static_cast<std::uint8_t>(start.life));
  out.U8(static_cast<std::uint8_t>(start.birth));
  out.U8(static_cast<std::uint8_t>(start.sockets));
  out.U8(static_cast<std::uint8_t>(start.watched));
  for (const auto* strings : {&start.argv, &start.env}) {
    out.U32(static_cast<std::uint32_t>(strings->size()));
    for (const std::string& text : *strings) out.Text(text);
  }
  if (out.has_nul()) {
    return Fail(Errc::kInvalidArgument, "an argument or variable holds a NUL byte",
                "programs cannot receive NUL bytes in arguments; pass them in a file");
  }
  if (out.payload_size() > kMaxFrame) {
    return Fail(Errc::kExhausted, "the arguments are longer than 16 MB", "pass them in a file");
  }
  return std::move(out).Finish();
}

std::string EncodeGo(std::uint64_t time_limit_ms, std::string_view name) {
  Writer out(static_cast<std::uint8_t>(ToInit::kGo));
  out.U64(time_limit_ms);
  out.Text(name);
  return std::move(out).Finish();
}

Result<std::string> EncodeJoin(std::uint32_t number, const std::vector<std::string>& argv) {
  Writer out(static_cast<std::uint8_t>(ToInit::kJoin));
  out.U32(number);
  out.U32(static_cast<std::uint32_t>(argv.size()));
  for (const std::string& word : argv) out.Text(word);
  const bool fits = argv.size() <= kMaxJoinWords && out.payload_size() <= kMaxOrder;
  if (!argv.empty() && fits && !out.has_nul()) return std::move(out).Finish();
  return Fail(Errc::kInvalidArgument, "this command line cannot be passed into the sandbox",
              "use at most 64 words and 4000 bytes; write what is longer into a script");
}

std::string EncodeSimple(ToInit kind) { return Writer(static_cast<std::uint8_t>(kind)).Finish(); }

std::string EncodeReport(const Report& report) {
  return std::visit(Overloaded{[](const Ended& ended) {
                                 Writer out(static_cast<std::uint8_t>(FromInit::kEnded));
                                 out.Put(ended.nonce);
                                 out.U8(static_cast<std::uint8_t>(ended.kind));
                                 out.U8(static_cast<std::uint8_t>(ended.cause));
                                 out.U8(ended.hits);
                                 out.U32(ended.status);
                                 out.U64(ended.cpu_micros);
                                 out.U64(ended.peak_kib);
                                 out.U64(ended.wall_micros);
                                 out.U64(ended.landlock_abi);
                                 for (const std::uint64_t stamp : ended.stamps) out.U64(stamp);
                                 return std::move(out).Finish();
                               },
                               [](const Refused& refused) {
                                 Writer out(static_cast<std::uint8_t>(FromInit::kRefused));
                                 out.Put(refused.nonce);
                                 out.U8(static_cast<std::uint8_t>(refused.step));
                                 out.U32(refused.sys_errno);
                                 return std::move(out).Finish();
                               },
                               [](const JoinEnded& joined) {
                                 Writer out(static_cast<std::uint8_t>(FromInit::kJoinEnded));
                                 out.Put(joined.nonce);
                                 out.U32(joined.number);
                                 out.U8(static_cast<std::uint8_t>(joined.kind));
                                 out.U32(joined.status);
                                 out.U8(static_cast<std::uint8_t>(joined.step));
                                 out.U32(joined.sys_errno);
                                 return std::move(out).Finish();
                               },
                               [](const Stopped& stopped) {
                                 Writer out(static_cast<std::uint8_t>(FromInit::kStopped));
                                 out.Put(stopped.nonce);
                                 return std::move(out).Finish();
                               },
                               [](const Seen& seen) {
                                 Writer out(static_cast<std::uint8_t>(FromInit::kSeen));
                                 out.Put(seen.nonce);
                                 out.U8(static_cast<std::uint8_t>(seen.kind));
                                 out.U32(seen.number);
                                 out.U64(seen.times);
                                 out.Text(seen.program);
                                 out.Text(seen.path);
                                 return std::move(out).Finish();
                               }},
                    report);
}

Result<Report> DecodeReport(std::string_view payload) {
  Fields fields(payload.data(), payload.size());
  const auto kind = static_cast<FromInit>(fields.U8());
  if (kind == FromInit::kEnded) {
    const Ended ended = TakeEnded(fields);
    if (fields.AtEnd() && Plausible(ended)) return ended;
  } else if (kind == FromInit::kRefused) {
    Refused refused{.nonce = TakeNonce(fields)};
    refused.step = static_cast<InitStep>(fields.U8());
    refused.sys_errno = fields.U32();
    if (fields.AtEnd() && Plausible(refused.step, refused.sys_errno)) return refused;
  } else if (kind == FromInit::kJoinEnded) {
    JoinEnded joined{.nonce = TakeNonce(fields), .number = fields.U32()};
    joined.kind = static_cast<EndKind>(fields.U8());
    joined.status = fields.U32();
    joined.step = static_cast<InitStep>(fields.U8());
    joined.sys_errno = fields.U32();
    if (fields.AtEnd() && Plausible(joined.kind, joined.status) &&
        Plausible(joined.step, joined.sys_errno)) {
      return joined;
    }
  } else if (kind == FromInit::kStopped) {
    const Stopped stopped{.nonce = TakeNonce(fields)};
    if (fields.AtEnd()) return stopped;
  } else if (kind == FromInit::kSeen) {
    Seen seen{.nonce = TakeNonce(fields)};
    seen.kind = static_cast<SeenKind>(fields.U8());
    seen.number = fields.U32();
    seen.times = fields.U64();
    seen.program = fields.Text();
    seen.path = fields.Text();
    if (fields.AtEnd() && Plausible(seen)) return seen;
  }
  return Fail(Errc::kProtocol, "the sandbox sent a message that makes no sense");
}

Result<std::string> FrameBuffer::Next() {
  if (bytes_.size() < kHeaderSize) return std::string();
  const std::uint32_t length = DecodeLength(reinterpret_cast<const unsigned char*>(bytes_.data()));
  if (length == 0 || length > limit_) {
    return Fail(Errc::kProtocol,
                "the sandbox announced a message of " + std::to_string(length) + " bytes");
  }
  if (bytes_.size() < kHeaderSize + length) return std::string();
  std::string payload = bytes_.substr(kHeaderSize, length);
  bytes_.erase(0, kHeaderSize + length);
  return payload;
}

}  // namespace igloo::wire

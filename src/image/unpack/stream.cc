#include "image/unpack/stream.h"

#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace igloo::image::unpack {
namespace {

std::unexpected<Error> Broken(const char* what) {
  return Fail(Errc::kInvalidArgument, std::string("the layer is broken: ") + what);
}

}  // namespace

Result<std::size_t> FileStream::Read(std::span<char> into) {
  ssize_t size = 0;
  do {
    size = ::read(fd_, into.data(), into.size());
  } while (size < 0 && errno == EINTR);
  if (size < 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot read the layer");
  }
  const auto taken = static_cast<std::size_t>(size);
  hasher_.Update({into.data(), taken});
  count_ += taken;
  return taken;
}

Result<void> FileStream::Drain() {
  std::array<char, 65536> rest;
  for (;;) {
    IGLOO_ASSIGN(const std::size_t size, Read(rest));
    if (size == 0) return {};
  }
}

class Unpacked::Decoder {
 public:
  virtual ~Decoder() = default;
  /// Takes from `input` and fills from the front of `into`; says how much it gave.
  virtual Result<std::size_t> Run(std::span<const char>& input, std::span<char> into) = 0;
  /// Whether what came so far is whole.
  virtual bool complete() const = 0;
};

class Unpacked::Gzip : public Decoder {
 public:
  Gzip() { ready_ = ::inflateInit2(&stream_, 15 + 16) == Z_OK; }
  ~Gzip() override { ::inflateEnd(&stream_); }

  Result<std::size_t> Run(std::span<const char>& input, std::span<char> into) override {
    if (!ready_) return Fail(Errc::kExhausted, "there is no memory to unpack the layer");
    // One file of several, as parallel packers write it.
    if (complete_ && !input.empty()) {
      ::inflateReset(&stream_);
      complete_ = false;
    }
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = static_cast<uInt>(input.size());
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = static_cast<uInt>(into.size());
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    input = input.last(stream_.avail_in);
    if (status == Z_STREAM_END) complete_ = true;
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      return Broken("it is no gzip");
    }
    return into.size() - stream_.avail_out;
  }
  bool complete() const override { return complete_; }

 private:
  z_stream stream_ = {};
  bool ready_ = false, complete_ = false;
};

class Unpacked::Zstd : public Decoder {
 public:
  ~Zstd() override { ::ZSTD_freeDCtx(context_); }

  Result<std::size_t> Run(std::span<const char>& input, std::span<char> into) override {
    if (context_ == nullptr)
      return Fail(Errc::kExhausted, "there is no memory to unpack the layer");
    // Asked again at the end of a frame, the library speaks of the next one.
    if (complete_ && input.empty()) return 0;
    ZSTD_inBuffer in{input.data(), input.size(), 0};
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    // Windows above 128 MB, the library's own bound, are refused by it.
    const std::size_t status = ::ZSTD_decompressStream(context_, &out, &in);
    if (::ZSTD_isError(status) != 0) return Broken(::ZSTD_getErrorName(status));
    input = input.subspan(in.pos);
    complete_ = status == 0;
    return out.pos;
  }
  bool complete() const override { return complete_; }

 private:
  ZSTD_DCtx* context_ = ::ZSTD_createDCtx();
  bool complete_ = true;
};

Unpacked::Unpacked(FileStream& packed, Budget& budget) : packed_(packed), budget_(budget) {}
Unpacked::~Unpacked() = default;

Result<void> Unpacked::Refill() {
  IGLOO_ASSIGN(const std::size_t size, packed_.Read(buffer_));
  input_ = {buffer_.data(), size};
  ended_ = size == 0;
  return {};
}

Result<void> Unpacked::Begin() {
  begun_ = true;
  std::size_t size = 0;
  while (size < 4 && !ended_) {
    IGLOO_ASSIGN(const std::size_t more, packed_.Read(std::span(buffer_).subspan(size)));
    size += more;
    ended_ = more == 0;
  }
  input_ = {buffer_.data(), size};
  const auto starts = [&](std::string_view magic, std::size_t at = 0) {
    return size >= at + magic.size() &&
           std::memcmp(buffer_.data() + at, magic.data(), magic.size()) == 0;
  };
  if (starts("\x1f\x8b")) {
    decoder_ = std::make_unique<Gzip>();
  } else if (starts("\x28\xb5\x2f\xfd") || starts("\x2a\x4d\x18", 1)) {
    decoder_ = std::make_unique<Zstd>();
  }
  return {};
}

Result<std::size_t> Unpacked::Decode(std::span<char> into) {
  for (;;) {
    if (input_.empty() && !ended_) IGLOO_TRY(Refill());
    if (decoder_ == nullptr) {
      const std::size_t size = std::min(input_.size(), into.size());
      if (size > 0) std::memcpy(into.data(), input_.data(), size);
      input_ = input_.subspan(size);
      return size;
    }
    const std::size_t before = input_.size();
    IGLOO_ASSIGN(const std::size_t size, decoder_->Run(input_, into));
    if (size > 0) return size;
    if (ended_ && input_.size() == before) {
      if (!decoder_->complete()) return Broken("it ends too early");
      return 0;
    }
  }
}

Result<std::size_t> Unpacked::Read(std::span<char> into) {
  if (!begun_) IGLOO_TRY(Begin());
  if (into.empty()) return 0;
  IGLOO_ASSIGN(const std::size_t size, Decode(into));
  given_ += size;
  const Limits& limits = budget_.limits;
  // SECURITY: checked piece by piece, so that a bomb is noticed before it has gone off.
  if (given_ > limits.free_bytes && given_ / limits.ratio > packed_.count()) {
    return Fail(Errc::kExhausted, "a layer unpacks to more than " + std::to_string(limits.ratio) +
                                      " times its size, which no honest one does");
  }
  if (size > budget_.bytes) {
    return Fail(Errc::kExhausted,
                "the image unpacks to more than " + std::to_string(limits.bytes >> 20) + " MB");
  }
  budget_.bytes -= size;
  return size;
}

}  // namespace igloo::image::unpack

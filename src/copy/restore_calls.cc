#include "copy/restore_calls.h"

#include <algorithm>
#include <cstring>

#ifdef __x86_64__
// The first page of every checkpoint. It runs in the restored process, without a stack: makes the
// calls that r12 points to, one after the other, and traps behind the last one or at the first
// whose answer is not the one that it must be. r12 then tells which.
asm(R"(
  .pushsection .rodata
  .global igloo_restore_code
  .global igloo_restore_code_end
igloo_restore_code:
  mov 0(%r12), %rax
  cmp $-1, %rax
  je 1f
  mov 8(%r12), %rdi
  mov 16(%r12), %rsi
  mov 24(%r12), %rdx
  mov 32(%r12), %r10
  mov 40(%r12), %r8
  mov 48(%r12), %r9
  syscall
  cmp 56(%r12), %rax
  jne 1f
  add $64, %r12
  jmp igloo_restore_code
1:
  int3
igloo_restore_code_end:
  .popsection
)");
#else
asm(".pushsection .rodata\nigloo_restore_code:\nigloo_restore_code_end:\n.popsection");
#endif
extern "C" const char igloo_restore_code[], igloo_restore_code_end[];

namespace igloo::copy {

using checkpoint::Call;
using checkpoint::kPage;

void RestoreCalls::Add(long number, std::initializer_list<std::uint64_t> arguments,
                       std::uint64_t answer) {
  Call call{.number = static_cast<std::uint64_t>(number), .answer = answer};
  std::ranges::copy(arguments, call.arguments);
  calls_.push_back(call);
}

void RestoreCalls::AddWithData(long number, std::initializer_list<std::uint64_t> arguments,
                               unsigned which, std::string_view data, std::uint64_t answer) {
  Add(number, arguments, answer);
  references_.push_back({.at = calls_.size() - 1, .which = which, .data = Place(data)});
}

void RestoreCalls::PointTo(std::size_t offset, std::string_view more) {
  const std::size_t last = references_.back().data;
  references_.push_back({.in_data = true, .at = last + offset, .data = Place(more)});
}

std::size_t RestoreCalls::Place(std::string_view data) {
  data_.resize((data_.size() + 15) / 16 * 16);
  const std::size_t at = data_.size();
  data_ += data;
  return at;
}

Result<std::string> RestoreCalls::Finish(checkpoint::Header header, std::string_view extended) && {
  Add(static_cast<long>(checkpoint::kEnd), {});
  const std::uint64_t data_at = checkpoint::kFirstCall + calls_.size() * sizeof(Call);
  for (const Reference& each : references_) {
    const std::uint64_t address = place_ + data_at + each.data;
    if (each.in_data) {
      std::memcpy(data_.data() + each.at, &address, sizeof address);
    } else {
      calls_[each.at].arguments[each.which] = address;
    }
  }
  header.extended_at = (data_at + data_.size() + 63) / 64 * 64;
  header.extended_size = static_cast<std::uint32_t>(extended.size());
  header.place = place_;
  header.window = (header.extended_at + extended.size() + kPage - 1) / kPage * kPage;
  if (header.window > kMostBytes) {
    return Fail(Errc::kFailedPrecondition,
                "the interpreter has too many mappings for a checkpoint");
  }
  std::string window(header.window, '\0');
  const auto put = [&](std::uint64_t at, const void* bytes, std::size_t size) {
    std::memcpy(window.data() + at, bytes, size);
  };
  put(0, igloo_restore_code, static_cast<std::size_t>(igloo_restore_code_end - igloo_restore_code));
  put(kPage, &header, sizeof header);
  put(checkpoint::kFirstCall, calls_.data(), calls_.size() * sizeof(Call));
  put(data_at, data_.data(), data_.size());
  put(header.extended_at, extended.data(), extended.size());
  return window;
}

}  // namespace igloo::copy

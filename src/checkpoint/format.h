#pragma once

// A checkpoint: the memory and the registers of an interpreter that has loaded everything and waits
// in read(2) for its first order. igloo-copy writes it, igloo-init makes interpreters of it.
//
// It is a sealed file in memory (memfd) of four parts:
//   page 0             the code that makes the calls below, in the restored process itself
//   page 1             this header
//   from kCallsAt on   room for kOwnCalls calls, which igloo-init fills; then the calls; then their
//                      data (paths, structures)
//   from `window` on   pages of memory, which the calls map (MAP_PRIVATE): restored interpreters
//                      share every page that they do not write to
//
// Freestanding: igloo-init has no heap and no standard library.

#include <stdint.h>

namespace igloo::checkpoint {

inline constexpr uint64_t kPage = 4096;
inline constexpr uint64_t kMagic = 0x31304b43474c4749;  // "IGLGCK01"

/// A system call of the process that is being restored, and what the kernel must answer.
struct Call {
  uint64_t number = 0;
  uint64_t arguments[6] = {};
  uint64_t answer = 0;
};
static_assert(sizeof(Call) == 64);  // the code on page 0 counts on it

/// `number` behind the last call.
inline constexpr uint64_t kEnd = ~0ULL;
/// Calls about what only igloo-init knows: where the new process has its own mappings.
inline constexpr uint32_t kOwnCalls = 16;
inline constexpr uint64_t kCallsAt = 2 * kPage;
inline constexpr uint64_t kFirstCall = kCallsAt + kOwnCalls * sizeof(Call);

/// A mapping of the kernel's own (vvar, vdso): it cannot be copied, but it can be moved.
struct KernelPart {
  uint64_t begin = 0, size = 0;
};
inline constexpr uint32_t kMaxKernelParts = 4;
/// Registers as ptrace(2) knows them: the general ones, and the others as the kernel packs them.
inline constexpr uint32_t kMaxGeneral = 512, kMaxExtended = 16384;
inline constexpr uint32_t kMaxProgram = 512;
/// Of the parts before the pages, and of the pages: all processes that wait for it pay with the
/// machine's memory.
inline constexpr uint64_t kMaxWindow = 64ULL << 20, kMaxMemory = 1ULL << 30;

struct Header {
  uint64_t magic = kMagic;
  uint64_t place = 0;      ///< where the parts before the pages are mapped while calls are made
  uint64_t window = 0;     ///< how much that is; a multiple of a page
  uint32_t pid = 0;        ///< of the interpreter in its sandbox, which its C library remembers
  int32_t descriptor = 0;  ///< under which the new process has this file
  uint64_t vdso = 0;       ///< where the kernel's own code was
  uint32_t kernel_parts = 0;
  uint32_t general_size = 0, extended_size = 0;
  KernelPart kernel[kMaxKernelParts] = {};
  char program[kMaxProgram] = {};  ///< the interpreter's file
  alignas(8) unsigned char general[kMaxGeneral] = {};
  uint64_t extended_at = 0;  ///< in the file, among the data of the calls
};
static_assert(sizeof(Header) <= kPage);

/// Whether a header can be used: everything that comes from outside igloo-init is checked.
inline bool IsSound(const Header& header) {
  return header.magic == kMagic && header.place % kPage == 0 && header.place != 0 &&
         header.window % kPage == 0 && header.window > kFirstCall && header.window <= kMaxWindow &&
         header.pid != 0 && header.descriptor >= 3 && header.descriptor < 64 &&
         header.kernel_parts >= 1 && header.kernel_parts <= kMaxKernelParts &&
         header.general_size <= kMaxGeneral && header.extended_size <= kMaxExtended &&
         header.extended_at < header.window &&
         header.extended_at + header.extended_size <= header.window && header.program[0] == '/' &&
         header.program[kMaxProgram - 1] == '\0';
}

}  // namespace igloo::checkpoint

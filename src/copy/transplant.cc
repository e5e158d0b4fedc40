#include "copy/transplant.h"

#include <poll.h>

#include <cerrno>
#include <optional>
#include <set>

#include "copy/address_space.h"
#include "copy/inside.h"
#include "copy/proc.h"
#include "copy/process_copy.h"
#include "copy/tracee.h"
#include "copy/wall.h"

namespace igloo::copy {
namespace {

/// For the sandbox of a copy that is lost to be ended by whoever was told.
constexpr int kEndMs = 5'000;

/// Each costs the copy a system call while both are held.
constexpr std::size_t kMostDescriptors = 4096;

/// Open descriptors of a process, by number; no more than a fork takes over.
Result<std::set<int>> DescriptorsOf(pid_t pid) {
  IGLOO_ASSIGN(std::set<int> numbers, OpenNumbers(pid, kMostDescriptors));
  // SECURITY: each costs a system call in the copy; hostile code opens as many as it may.
  if (numbers.size() > kMostDescriptors) {
    return std::unexpected(CannotFork("it has too many open files"));
  }
  return numbers;
}

/// `hold` gets it and keeps it.
auto Find(const SandboxedProcess& process, const auto& hold) -> decltype(hold(pid_t{})) {
  IGLOO_ASSIGN(const pid_t pid, FindInside(process.init.get(), process.inner));
  IGLOO_ASSIGN(auto held, hold(pid));
  // SECURITY: it may have ended meanwhile, and its number may have become somebody else's. One that
  // is held keeps its number.
  IGLOO_ASSIGN(const pid_t again, FindInside(process.init.get(), process.inner));
  if (again != pid) return std::unexpected(CannotFork("its interpreter ended"));
  return held;
}

/// Whether this process may read what is closed to everybody in the sandbox. Its igloo-init is.
bool SeesClosed(const SandboxedProcess& process) {
  const auto init = FindInside(process.init.get(), 1);
  return init && AddressSpace::Open(*init);
}

/// The process that becomes the copy, and all that needs a right over it.
struct Target {
  Tracee tracee;
  AddressSpace memory;
  std::set<int> descriptors = {};
  std::optional<Faults> faults = {};

  static Result<Target> Hold(const SandboxedProcess& copy) {
    IGLOO_ASSIGN(Tracee tracee, Find(copy, Tracee::Hold));
    IGLOO_ASSIGN(AddressSpace memory, AddressSpace::Open(tracee.pid()));
    IGLOO_ASSIGN(std::set<int> descriptors, DescriptorsOf(tracee.pid()));
    // SECURITY: somebody else in there could have the same memory or the same descriptors.
    std::optional<Faults> faults;
    if (IsAlone(copy.init.get(), tracee.pid())) {
      IGLOO_ASSIGN(faults, Faults::Of(tracee, memory));
    }
    return Target{std::move(tracee), std::move(memory), std::move(descriptors), std::move(faults)};
  }
};

/// Everything up to the moment in which the copy goes on.
Result<std::optional<PageSupplier>> Operate(const HeldChild& source, Target target, int copy_init) {
  const pid_t pid = source.tracee.pid();
  IGLOO_ASSIGN(AddressSpace from, AddressSpace::Open(pid));
  IGLOO_ASSIGN(const std::set<int> numbers, DescriptorsOf(pid));
  // SECURITY: whoever writes to the source writes to what the copy has yet to get. It is as it was
  // born: if it is closed, nobody has ever opened it.
  const Haste haste = source.alone && from.IsClosed() ? Haste::kGoesOn : Haste::kWaits;
  // SECURITY: all that needs a right is open by now, and not a byte of hostile memory was read.
  // From here on this process has rights over the original's sandbox alone.
  IGLOO_TRY(EnterSandboxOf(pid));
  IGLOO_TRY(RaiseWall());
  ProcessCopy making(source.tracee, std::move(from), target.tracee, std::move(target.memory),
                     std::move(target.faults));
  IGLOO_TRY(making.Prepare(haste));
  IGLOO_TRY(making.PlaceDescriptors(numbers, target.descriptors));
  IGLOO_TRY(making.Perform());
  return std::move(making).Promise(copy_init);
}

/// igloo ends the sandbox when it hears of it: this process has no right to.
void AwaitEnd(int init) {
  pollfd end{init, POLLIN, 0};
  while (::poll(&end, 1, kEndMs) < 0 && errno == EINTR) {
  }
}

}  // namespace

Result<void> Transplant(const SandboxedProcess& original, const SandboxedProcess& copy,
                        const Progress& progress) {
  IGLOO_ASSIGN(const pid_t whose, FindInside(copy.init.get(), copy.inner));
  IGLOO_TRY(ReachIdOf(whose));
  IGLOO_ASSIGN(Target target, Target::Hold(copy));
  IGLOO_ASSIGN(NextFork birth, Find(original, NextFork::Expect));
  progress.expects(SeesClosed(original));
  IGLOO_ASSIGN(const HeldChild source, std::move(birth).Await(progress.answered));
  progress.holds(NumberInside(source.tracee.pid()));
  IGLOO_ASSIGN(std::optional<PageSupplier> supplier,
               Operate(source, std::move(target), copy.init.get()));
  progress.goes_on();
  if (!supplier) return {};
  auto brought = supplier->Bring();
  if (brought) return {};
  progress.lost(brought.error());
  // SECURITY: without the supply the copy would go on with zeros.
  AwaitEnd(copy.init.get());
  std::move(*supplier).Abandon();
  return brought;
}

}  // namespace igloo::copy

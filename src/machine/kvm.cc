#include "machine/kvm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "kernel/calls.h"

namespace igloo::machine {
namespace {

class Trial {
 public:
  Trial(char* why, size_t size) : why_(why), size_(size) {}

  bool Run() {
    const kernel::ScopedFd device(open("/dev/kvm", O_RDWR | O_CLOEXEC));
    if (!device) return Fail("/dev/kvm cannot be opened");
    const int version = ioctl(device.get(), KVM_GET_API_VERSION, 0);
    if (version != KVM_API_VERSION) return Fail("/dev/kvm speaks another version");
    const kernel::ScopedFd machine(ioctl(device.get(), KVM_CREATE_VM, 0));
    if (!machine) return Fail("KVM makes no virtual machine");
    return RunOne(device.get(), machine.get());
  }

 private:
  bool Fail(const char* what) {
    snprintf(why_, size_, "%s: %s", what, strerror(errno));
    return false;
  }

#ifdef __x86_64__
  static constexpr size_t kPage = 4096;
  static constexpr int kSeconds = 3;

  bool RunOne(int device, int machine) {
    constexpr unsigned char kHalt = 0xf4;
    void* const memory =
        mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return Fail("there is no memory");
    memset(memory, kHalt, kPage);
    const kvm_userspace_memory_region region{.slot = 0,
                                             .flags = 0,
                                             .guest_phys_addr = kPage,
                                             .memory_size = kPage,
                                             .userspace_addr = reinterpret_cast<uintptr_t>(memory)};
    const bool ran = RunPage(device, machine, region);
    munmap(memory, kPage);
    return ran;
  }

  bool RunPage(int device, int machine, const kvm_userspace_memory_region& region) {
    if (ioctl(machine, KVM_SET_USER_MEMORY_REGION, &region) != 0)
      return Fail("KVM takes no memory");
    const kernel::ScopedFd processor(ioctl(machine, KVM_CREATE_VCPU, 0));
    if (!processor) return Fail("KVM makes no processor");
    const int size = ioctl(device, KVM_GET_VCPU_MMAP_SIZE, 0);
    if (size < static_cast<int>(sizeof(kvm_run))) return Fail("KVM has no state");
    void* const shared = mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE,
                              MAP_SHARED, processor.get(), 0);
    if (shared == MAP_FAILED) return Fail("KVM shows no state");
    const bool ran = RunProcessor(processor.get(), *static_cast<const kvm_run*>(shared));
    munmap(shared, static_cast<size_t>(size));
    return ran;
  }

  bool RunProcessor(int processor, const kvm_run& state) {
    kvm_sregs segments{};
    if (ioctl(processor, KVM_GET_SREGS, &segments) != 0) return Fail("KVM shows no registers");
    segments.cs.base = 0;
    segments.cs.selector = 0;
    kvm_regs registers{};
    registers.rip = kPage;
    registers.rflags = 2;
    if (ioctl(processor, KVM_SET_SREGS, &segments) != 0 ||
        ioctl(processor, KVM_SET_REGS, &registers) != 0) {
      return Fail("KVM takes no registers");
    }
    // One that never comes back is broken, too: the alarm interrupts the call.
    struct sigaction action{}, before{};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, &before);
    const itimerval limit{{kSeconds, 0}, {kSeconds, 0}}, none{};
    setitimer(ITIMER_REAL, &limit, nullptr);
    const bool returned = ioctl(processor, KVM_RUN, 0) == 0;
    const int saved_errno = errno;
    setitimer(ITIMER_REAL, &none, nullptr);
    sigaction(SIGALRM, &before, nullptr);
    errno = saved_errno;
    if (!returned) return Fail("KVM does not run a processor");
    errno = ENOEXEC;
    return state.exit_reason == KVM_EXIT_HLT || Fail("KVM cannot run a program of one instruction");
  }
#else
  /// Elsewhere, that a processor can be made is all that is tried here; what does not come up on it
  /// is started again without.
  bool RunOne(int, int machine) {
    const kernel::ScopedFd processor(ioctl(machine, KVM_CREATE_VCPU, 0));
    return processor || Fail("KVM makes no processor");
  }
#endif

  char* why_;
  size_t size_;
};

}  // namespace

bool TryKvm(char* why, size_t size) { return Trial(why, size).Run(); }

}  // namespace igloo::machine

#include "base/interrupts.h"

namespace igloo {
namespace {

volatile sig_atomic_t g_interrupted = 0;

}  // namespace

CatchInterrupts::CatchInterrupts() {
  g_interrupted = 0;
  struct sigaction action{};
  action.sa_handler = [](int) { g_interrupted = 1; };
  // Without SA_RESTART: whoever waits is to notice.
  ::sigaction(SIGINT, &action, &before_);
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &interrupt, &mask_);
}

CatchInterrupts::~CatchInterrupts() {
  // In this order: one that is still pending is remembered, and ends nothing.
  ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  ::sigaction(SIGINT, &before_, nullptr);
}

bool TakeInterrupt() {
  const bool came = g_interrupted != 0;
  g_interrupted = 0;
  return came;
}

}  // namespace igloo

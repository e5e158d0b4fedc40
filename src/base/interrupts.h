#pragma once

#include <signal.h>

namespace igloo {

/// While one lives, Ctrl-C only wakes whoever waits in ppoll() with a mask that lets it through,
/// and is remembered. There alone, so that none is missed between a look and the wait.
class CatchInterrupts {
 public:
  CatchInterrupts();
  CatchInterrupts(const CatchInterrupts&) = delete;
  CatchInterrupts& operator=(const CatchInterrupts&) = delete;
  ~CatchInterrupts();

 private:
  struct sigaction before_ = {};
  sigset_t mask_ = {};
};

/// Whether Ctrl-C came since it was asked last.
bool TakeInterrupt();

}  // namespace igloo

#pragma once

#include <stdint.h>

namespace igloo::jail {

/// Raises the loopback of this process's network namespace.
bool RaiseLoopback();

/// That namespace as a descriptor. By socket, not by /proc: the root may be changing meanwhile.
int CurrentNetwork();

/// Whether nothing was ever sent in it and nothing is open: then no later user can tell that it had
/// an earlier one. `proc_fd` is a /proc that shows this process.
bool IsPristine(int proc_fd);

/// A socket that listens on 127.0.0.1:port in it.
int ListenOn(uint16_t port);

}  // namespace igloo::jail

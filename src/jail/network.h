#pragma once

#include <stdint.h>

namespace igloo::jail {

/// Raises the loopback of this process's new network namespace and bounds its buffers. `proc_fd` is
/// any /proc whose settings can be written.
bool PrepareNetwork(int proc_fd);

/// That namespace as a descriptor. By socket, not by /proc: the root may be changing meanwhile.
int CurrentNetwork();

/// A number that changes with every counter of this process's network namespace. `proc_fd` is a
/// /proc that shows this process.
uint64_t CountersOf(int proc_fd);
/// Whether no Internet socket is open in it.
bool HasNoSockets(int proc_fd);

/// A socket of it that is not connected.
int PlainSocket();
/// A socket that listens on 127.0.0.1:port in it.
int ListenOn(uint16_t port);

}  // namespace igloo::jail

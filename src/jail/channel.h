#pragma once

#include "jail/sandbox.h"

namespace igloo::jail {

/// Receives one whole request into `job` (its body into static memory that the next call reuses).
/// False at end of file and on anything malformed.
bool ReceiveJob(int socket, Job& job);

/// Passes a job on to a slot, with the trees of its sources.
bool SendJob(int socket, const Job& job, const Sources& sources);
/// The slot's side of SendJob.
bool ReceiveForwarded(int socket, Job& job, Sources& sources);

/// A message whose first byte carries descriptors, sent or received whole.
bool SendWithFds(int socket, const void* from, size_t size, const int* fds, unsigned count);
bool ReceiveWithFds(int socket, void* to, size_t size, int* fds, unsigned max, unsigned& count);

/// Gives memory of an unusually large request back to the system.
void ReleaseBody(const Job& job);

/// Waits for a byte without sleeping, for a moment at most: a processor that has gone to sleep
/// takes longer to wake than what is expected here. Gives way to whoever else wants to run.
void AwaitSoon(int socket);

/// Leaves nothing of any request in this process's memory.
void ForgetBodies();

void CloseAll(const int* fds, unsigned count);

void SendReply(int socket, const ops::Reply& reply, int fd = -1);
/// One that says nothing but its kind.
void SendReply(int socket, ops::ReplyKind kind, int fd = -1);
void SendFailure(int socket, const Failure& failure);

/// Tells igloo where this child failed, and ends it.
[[noreturn]] void FailAndExit(int socket, const Failure& failure);

}  // namespace igloo::jail

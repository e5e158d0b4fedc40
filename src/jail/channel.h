#pragma once

#include "jail/sandbox.h"

namespace igloo::jail {

/// Receives one whole request into `job` (its body into static memory that the next call reuses).
/// False at end of file and on anything malformed.
bool ReceiveJob(int socket, Job& job);

/// How many mount sources a run of a template may have of its own.
inline constexpr unsigned kMaxRunSources = 64;

/// Passes a job on to a template, its sources behind its own descriptors.
bool SendJob(int socket, const Job& job, const int* sources, unsigned source_count,
             uint32_t host_id);
/// The template's side of SendJob; `sources` has room for kMaxRunSources.
bool ReceiveForwarded(int socket, Job& job, int* sources, unsigned& source_count,
                      uint32_t& host_id);

/// Gives memory of an unusually large request back to the system.
void ReleaseBody(const Job& job);

void CloseAll(const int* fds, unsigned count);
void CloseJob(const Job& job);

void SendReply(int socket, const ops::Reply& reply, int fd = -1);
void SendFailure(int socket, const Failure& failure);

/// Tells igloo where this child failed, and ends it.
[[noreturn]] void FailAndExit(int socket, const Failure& failure);

}  // namespace igloo::jail

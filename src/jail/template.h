#pragma once

#include "jail/slot.h"

namespace igloo::jail {

/// What a template sends for each slot it was asked for, with the slot's socket and pidfd.
struct SlotMade {
  uint32_t number;
  pid_t pid;
  Failure failure;  ///< kNone: the slot stands
};

/// Builds the environment of `job` in namespaces of its own and makes slots on it, one for each
/// byte it is sent. Its user namespace maps the whole block that its pid selects, so that every
/// slot gets an id of its own. Answers on the job's reply socket. Returns its pid, or -1;
/// `socket` is the launcher's end. `launcher_fds` are closed in it: a template that kept copies
/// would keep its siblings alive.
pid_t StartTemplate(const Job& job, const Setup& setup, const int* launcher_fds,
                    unsigned launcher_fd_count, int& socket);

bool AskForSlot(int socket, int cgroup);
/// Blocks until a slot has come; false when the template is gone.
bool ReceiveSlot(int socket, Slot& slot, Failure& failure);

}  // namespace igloo::jail

// P5: nothing is inherited. The scene makes this program a careless caller of igloo.
#include "prove/case.h"

namespace igloo::prove {

std::vector<Case> InheritedCases() {
  return {
      {"Variable", "find a secret in a variable", {"find-variable"}},
      {"Signals", "find a signal ignored or blocked", {"find-signal-state"}},
      {"Umask", "find the caller's umask", {"find-umask"}},
      {"Personality", "find address randomisation switched off", {"find-personality"}},
      {"SessionKey", "read a key of the caller's session", {"read-key", "igloo-prove-key"}},
      {"SessionKeyByRequest", "request that key", {"request-key", "igloo-prove-key"}},
      {"KeyAdded", "add a key", {"add-key"}},
      {"SystemVSharedMemory",
       "read shared memory of the host",
       {"read-shared-memory", "{shm-key}"}},
      {"MessageQueue", "open a message queue of the host", {"open-queue", "/{id}"}},
  };
}

/// What the caller left open. Tests start igloo itself from such a caller.
std::vector<Case> CallerCases() {
  return {
      {"Descriptor", "find a descriptor of the caller", {"find-descriptor"}},
      {"DirectoryDescriptor",
       "leave by a directory that the caller has open",
       {"leave-by-descriptor"}},
      {"Terminal", "open the caller's terminal", {"find-terminal"}},
  };
}

}  // namespace igloo::prove

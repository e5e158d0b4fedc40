#include "agent/state/state_store.h"

#include "base/private_directory.h"

namespace igloo::agent {

Result<UniqueFd> LockStore(const StateStore& store) {
  IGLOO_TRY(OpenPrivateDirectory(store.directory));
  for (const std::string& path : {store.Boxes(), store.Making(), store.Proposals(), store.Kept()}) {
    IGLOO_TRY(OpenPrivateDirectory(path));
  }
  return WaitForPrivateLock(store.directory + "/lock");
}

}  // namespace igloo::agent

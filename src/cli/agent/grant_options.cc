#include "cli/agent/grant_options.h"

namespace igloo::cli {

agent::GrantRequest ReadGrants(const ParsedArgs& args) {
  agent::GrantRequest request{.ssh_keys = args.All("--ssh-key"),
                              .ssh_key_filters = args.All("--ssh-key-filter"),
                              .mounts = args.All("--mount")};
  for (const agent::GrantRow& row : agent::AllGrants()) {
    if (args.Has(row.option) || !args.All(row.option).empty()) request.asked.insert(row.grant);
  }
  return request;
}

}  // namespace igloo::cli

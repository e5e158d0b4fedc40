#pragma once

#include "clients/edit.h"

namespace igloo::clients {

// The members of edit.h for clients that write TOML.
Scanned<Edit> InstallToml(const Client& client, const Server& server, std::string_view text,
                          Foreign foreign);
Scanned<Edit> RemoveToml(const Client& client, std::string_view name, std::string_view text,
                         const std::optional<Undo>& undo, Foreign foreign);

}  // namespace igloo::clients

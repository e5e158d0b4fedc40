#pragma once

#include <string_view>

#include "network/address.h"

namespace igloo::network {

/// Which range that stays closed an address lies in, in words for a message ("a private network");
/// empty for an address of the open Internet. An address that carries another one (6to4, NAT64,
/// Teredo) is as closed as that one.
std::string_view ClosedRange(const Address& address);

}  // namespace igloo::network

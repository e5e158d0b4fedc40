#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "network/address.h"

namespace igloo::network {

/// Which range that stays closed an address lies in, in words for a message ("a private network");
/// empty for an address of the open Internet. An address that carries another one (6to4, NAT64,
/// Teredo) is as closed as that one.
std::string_view ClosedRange(const Address& address);

/// The addresses of IPv4 that an address of IPv6 carries: who connects to it, reaches these.
std::vector<Address> CarriedAddresses(const Address& address);

/// All of them that are of IPv4, as texts: "10.0.0.0/8". None lies in another.
std::vector<std::string> ClosedNetworksOfFour();

}  // namespace igloo::network

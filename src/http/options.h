#pragma once

#include <string>
#include <vector>

#include "http/address.h"
#include "http/limits.h"

namespace igloo::http {

/// How a server is reached, and what its clients may take.
struct Options {
  Address address = TcpAddress{};
  /// What Host and Origin may name, besides the address itself.
  std::vector<std::string> hosts = OwnNames{}.names;
  Limits limits = {};
  /// Fields that decide anything, of which a request may therefore have only one: see Parser.
  std::vector<std::string> single_fields = {};
};

}  // namespace igloo::http

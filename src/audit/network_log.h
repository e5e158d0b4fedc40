#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "audit/journal.h"
#include "network/control.h"

namespace igloo::audit {

/// The file of decisions about the network, beside that of calls.
inline constexpr std::string_view kNetworkFile = "network.jsonl";

/// A decision as one line of JSON with its newline. Text is made printable and cut to a bound.
std::string EncodeDecision(const network::Record& record);

/// Reads such a line, with or without its newline. Fields that it does not know are fine.
Result<network::Record> DecodeDecision(std::string_view line);

/// Writes down what igloo-proxy decided. A log that cannot be written ends no connection: whoever
/// made it is told once, and again when it failed anew.
class NetworkLog {
 public:
  using Say = std::function<void(const Error&)>;

  /// `options` say where; their `file` is set here.
  NetworkLog(JournalOptions options, Say say);

  void Add(const network::Record& record);

 private:
  Journal journal_;
  Say say_;
  bool said_ = false;
};

}  // namespace igloo::audit

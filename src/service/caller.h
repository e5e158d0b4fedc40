#pragma once

// What igloo reads of whoever started it: variables, and the values of secrets.

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "config/request.h"

namespace igloo::service {

/// A variable of the caller's, if it is set.
std::optional<std::string> CallersVariable(const std::string& name);

/// How long a command that prints a secret may take: somebody may have to type a password first.
inline constexpr std::chrono::milliseconds kSecretTime{60'000};

/// The value of a secret: a variable, a file that nobody else may read, or what a command prints; a
/// newline at the end is no part of it. Blocks while a command runs. No error shows a value.
Result<std::string> ReadSecretValue(const config::SecretSource& source,
                                    std::chrono::milliseconds time = kSecretTime);

/// The same of a command, for whoever has other things to do meanwhile.
boost::asio::awaitable<Result<std::string>> AwaitSecretCommand(
    std::string command, std::chrono::milliseconds time = kSecretTime);

/// Everything as it is.
config::Caller TheCaller();

/// For what is shown to anybody: "(yours)" in the place of every value. Nothing is read.
config::Caller NamesOfCaller();
/// The placeholder in what is shown: the same every time.
Result<std::string> ShownPlaceholder(std::string_view secret);

}  // namespace igloo::service

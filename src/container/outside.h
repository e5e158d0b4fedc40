#pragma once

namespace igloo::container {

/// The life of igloo-container outside: takes one request from igloo, has `engine` (its words, the
/// program's path first) make a container, and ends it when igloo hangs up. `environment`: all
/// variables that the engine gets.
[[noreturn]] void LiveOutside(char** engine, char** environment);

}  // namespace igloo::container

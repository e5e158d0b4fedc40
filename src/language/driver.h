#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace igloo::language {

/// How another session becomes a copy of one.
enum class Fork {
  kNone,    ///< it cannot
  kFiles,   ///< files are all that it keeps
  kText,    ///< `snapshot` prints code that makes the variables of another one the same
  kMemory,  ///< the other one gets its memory
};

/// The program that makes an interpreter one of a session: it takes code over descriptor 3, runs it
/// in one and the same interpreter, and says over descriptor 4 when and how each piece ended. It is
/// started inside the sandbox, so everything that it says is as trustworthy as the code it runs.
struct Driver {
  /// The name of its language, or "command": any program that runs a file, such as a compiler's.
  /// That one is started with DriveByCommand.
  std::string_view interpreter = {};
  std::string_view file = {};  ///< the name its file has: "driver.py"
  std::string_view text = {};
  /// The name of an empty file beside it, which stands for the program that a session has not.
  std::string_view program = {};
  /// Makes checkpoints, from which others are restored; modules can be loaded ahead in one.
  bool checkpoint = false;
  Fork fork = Fork::kNone;
  std::string_view snapshot = {};  ///< of Fork::kText: code for such a session
};

/// Descriptors 3 and 4. Pipes: what is taken out of a socket wakes whoever waits at its other end
/// for something else.
inline constexpr std::uint32_t kDescriptors = 2;

/// The driver of the programs that no interpreter keeps alive.
const Driver& CommandDriver();

/// Its command: each piece of code becomes a file of that name, and is run by `command` and the
/// path of the file. Any environment with /bin/sh can be driven so.
std::vector<std::string> DriveByCommand(std::string_view file_name,
                                        std::span<const std::string> command);

/// Nothing when there is none for that interpreter.
const Driver* FindDriver(std::string_view interpreter);

}  // namespace igloo::language

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace igloo::drivers {

/// The program that makes an interpreter one of a session: it takes code over descriptor 3, runs it
/// in one and the same interpreter, and says over descriptor 4 when and how each piece ended. It is
/// started inside the sandbox, so everything that it says is as trustworthy as the code it runs.
struct Driver {
  /// "python", "node", "bash", or "command": any program that runs a file, such as a compiler's.
  /// That one is started with DriveByCommand.
  std::string_view interpreter = {};
  std::string_view file = {};  ///< the name its file has: "driver.py"
  std::string_view text = {};
  /// The name of an empty file beside it, which stands for the program that a session has not.
  std::string_view program = {};
  bool checkpoint = false;  ///< makes checkpoints, from which others are restored
};

/// Descriptors 3 and 4. Pipes: what is taken out of a socket wakes whoever waits at its other end
/// for something else.
inline constexpr std::uint32_t kDescriptors = 2;

/// The command of the driver of commands: each piece of code becomes a file of that name, and is
/// run by `command` and the path of the file. Any environment with /bin/sh can be driven so.
std::vector<std::string> DriveByCommand(std::string_view file_name,
                                        std::span<const std::string> command);

/// Code for a bash session: prints code that makes another one the same.
std::string_view ShellSnapshot();

/// Nothing when there is none for that interpreter.
const Driver* FindDriver(std::string_view interpreter);

}  // namespace igloo::drivers

#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "language/conveniences.h"
#include "language/driver.h"
#include "language/prompt.h"

namespace igloo::language {

/// All that igloo knows of one language. Data: one row of a table, and the texts beside it.
struct Language {
  std::string_view name = {};                       ///< "python"
  std::string_view title = {};                      ///< for people: "Python"
  std::span<const std::string_view> programs = {};  ///< the usual one first
  /// The one of them that may have a version behind it: "python3" for "python3.11".
  std::string_view versioned = {};
  std::string_view code_file = {};  ///< "main.py": interpreters look at the ending
  /// The smallest program that prints "igloo-ok".
  std::string_view shortest = {};
  /// The words behind a program with which it takes code as an argument, and on its input.
  std::string_view argument = {}, input = {};
  /// A program that was started on a named pipe has done all that it does before it runs code when
  /// it waits for that pipe to be opened, and has looked at nothing that would be different for a
  /// file. Found out system call by system call.
  bool waits = false;
  bool in_images = false;          ///< images are looked through for its usual program
  bool in_artifacts = false;       ///< nix-sandbox-mcp has a word for it (IsInterpreterType)
  std::optional<Driver> driver{};  ///< none: a session keeps its files alone
  std::optional<Conveniences> conveniences{};
  Prompt prompt = {};
};

/// In the order in which images are looked through.
std::span<const Language> All();

/// Null: none of igloo's.
const Language* Find(std::string_view name);
/// By the ending of its code's file ("py").
const Language* FindByEnding(std::string_view ending);
/// By the name of a program ("python3"), without a directory.
const Language* FindByProgram(std::string_view program);

/// Whether a program can be started ahead of its code (Language::waits).
bool Waits(std::string_view program);

/// Whether `interpreter_type` of an artifact can name it: a contract with nix-sandbox-mcp, whose
/// artifacts igloo shares.
bool IsInterpreterType(std::string_view name);

/// Of the sessions of an interpreter; of others, whole programs come.
const Prompt& PromptOf(std::string_view interpreter);

}  // namespace igloo::language

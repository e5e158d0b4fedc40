#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace igloo::environment {

/// What tells whether a file of some name holds a secret.
enum class Look : std::uint8_t {
  kName,    ///< nothing else: it always does
  kWords,   ///< one of a few words in it
  kKey,     ///< a private key in it, as text or in the binary form (DER)
  kUnless,  ///< nothing else, unless the directory has one certain name in it
  kGit,     ///< credentials in a configuration of git; code reads a copy without them
};

/// Files in projects that are hidden unless somebody says otherwise, and why.
struct SecretRow {
  std::string_view pattern = {};  ///< base/glob.h, large and small letters alike
  Look look = Look::kName;
  std::string_view words = {};  ///< of kWords, with '|' between; of kUnless, the name
  std::string_view reason = {};
};

/// All of them. Those that end in '/' are for directories, all others for what is none.
std::span<const SecretRow> SecretRows();

/// Names that a row has, and that are for everybody to read all the same.
std::span<const SecretRow> HarmlessRows();

/// Whether the content of a file that has the name is a secret; not of kGit.
bool HoldsSecret(const SecretRow& row, std::string_view content);

}  // namespace igloo::environment

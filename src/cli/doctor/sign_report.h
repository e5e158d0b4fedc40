#pragma once

#include <string>

#include "base/error.h"

namespace igloo::cli {

/// What signatures are made for: nobody can pass one off as another kind of signature.
inline constexpr const char* kSignatureNamespace = "igloo-prove";

/// A key of the user's for SSH, and the program that signs with it.
struct Signing {
  std::string program = {}, key = {};
};

/// Fails when there is no such key, or no ssh-keygen.
Result<Signing> FindSigning(const std::string& key);

/// Signs a file; the path of the signature. ssh-keygen may ask for the key's passphrase.
Result<std::string> SignReport(const Signing& signing, const std::string& file);

/// The commands that check a signature, for people.
std::string HowToVerify(const Signing& signing, const std::string& file,
                        const std::string& signature);

}  // namespace igloo::cli

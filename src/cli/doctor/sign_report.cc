#include "cli/doctor/sign_report.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/spawn.h"
#include "base/text.h"
#include "service/programs.h"

namespace igloo::cli {
namespace {

/// The shell words that print a key's public half.
std::string PublicHalf(const Signing& signing) {
  if (signing.key.ends_with(".pub")) return "cat " + ShellQuote(signing.key);
  const std::string beside = signing.key + ".pub";
  if (::access(beside.c_str(), R_OK) == 0) return "cat " + ShellQuote(beside);
  return "ssh-keygen -y -f " + ShellQuote(signing.key);
}

}  // namespace

Result<Signing> FindSigning(const std::string& key) {
  Signing signing{.program = FindInPath("ssh-keygen")};
  if (signing.program.empty()) {
    return Fail(Errc::kFailedPrecondition, "there is no ssh-keygen, which signs reports",
                "sudo apt install openssh-client");
  }
  std::error_code error;
  signing.key = std::filesystem::absolute(key, error).lexically_normal().string();
  if (key.empty() || !std::filesystem::is_regular_file(signing.key, error)) {
    return Fail(Errc::kNotFound, "there is no key '" + key + "'",
                "name one, such as ~/.ssh/id_ed25519; 'ssh-keygen -t ed25519' makes it");
  }
  if (::access(signing.key.c_str(), R_OK) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot read the key '" + key + "'");
  }
  return signing;
}

Result<std::string> SignReport(const Signing& signing, const std::string& file) {
  std::string signature = file + ".sig";
  // It would ask whether to replace an older one.
  if (::unlink(signature.c_str()) != 0 && errno != ENOENT) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot remove the older signature '" + signature + "'");
  }
  IGLOO_ASSIGN(Child child,
               Spawn({.program = signing.program,
                      .argv = {"ssh-keygen", "-Y", "sign", "-f", signing.key, "-n",
                               kSignatureNamespace, file},
                      .env = service::OwnVariables(),
                      .fds = {{STDIN_FILENO, 0}, {STDERR_FILENO, 1}, {STDERR_FILENO, 2}}}));
  IGLOO_ASSIGN(const int status, child.Wait());
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return Fail(Errc::kFailedPrecondition,
                "ssh-keygen did not sign '" + file + "' with '" + signing.key + "'",
                "what it said stands above; the report itself is written");
  }
  return signature;
}

std::string HowToVerify(const Signing& signing, const std::string& file,
                        const std::string& signature) {
  return "Its signature is in '" + signature + "'. To verify it:\n  echo \"signer $(" +
         PublicHalf(signing) + ")\" > allowed_signers\n  ssh-keygen -Y verify -f allowed_signers " +
         "-I signer -n " + kSignatureNamespace + " -s " + ShellQuote(signature) + " < " +
         ShellQuote(file) + "\n";
}

}  // namespace igloo::cli

#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "environment/run_policy.h"

namespace igloo::config {

/// Gets the value of a secret from where it is kept; this room opens nothing itself.
using ReadSecret = std::function<Result<std::string>(const SecretSource& source)>;
/// A text that stands for a secret of this name inside.
using MakePlaceholder = std::function<Result<std::string>(std::string_view name)>;

/// The secrets of one configuration: each is read once, with its first use, and has one
/// placeholder, so that equal requests stay equal. One that could not be read stays so until the
/// configuration is read again. Several threads may use it.
class Secrets {
 public:
  explicit Secrets(ReadSecret read, MakePlaceholder placeholder = network::NewPlaceholder)
      : read_(std::move(read)), placeholder_(std::move(placeholder)) {}

  /// Whether it can be read without waiting for anybody.
  static bool IsQuick(const SecretConfig& secret) {
    return secret.source.kind != SecretSource::Kind::kCommand;
  }
  /// Reads one that nobody has used yet, or says why that cannot be done.
  Result<void> Read(const SecretConfig& secret) const;
  /// Somebody else reads this one, and tells: until then whoever uses it is told to wait.
  void Expect(const SecretConfig& secret) const;
  void Tell(const SecretConfig& secret, Result<std::string> value) const;
  bool Awaits(const std::vector<SecretConfig>& secrets) const;

  /// Lets a request use these secrets: the proxy is told the values, and the code finds the
  /// placeholders and where to send them in its variables. Errors never show a value.
  Result<void> Use(const std::vector<SecretConfig>& secrets,
                   environment::RunRequest& request) const;

 private:
  struct Held {
    std::string value = {}, placeholder = {};
  };
  Result<Held> Get(const SecretConfig& secret) const;
  Result<Held> Hold(const SecretConfig& secret, Result<std::string> value) const;

  ReadSecret read_;
  MakePlaceholder placeholder_;
  mutable std::mutex mu_ = {};
  /// SECURITY: by source as well as by name: a name alone may stand for two of them, a file's and
  /// one of the command line, and each has domains of its own. Guarded by mu_.
  mutable std::map<std::string, Result<Held>> held_ = {};
  mutable std::set<std::string> expected_ = {};  ///< likewise
};

/// Where code sends requests to a host (and a path, behind it) that the proxy is to speak TLS with.
std::string AddressAtProxy(std::string_view host);

}  // namespace igloo::config

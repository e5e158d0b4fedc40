#include "config/secrets.h"

#include <fmt/format.h>

#include <algorithm>

namespace igloo::config {
namespace {

/// Programs that many use find another server by a variable of their own.
struct BaseUrl {
  std::string_view secret;    ///< the variable of the secret
  std::string_view variable;  ///< the one that names the server
  std::string_view path;      ///< what its value ends with
};
constexpr BaseUrl kBaseUrls[] = {
    {"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", ""},
    {"OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1"},
    {"GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", ""},
};

std::string KeyOf(const SecretConfig& secret) {
  return fmt::format("{}\n{}\n{}", secret.name, static_cast<int>(secret.source.kind),
                     secret.source.value);
}

}  // namespace

std::string AddressAtProxy(std::string_view host) {
  return fmt::format("http://127.0.0.1:{}/https/{}", network::kProxyPort, host);
}

Result<Secrets::Held> Secrets::Hold(const SecretConfig& secret, Result<std::string> value) const {
  if (!value) return Wrap(fmt::format("the secret '{}'", secret.name), std::move(value).error());
  Held held{.value = *std::move(value)};
  IGLOO_ASSIGN(held.placeholder, placeholder_(secret.name));
  return held;
}

Result<Secrets::Held> Secrets::Get(const SecretConfig& secret) const {
  const std::scoped_lock lock(mu_);
  const std::string key = KeyOf(secret);
  const auto found = held_.find(key);
  if (found != held_.end()) return found->second;
  if (expected_.contains(key)) {
    return Fail(Errc::kFailedPrecondition,
                fmt::format("the secret '{}' is still being read", secret.name),
                "try again in a moment");
  }
  return held_.emplace(key, Hold(secret, read_(secret.source))).first->second;
}

Result<void> Secrets::Read(const SecretConfig& secret) const {
  environment::RunRequest nobody;
  return Use({secret}, nobody);
}

void Secrets::Expect(const SecretConfig& secret) const {
  const std::scoped_lock lock(mu_);
  if (!held_.contains(KeyOf(secret))) expected_.insert(KeyOf(secret));
}

void Secrets::Tell(const SecretConfig& secret, Result<std::string> value) const {
  const std::scoped_lock lock(mu_);
  expected_.erase(KeyOf(secret));
  held_.emplace(KeyOf(secret), Hold(secret, std::move(value)));
}

bool Secrets::Awaits(const std::vector<SecretConfig>& secrets) const {
  const std::scoped_lock lock(mu_);
  return std::ranges::any_of(
      secrets, [&](const SecretConfig& each) { return expected_.contains(KeyOf(each)); });
}

Result<void> Secrets::Use(const std::vector<SecretConfig>& secrets,
                          environment::RunRequest& request) const {
  for (const SecretConfig& secret : secrets) {
    auto headers = network::ParseHeaderNames(secret.header);
    if (!headers) {
      return Wrap(fmt::format("the secret '{}'", secret.name), std::move(headers).error());
    }
    IGLOO_ASSIGN(const Held held, Get(secret));
    std::string url;  // of the first host
    for (const std::string& host : secret.hosts) {
      IGLOO_ASSIGN(auto domain, network::Name::Parse(host));
      network::Secret each{.name = secret.name,
                           .value = held.value,
                           .placeholder = held.placeholder,
                           .domain = std::move(domain),
                           .headers = *headers};
      IGLOO_TRY(network::CheckSecret(each));
      if (url.empty()) url = AddressAtProxy(each.domain.text());
      request.network.secrets.push_back(std::move(each));
    }
    // SECURITY: a variable of this name that the caller hands on could be the value itself.
    request.variables[secret.inside] = held.placeholder;
    request.variables.emplace(secret.inside + "_URL", url);
    for (const BaseUrl& row : kBaseUrls) {
      if (row.secret == secret.inside) {
        request.variables.emplace(row.variable, url + std::string(row.path));
      }
    }
  }
  return {};
}

}  // namespace igloo::config

#include "cli/secret_reader.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/caller.h"
#include "session/asio.h"

namespace igloo::cli {

namespace asio = boost::asio;

void SecretReader::Begin(const std::shared_ptr<const tools::Setup>& setup) {
  for (const config::SecretConfig& secret : setup->slow_secrets()) {
    setup->secrets().Expect(secret);
    asio::co_spawn(loop_, Read(setup, secret), asio::detached);
  }
}

asio::awaitable<void> SecretReader::Read(std::shared_ptr<const tools::Setup> setup,
                                         config::SecretConfig secret) {
  auto value = co_await AwaitSecretCommand(secret.source.value);
  if (!value) {
    say_(fmt::format("the secret '{}' cannot be read: {}", secret.name,
                     Printable(value.error().what, Newlines::kKeep)));
  }
  setup->secrets().Tell(secret, std::move(value));
  come_.cancel();
}

asio::awaitable<void> SecretReader::Wait(std::shared_ptr<const tools::Setup> setup,
                                         std::string environment, Cancellation cancellation) {
  const auto hook = cancellation.OnRequest([this] { come_.cancel(); });
  while (setup->AwaitsSecrets(environment) && !cancellation.requested()) {
    boost::system::error_code cancelled;
    auto token = session::Redirect(cancelled);
    co_await come_.async_wait(token);
  }
}

}  // namespace igloo::cli

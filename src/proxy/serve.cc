#include "proxy/serve.h"

#include <csignal>
#include <map>
#include <utility>

#include "base/descriptors.h"
#include "base/file.h"
#include "base/overloaded.h"
#include "network/channel.h"
#include "network/control.h"
#include "proxy/box.h"
#include "proxy/wall.h"

namespace igloo::proxy {

using network::Done;
using network::Failed;
using network::RuleSet;

namespace {

constexpr std::size_t kLongestRoots = 8U << 20;
/// Where distributions keep what they trust.
constexpr const char* kRootsFiles[] = {"/etc/ssl/certs/ca-certificates.crt",
                                       "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
                                       "/etc/ssl/cert.pem"};

std::string SystemRoots() {
  for (const char* path : kRootsFiles) {
    if (auto content = ReadFile(path, kLongestRoots)) return *std::move(content);
  }
  return {};  // told when somebody needs them
}

/// Takes orders and carries them out.
class Server {
 public:
  explicit Server(Shared& shared) : shared_(shared) {}

  asio::awaitable<void> TakeOrders(int control, Result<void>& outcome) {
    asio::posix::stream_descriptor descriptor(shared_.executor, control);
    while (true) {
      auto packet = network::ReceivePacket(control);
      if (!packet) {
        const bool over =
            packet.error().code == Errc::kNotFound || packet.error().sys_errno == ECONNRESET;
        if (!over) outcome = std::unexpected(packet.error());
        break;
      }
      if (!*packet) {
        boost::system::error_code error;
        auto token = Redirect(error);
        co_await descriptor.async_wait(asio::posix::descriptor_base::wait_read, token);
        if (error) break;
        continue;
      }
      auto order = network::DecodeOrder((*packet)->text);
      if (!order) {
        // SECURITY: an order that is not understood may have been one to close something.
        outcome = std::unexpected(order.error());
        break;
      }
      CarryOut(*std::move(order), std::move((*packet)->descriptors));
    }
    (void)descriptor.release();
    static_cast<asio::io_context&>(asio::query(shared_.executor, asio::execution::context)).stop();
  }

 private:
  void CarryOut(network::Order order, std::vector<UniqueFd> descriptors) {
    if (const auto* remove = std::get_if<network::RemoveSandbox>(&order.command)) {
      if (auto found = boxes_.extract(remove->sandbox)) {
        asio::co_spawn(shared_.executor, End(std::move(found.mapped()), order.number),
                       asio::detached);
        return;
      }
    }
    const auto done =
        std::visit([&](auto& command) { return Do(std::move(command), std::move(descriptors)); },
                   order.command);
    if (done) {
      shared_.records->Say(Done{order.number});
    } else {
      shared_.records->Say(Failed{order.number, done.error().what, done.error().hint});
    }
  }

  Result<std::shared_ptr<Box>> Find(const std::string& sandbox) const {
    const auto found = boxes_.find(sandbox);
    if (found != boxes_.end()) return found->second;
    return Fail(Errc::kNotFound, "there is no sandbox '" + sandbox + "'");
  }

  Result<void> Do(network::AddSandbox command, std::vector<UniqueFd> descriptors) {
    if (boxes_.contains(command.sandbox)) {
      return Fail(Errc::kInvalidArgument, "sandbox '" + command.sandbox + "' is there already");
    }
    // One that has ports and nothing else has none.
    if (descriptors.size() > 1 ||
        (descriptors.size() == 1 && !IsListener(descriptors.front().get()))) {
      return Fail(Errc::kProtocol, "a sandbox came without its listener");
    }
    IGLOO_ASSIGN(RuleSet rules, RuleSet::Parse(command.tier, command.rules));
    const std::string id = command.sandbox;
    auto box = std::make_shared<Box>(shared_, std::move(command), std::move(rules));
    if (!descriptors.empty()) box->Listen(std::move(descriptors.front()));
    boxes_.emplace(id, std::move(box));
    return {};
  }

  Result<void> Do(network::ReplaceRules command, std::vector<UniqueFd> /*descriptors*/) {
    IGLOO_ASSIGN(const auto box, Find(command.sandbox));
    std::vector<std::string> all = command.rules;
    all.insert(all.end(), command.once.begin(), command.once.end());
    auto rules = RuleSet::Parse(command.tier, all);
    // SECURITY: a list that cannot be read closes; the old one would go on allowing what the new
    // one may have been meant to forbid.
    if (!rules) command = {};
    box->SetRules(command, rules ? *rules : RuleSet());
    if (!rules) return std::unexpected(rules.error());
    return {};
  }

  Result<void> Do(network::AddForward command, std::vector<UniqueFd> descriptors) {
    IGLOO_ASSIGN(const auto box, Find(command.sandbox));
    return box->AddForward(command, std::move(descriptors));
  }

  Result<void> Do(network::RemoveSandbox command, std::vector<UniqueFd> /*descriptors*/) {
    IGLOO_TRY(Find(command.sandbox));  // one that is there was taken out already
    return {};
  }

  /// The answer says that everything was told.
  asio::awaitable<void> End(std::shared_ptr<Box> box, std::uint64_t order) {
    box->Stop();
    co_await box->Gone();
    shared_.records->Say(Done{order});
  }

  Shared& shared_;
  std::map<std::string, std::shared_ptr<Box>> boxes_ = {};  // shared with their connections
};

Result<void> ServeOrders(Options options) {
  // A peer that has closed is told by the call that writes.
  ::signal(SIGPIPE, SIG_IGN);
  RaiseOpenFiles();
  IGLOO_TRY(SetNonBlocking(options.control.get()));
  std::string roots;
  if (options.roots_file.empty()) {
    roots = SystemRoots();
  } else {
    IGLOO_ASSIGN(roots, ReadFile(options.roots_file, kLongestRoots));
  }
  Pipes pipes;  // what is under way at the end gives its pipe back while the context goes
  asio::io_context context(1);
  Shared shared{.executor = context.get_executor(), .pipes = pipes};
  IGLOO_ASSIGN(shared.resolver, Resolver::Make(shared.executor, options.servers));
  shared.tls = std::make_unique<Tls>(std::move(roots));
  // Two descriptors, because one event loop knows a descriptor only once.
  const UniqueFd out = Duplicate(options.control.get());
  shared.records = std::make_unique<Records>(shared.executor, out.get());
  IGLOO_TRY(RaiseWall());
  shared.records->Say(network::Ready{});
  Result<void> outcome;
  Server server(shared);
  asio::co_spawn(context, server.TakeOrders(options.control.get(), outcome), asio::detached);
  context.run();
  return outcome;
}

}  // namespace

Result<void> Serve(Options options) {
  // Whoever started it reads nothing but the channel: its last words go there.
  const UniqueFd channel = Duplicate(options.control.get());
  auto served = ServeOrders(std::move(options));
  if (!served) {
    const Failed failed{0, served.error().what, served.error().hint};
    (void)network::SendPacket(channel.get(), network::Encode(network::News(failed)), {});
  }
  return served;
}

}  // namespace igloo::proxy

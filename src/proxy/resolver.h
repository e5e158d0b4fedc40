#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "network/name.h"
#include "proxy/asio.h"

struct ares_channeldata;
struct ares_addrinfo;

namespace igloo::proxy {

/// Asks name servers, and nobody else: no file, no alias, no search list. Answers are kept as long
/// as they say, a minute at most. One thread.
class Resolver {
 public:
  /// Reads the system's configuration now and never again. `servers`, when there are any, are asked
  /// instead ("192.0.2.1:53", with commas).
  static Result<std::unique_ptr<Resolver>> Make(const asio::any_io_executor& executor,
                                                const std::string& servers);
  ~Resolver();

  /// All addresses of a name, IPv4 first.
  asio::awaitable<Result<std::vector<network::Address>>> Resolve(const network::Name& name);

 private:
  struct Socket;
  struct Query;
  struct Kept {
    std::vector<network::Address> addresses = {};
    std::chrono::steady_clock::time_point until = {};
  };
  explicit Resolver(const asio::any_io_executor& executor) : executor_(executor), tick_(executor) {}

  static void OnSocket(void* self, int fd, int readable, int writable);
  static void OnAnswer(void* query, int status, int timeouts, ares_addrinfo* answer);
  void Watch(const std::shared_ptr<Socket>& socket);
  void Tick();
  std::shared_ptr<Query> Ask(const network::Name& name);
  void Keep(const std::string& name, const Query& query);

  asio::any_io_executor executor_;
  asio::steady_timer tick_;
  bool ticking_ = false;
  ares_channeldata* channel_ = nullptr;
  std::map<int, std::shared_ptr<Socket>> sockets_ = {};  // shared with waits on their way
  std::unordered_map<std::string, Kept> kept_ = {};
  /// Questions on their way, shared with all who wait for the same answer.
  std::unordered_map<std::string, std::shared_ptr<Query>> open_ = {};
};

}  // namespace igloo::proxy

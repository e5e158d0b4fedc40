#include "session/network/proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/file.h"
#include "base/spawn.h"
#include "base/temp_dir.h"
#include "base/text.h"
#include "session/asio.h"
#include "session/network/connection.h"
#include "support/igloo.h"

namespace igloo::session {
namespace {

using ::testing::HasSubstr;

network::Wanted With(std::string principal, std::vector<std::string> placeholders) {
  network::Wanted wanted{.level = network::Level::kAllow, .principal = std::move(principal)};
  for (std::string& each : placeholders) {
    wanted.secrets.push_back({.name = "KEY",
                              .value = "value of " + each,
                              .placeholder = std::move(each),
                              .domain = *network::Name::Parse("api.example"),
                              .headers = {"X-Key"}});
  }
  return wanted;
}

TEST(TrustDomainTest, IsAPrincipalWithItsSecrets) {
  const std::set<std::string> all = {
      TrustDomainOf(With("", {})),       TrustDomainOf(With("a", {})),
      TrustDomainOf(With("b", {})),      TrustDomainOf(With("a", {"one"})),
      TrustDomainOf(With("a", {"two"})), TrustDomainOf(With("a", {"one", "two"})),
      TrustDomainOf(With("a\none", {})), TrustDomainOf(With("1:a\none", {}))};
  EXPECT_EQ(all.size(), 8U);
  EXPECT_EQ(TrustDomainOf(With("a", {"one", "two", "one"})),
            TrustDomainOf(With("a", {"two", "one"})))
      << "in any order, for any number of hosts";
  for (const std::string& each : all) EXPECT_EQ(each.find("value of"), std::string::npos);
}

/// With 'sleep' in igloo-proxy's place: its argument, the number of a descriptor, is its time.
class ProxyTest : public ::testing::Test {
 protected:
  boost::asio::io_context loop_;
};

TEST_F(ProxyTest, OneServesADomainAndAnotherTheNext) {
  Proxy proxy(loop_, {.program = FindInPath("sleep")});
  const auto first = proxy.Join("a"), again = proxy.Join("a"), other = proxy.Join("b");
  ASSERT_TRUE(first && again && other);
  EXPECT_EQ(first->get(), again->get());
  EXPECT_NE(first->get(), other->get());
  EXPECT_EQ(proxy.size(), 2U);
  proxy.Close();
}

TEST_F(ProxyTest, ThatServesNobodyEnds) {
  Proxy proxy(loop_, {.program = FindInPath("sleep"), .idle = std::chrono::milliseconds(1)});
  {
    const auto first = proxy.Join("a"), again = proxy.Join("a");
    ASSERT_TRUE(first && again);
    proxy.Release(*first);
    loop_.poll();
    EXPECT_EQ(proxy.size(), 1U) << "it serves one more";
    proxy.Release(*again);
  }
  while (proxy.size() > 0) loop_.run_one();
  EXPECT_TRUE(proxy.Join("a")) << "the next one gets another";
  proxy.Close();
}

TEST_F(ProxyTest, ThereAreSoManyAtMostAndTheErrorSaysSo) {
  Proxy proxy(loop_, {.program = FindInPath("sleep"), .most = 2});
  const auto first = proxy.Join("a"), second = proxy.Join("b");
  ASSERT_TRUE(first && second);
  const auto third = proxy.Join("c");
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, Errc::kExhausted);
  EXPECT_THAT(third.error().what, HasSubstr("2 igloo-proxy processes run already"));
  EXPECT_FALSE(third.error().hint.empty());
  // One that serves nobody makes room.
  proxy.Release(*first);
  EXPECT_TRUE(proxy.Join("c"));
  EXPECT_FALSE(proxy.Join("a"));
  EXPECT_EQ(proxy.size(), 2U);
  proxy.Close();
}

/// A sandbox in which somebody connects at once.
class Connecting : public backend::Sandbox {
 public:
  Connecting() {
    FdPair pipe = MakePipe().value();
    EXPECT_TRUE(WriteAll(pipe.second.get(), "x"));
    made_.listeners.push_back(std::move(pipe.first));
  }
  int setup_fd() const override { return -1; }
  Result<void> ReadSetup() override { return {}; }
  void Kill() override {}
  Error WhyGone() override { return {}; }
  Result<backend::Sockets> TakeSockets() override { return std::move(made_); }

 private:
  backend::Sockets made_ = {};
};

/// A program in igloo-proxy's place that refuses something when it is given a sandbox, and once
/// more, when it is told to, after that sandbox was taken from it.
class Talking {
 public:
  Talking() {
    for (const char* host : {"early", "late"}) {
      // As SendPacket writes it: the text itself.
      std::ofstream(Path(host)) << 'I'
                                << network::Encode(network::Record{.sandbox = "x",
                                                                   .host = host,
                                                                   .port = 80,
                                                                   .refusal = "no rule allows it"});
    }
    // Reading one byte takes a whole message. With this test's PATH: its tools may lie anywhere.
    std::ofstream(program()) << "#!/bin/sh\nPATH=" << ShellQuote(std::getenv("PATH")) << "\ncd "
                             << directory_.path()
                             << "\nhead -c 1 <&3 >order && cat early >&3\n"
                                "head -c 1 <&3 >order && : <go\n"
                                "cat late >&3\nhead -c 1 <&3 >order\n";
    std::filesystem::permissions(program(), std::filesystem::perms(0755));
    EXPECT_EQ(::mkfifo(Path("go").c_str(), 0600), 0);
  }
  std::string program() const { return Path("talking"); }
  void LetGo() const { std::ofstream(Path("go")) << ""; }

 private:
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }
  TempDir directory_ = TempDir::Make(igloo::testing::TempParent()).value();
};

TEST_F(ProxyTest, WhatOneTellsOfANameDoesNotReachTheNextOfThatNameInAnotherDomain) {
  const Talking talking;
  std::vector<std::string> heard;
  Proxy proxy(loop_, {.program = talking.program(), .record = [&](const network::Record& record) {
                        heard.push_back(record.host);
                      }});
  const auto connect = [&](const std::string& principal) {
    auto connection = std::make_shared<Connection>(loop_, proxy, With(principal, {}));
    connection->Rename("x");
    Connecting sandbox;
    EXPECT_TRUE(connection->Attach(sandbox));
    return connection;
  };
  const auto wait_for = [&](std::size_t count) {
    while (heard.size() < count && loop_.run_one() > 0) {
    }
    ASSERT_EQ(heard.size(), count);
  };
  auto first = connect("alice");
  wait_for(1);
  if (HasFatalFailure()) return;
  EXPECT_EQ(first->TakeRefusals().list.size(), 1U) << "control: its own process is heard";
  first.reset();
  const auto second = connect("bob");
  wait_for(2);
  if (HasFatalFailure()) return;  // nobody would hear that it is let go
  EXPECT_EQ(proxy.size(), 2U);
  EXPECT_EQ(second->TakeRefusals().list.size(), 1U) << "control";
  talking.LetGo();
  wait_for(3);
  EXPECT_EQ(heard.back(), "late") << "it is written down";
  EXPECT_EQ(second->TakeRefusals().list.size(), 0U) << "and is nothing that the next one did";
  proxy.Close();
}

}  // namespace
}  // namespace igloo::session

// Walls by their names: a further one is a row and a factory, and what one lacks is refused.

#include "wall/walls.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <boost/asio/co_spawn.hpp>

#include "config/catalogue.h"
#include "config/decode.h"
#include "config/request.h"
#include "environment/facts.h"
#include "environment/host.h"
#include "service/runner.h"
#include "support/configured.h"
#include "support/fake_wall.h"
#include "support/mcp.h"
#include "support/sandbox.h"

namespace igloo::testing {
namespace {

namespace asio = boost::asio;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::string_view kPresets[] = {"shell", "python"};

class FakeWall : public ::testing::Test {
 protected:
  FakeWall() { ::signal(SIGPIPE, SIG_IGN); }

  static config::Config Read(std::string_view text) {
    config::Decoded decoded = config::Decode(text, {.presets = kPresets, .walls = WallsWithFake()});
    EXPECT_THAT(decoded.problems, IsEmpty());
    return std::move(decoded.config);
  }

  /// What runs in the environment "shell" of a configuration.
  static service::Order OrderOf(const config::Config& config, std::string code) {
    config::Found found{.registry = {environment::ReadHostLayout(), {}}};
    service::Order order{.where =
                             config::Catalogue(config, std::move(found)).Find("shell").value()};
    order.request.what = environment::Code{std::move(code)};
    const config::Secrets none([](const config::SecretSource&) { return std::string(); });
    const auto nothing = [](const std::string&) { return std::nullopt; };
    EXPECT_TRUE(config::Complete(config, order.where, nothing, none, order.request));
    return order;
  }

  Result<service::Finished> Execute(service::Order order,
                                    std::span<const backend::Factory> factories) {
    asio::io_context loop(1);
    service::Runner runner(loop, BuiltPrograms(), {.factories = factories});
    std::optional<Result<service::Finished>> finished;
    asio::co_spawn(loop, runner.Execute(std::move(order), {}, {}),
                   [&](std::exception_ptr, Result<service::Finished> value) {
                     finished = std::move(value);
                     runner.Close();
                   });
    loop.run();
    return *std::move(finished);
  }
};

TEST_F(FakeWall, IsNamedInAFileAndRunsAPlan) {
  const config::Config config = Read("[environments.shell]\nbackend = 'fake'\n");
  service::Order order = OrderOf(config, "echo never");
  EXPECT_EQ(order.where.backend->name, "fake");
  const auto finished = Execute(std::move(order), FactoriesWithFake());
  ASSERT_TRUE(finished) << finished.error().what;
  EXPECT_THAT(finished->run.output.kept(), StartsWith("not run: /"));
  EXPECT_EQ(finished->run.exit_code, 7);
  EXPECT_FALSE(finished->looked_for_files) << "it hands nothing out";
  EXPECT_EQ(finished->backend, "fake");
}

TEST_F(FakeWall, CanBeTheOneOfAllEnvironments) {
  const config::Config config = Read("[defaults]\nbackend = 'fake'\n");
  EXPECT_EQ(OrderOf(config, "").where.backend->name, "fake");
}

TEST_F(FakeWall, HasNoSessionsBecauseItsRowSaysSo) {
  const config::Config fake = Read("[environments.shell]\nbackend = 'fake'\n");
  EXPECT_EQ(service::DriverOf(OrderOf(fake, "").where), nullptr);
  EXPECT_NE(service::DriverOf(OrderOf(Read(""), "").where), nullptr) << "control";
}

TEST_F(FakeWall, IsAskedForNoMoreThanItsRowPromises) {
  const config::Config config = Read(
      "[environments.shell]\nbackend = 'fake'\n[environments.shell.limits]\n"
      "disk_files = 100\n");
  config::Found found{.registry = {environment::ReadHostLayout(), {}}};
  const auto where = config::Catalogue(config, std::move(found)).Find("shell").value();
  const config::Secrets none([](const config::SecretSource&) { return std::string(); });
  environment::RunRequest request;
  const auto nothing = [](const std::string&) { return std::nullopt; };
  const auto completed = config::Complete(config, where, nothing, none, request);
  ASSERT_FALSE(completed);
  EXPECT_THAT(completed.error().what, HasSubstr("which fake cannot do"));
}

TEST_F(FakeWall, IsNowhereInIglooItself) {
  EXPECT_EQ(wall::Find("fake"), nullptr);
  const config::Config config = Read("[environments.shell]\nbackend = 'fake'\n");
  const auto finished = Execute(OrderOf(config, ""), backend::Factories());
  ASSERT_FALSE(finished);
  EXPECT_THAT(finished.error().what, HasSubstr("'fake' is not available yet"));
  EXPECT_FALSE(config::Decode("[defaults]\nbackend = 'fake'\n", {}).problems.empty());
}

class Walls : public Configured {};

TEST_F(Walls, UnknownOnesAreRefusedWhereverTheyAreNamed) {
  EXPECT_THAT(Run({"run", "--env", "shell", "--backend", "jial", "true"}).err,
              AllOf(HasSubstr("there is no backend 'jial'"), HasSubstr("did you mean 'jail'?")));
  EXPECT_EQ(Run({"run", "--env", "shell", "--backend", "", "true"}).status, 125);
  Write(kUsual, "[environments.shell]\npreset = 'shell'\nbackend = 'papre'\n");
  const Outcome refused = Run({"run", "--env", "shell", "echo ran"});
  EXPECT_NE(refused.status, 0);
  EXPECT_EQ(refused.out, "") << "no other wall stands in";
  EXPECT_THAT(refused.err, AllOf(HasSubstr(":3:11:"), HasSubstr("'backend' cannot be \"papre\"")));
}

TEST_F(Walls, KnownOnesThatAreNotServedSaySo) {
  for (const char* name : {"container"}) {
    const Outcome refused = Run({"run", "--env", "shell", "--backend", name, "echo ran"});
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(refused.status, 125);
    EXPECT_THAT(refused.err, HasSubstr(std::string(name) + "' is not available yet"));
  }
}

TEST_F(Walls, OneWithoutSessionsRefusesThem) {
  Write(kUsual, "[environments.plain]\npreset = 'shell'\nbackend = 'bubblewrap'\n");
  McpClient client({.args = {"mcp"}, .env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
  client.Initialize();
  const JsonObject refused = client.Run("plain", "echo x", {{"session", "s"}});
  EXPECT_TRUE(IsError(refused));
  EXPECT_THAT(TextOf(refused), HasSubstr("environment 'plain' has no sessions"));
  EXPECT_THAT(TextOf(client.Run("shell", "echo x", {{"session", "s"}})), StartsWith("x\n"))
      << "control";
  EXPECT_THAT(TextOf(client.Run("plain", "echo y")),
              AllOf(StartsWith("y\n"), HasSubstr("files are not returned: the environment's "
                                                 "backend, bubblewrap, cannot")));
}

}  // namespace
}  // namespace igloo::testing

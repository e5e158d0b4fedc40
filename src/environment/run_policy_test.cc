#include "environment/run_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "environment/basics.h"
#include "sandbox/plan.h"

namespace igloo::environment {
namespace {

using sandbox::Access;
using sandbox::Entry;
using sandbox::Execution;
using sandbox::HostTree;
using sandbox::MemoryTree;
using sandbox::OverlayTree;
using sandbox::Policy;
using sandbox::TextFile;

Environment Python() {
  return {.name = "python",
          .contents = {sandbox::EmptyDirectory{.path = "/etc"}},
          .variables = {{"PATH", "/usr/bin"}, {"HOME", "/root"}},
          .interpreter = {"/usr/bin/python3", "-I"},
          .code_file = "main.py"};
}

Policy PolicyOf(const RunRequest& request) {
  auto policy = PolicyForRun(Python(), request);
  EXPECT_TRUE(policy) << policy.error().what;
  return policy ? *std::move(policy) : Policy{};
}

template <class T>
const T* Find(const Policy& policy, const std::string& path) {
  for (const Entry& entry : policy.run) {
    const T* found = std::get_if<T>(&entry);
    if (found == nullptr) continue;
    if constexpr (requires { found->target; }) {
      if (found->target == path) return found;
    } else {
      if (found->path == path) return found;
    }
  }
  return nullptr;
}

TEST(PolicyForRunTest, CodeMayBeAnArgument) {
  Environment ruby = Python();
  ruby.interpreter = {"ruby", "-e"};
  ruby.passing = CodePassing::kArgument;
  const auto policy = PolicyForRun(ruby, {.what = Code{"p 1\n"}});
  ASSERT_TRUE(policy) << policy.error().what;
  EXPECT_THAT(policy->argv, ::testing::ElementsAre("ruby", "-e", "p 1\n"));
  const auto large = PolicyForRun(ruby, {.what = Code{std::string(200'000, 'x')}});
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().what, ::testing::HasSubstr("for which the kernel allows 131071"));
}

TEST(PolicyForRunTest, CodeMayBeInput) {
  Environment ruby = Python();
  ruby.interpreter = {"ruby"};
  ruby.passing = CodePassing::kInput;
  ruby.code_file = "code";
  const auto policy = PolicyForRun(ruby, {.what = Code{"p 1"}});
  ASSERT_TRUE(policy) << policy.error().what;
  EXPECT_EQ(policy->argv.front(), "/bin/sh");
  EXPECT_EQ(policy->argv.back(), "/run/igloo/code");
  ASSERT_NE(Find<TextFile>(*policy, "/run/igloo/code"), nullptr);
  EXPECT_EQ(Find<TextFile>(*policy, "/run/igloo/code")->content, "p 1");
}

TEST(PolicyForRunTest, CodeBecomesAFileBehindTheInterpreter) {
  const std::string code("print('x')\0\xff", 12);
  const Policy policy = PolicyOf({.what = Code{code}});
  EXPECT_THAT(policy.argv, ::testing::ElementsAre("/usr/bin/python3", "-I", "/run/igloo/main.py"));
  const auto* file = Find<TextFile>(policy, "/run/igloo/main.py");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->content, code) << "any byte, no quoting";
  const auto* place = Find<MemoryTree>(policy, "/run/igloo");
  ASSERT_NE(place, nullptr);
  EXPECT_GE(place->capacity.bytes, code.size());
}

TEST(PolicyForRunTest, NobodyInsideMayChangeTheCode) {
  const Policy policy = PolicyOf({.what = Code{"x"}});
  EXPECT_EQ(Find<MemoryTree>(policy, "/run/igloo")->access, Access::kReadOnly);
  const auto plan = sandbox::MakePlan(policy, {});
  ASSERT_TRUE(plan) << plan.error().what;
  EXPECT_THAT(plan->run,
              ::testing::ElementsAre(sandbox::step::File{"/run/igloo/main.py", "x", 0444},
                                     sandbox::step::ReadOnly{"/run/igloo"},
                                     sandbox::step::DropPrivileges{}, sandbox::step::StartInit{}));
  for (const sandbox::PathRule& rule : plan->payload.paths) {
    EXPECT_TRUE(rule.right == sandbox::PathRight::kRead || !rule.path.starts_with("/run"))
        << rule.path;
  }
}

TEST(PolicyForRunTest, RunsOfAnEnvironmentDifferInTheirRunListOnly) {
  const auto plan_of = [](RunRequest request) {
    request.project = Project{"/home/ada", ProjectMode::kReadOnly};
    return *sandbox::MakePlan(PolicyOf(request),
                              {{"/home/ada", sandbox::PathFact{.type = S_IFDIR}}});
  };
  const sandbox::Plan one = plan_of({.what = Code{"1"}});
  const sandbox::Plan two = plan_of({.what = Code{std::string(1000, '2')}, .time_ms = 7});
  EXPECT_EQ(one.environment, two.environment);
  EXPECT_EQ(one.fresh, two.fresh);
  EXPECT_NE(one.run, two.run);
}

TEST(PolicyForRunTest, LargeCodeHasRoom) {
  const Policy policy = PolicyOf({.what = Code{std::string(64U << 20, 'x')}});
  EXPECT_GT(Find<MemoryTree>(policy, "/run/igloo")->capacity.bytes, 64U << 20);
}

TEST(PolicyForRunTest, AProgramIsStartedAsWritten) {
  const Policy policy = PolicyOf({.what = Program{{"/usr/bin/env", "-0"}}});
  EXPECT_THAT(policy.argv, ::testing::ElementsAre("/usr/bin/env", "-0"));
  EXPECT_EQ(Find<MemoryTree>(policy, "/run/igloo"), nullptr);
}

TEST(PolicyForRunTest, NoProgramIsAnErrorWithAnExample) {
  const auto failed = PolicyForRun(Python(), {.what = Program{}});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::kInvalidArgument);
  EXPECT_NE(failed.error().hint, "");
}

TEST(PolicyForRunTest, NothingIsInheritedAndHomeIsTheWorkspace) {
  const Policy policy = PolicyOf({.what = Code{""}});
  EXPECT_EQ(policy.variables, (std::map<std::string, std::string>{{"HOME", "/workspace"},
                                                                  {"PATH", "/usr/bin"},
                                                                  {"PWD", "/workspace"},
                                                                  {"TERM", "dumb"},
                                                                  {"TMPDIR", "/tmp"},
                                                                  {"USER", "user"}}));
  EXPECT_EQ(policy.cwd, "/workspace");
  EXPECT_TRUE(std::holds_alternative<sandbox::NoNetwork>(policy.network));
  EXPECT_EQ(policy.seccomp, sandbox::Seccomp::kDefault);
  EXPECT_EQ(policy.environment.size(), Python().contents.size());
}

TEST(PolicyForRunTest, TheUsersOwnVariablesBeatAllOthersButTheTerminals) {
  const RunRequest request{.what = Code{""},
                           .variables = {{"HOME", "/project"}, {"PATH", "/x"}, {"TERM", "mine"}}};
  const Policy policy = PolicyOf(request);
  EXPECT_EQ(policy.variables.at("HOME"), "/project");
  EXPECT_EQ(policy.variables.at("PATH"), "/x");
  EXPECT_EQ(policy.variables.at("TERM"), "mine");
  RunRequest by_hand = request;
  by_hand.terminal = "xterm";
  EXPECT_EQ(PolicyOf(by_hand).variables.at("TERM"), "xterm");
}

TEST(PolicyForRunTest, WritablePlacesHaveTheRoomOfTheEnvironment) {
  Environment environment = Python();
  environment.room = {.disk_bytes = 2U << 20, .disk_files = 20};
  const auto policy = PolicyForRun(
      environment, {.what = Code{""}, .project = Project{"/p", ProjectMode::kOverlay}});
  ASSERT_TRUE(policy) << policy.error().what;
  const sandbox::Capacity room{.bytes = 2U << 20, .inodes = 20};
  for (const char* path : {"/workspace", "/tmp", "/dev/shm"}) {
    EXPECT_EQ(Find<MemoryTree>(*policy, path)->capacity, room) << path;
  }
  EXPECT_EQ(Find<OverlayTree>(*policy, "/project")->capacity, room);
}

TEST(PolicyForRunTest, WritablePlacesAreMemoryWithLimits) {
  const Policy policy = PolicyOf({.what = Code{""}});
  for (const char* path : {"/workspace", "/tmp", "/dev/shm"}) {
    const auto* place = Find<MemoryTree>(policy, path);
    ASSERT_NE(place, nullptr) << path;
    EXPECT_GT(place->capacity.bytes, 0U) << path;
    EXPECT_TRUE(place->capacity.inodes) << path;
  }
  EXPECT_EQ(Find<MemoryTree>(policy, "/tmp")->mode, 01777U);
  EXPECT_EQ(Find<MemoryTree>(policy, "/dev/shm")->execution, Execution::kForbidden);
}

TEST(PolicyForRunTest, CoarseBackendsAreAskedForNothingFine) {
  const Policy policy = PolicyOf({.what = Code{""},
                                  .project = Project{"/home/ada", ProjectMode::kOverlay},
                                  .fine_memory_limits = false});
  for (const Entry& entry : policy.run) {
    if (const auto* place = std::get_if<MemoryTree>(&entry)) {
      EXPECT_EQ(place->capacity.inodes, std::nullopt) << place->target;
      EXPECT_EQ(place->execution, Execution::kAllowed) << place->target;
      EXPECT_GT(place->capacity.bytes, 0U) << place->target;
    }
  }
  EXPECT_EQ(Find<OverlayTree>(policy, "/project")->capacity.inodes, std::nullopt);
}

TEST(PolicyForRunTest, AProjectIsShownAsAsked) {
  const auto with = [](ProjectMode mode, bool views = true) {
    return PolicyOf({.what = Code{""}, .project = Project{"/home/ada/app", mode}, .views = views});
  };
  const Policy view = with(ProjectMode::kReadOnly);
  ASSERT_NE(Find<OverlayTree>(view, "/project"), nullptr) << "sockets in it must be out of reach";
  EXPECT_EQ(Find<OverlayTree>(view, "/project")->access, Access::kReadOnly);

  const Policy read_only = with(ProjectMode::kReadOnly, false);
  const auto* tree = Find<HostTree>(read_only, "/project");
  ASSERT_NE(tree, nullptr);
  EXPECT_EQ(tree->source, "/home/ada/app");
  EXPECT_EQ(tree->access, Access::kReadOnly);
  EXPECT_EQ(tree->presence, sandbox::Presence::kRequired);
  EXPECT_TRUE(tree->map_owner);

  const Policy read_write = with(ProjectMode::kReadWrite);
  EXPECT_EQ(Find<HostTree>(read_write, "/project")->access, Access::kReadWrite);

  const Policy overlay = with(ProjectMode::kOverlay);
  EXPECT_EQ(Find<HostTree>(overlay, "/project"), nullptr);
  EXPECT_EQ(Find<OverlayTree>(overlay, "/project")->source, "/home/ada/app");
  EXPECT_EQ(Find<OverlayTree>(overlay, "/project")->access, Access::kReadWrite);
}

TEST(PolicyForRunTest, TreesOfTheEnvironmentHaveOwnInodesWhereThereAreViews) {
  Environment environment{.name = "e", .interpreter = {"/bin/sh"}};
  environment.contents = {sandbox::HostTree{.source = "/usr", .target = "/usr"}};
  for (const bool views : {true, false}) {
    const auto policy = PolicyForRun(environment, {.what = Code{""}, .views = views});
    ASSERT_TRUE(policy);
    const auto* tree = std::get_if<HostTree>(&policy->environment.front());
    ASSERT_NE(tree, nullptr);
    EXPECT_EQ(tree->own_inodes, views);
  }
}

TEST(PolicyForRunTest, WithoutAProjectNothingOfTheUsersIsSeen) {
  EXPECT_TRUE(sandbox::SourcesOf(PolicyOf({.what = Code{""}})).empty());
}

TEST(PolicyForRunTest, LimitsAreTheEnvironmentsUnlessAskedOtherwise) {
  Environment java = Python();
  java.limits.time_ms = 60'000;
  java.limits.memory_bytes = 2ULL << 30;
  java.limits.processes = 1024;
  const auto own = PolicyForRun(java, {.what = Code{""}});
  ASSERT_TRUE(own);
  EXPECT_EQ(own->limits.time_ms, 60'000U);
  EXPECT_EQ(own->limits.memory_bytes, 2ULL << 30);
  EXPECT_EQ(own->limits.processes, 1024U);
  const auto asked =
      PolicyForRun(java, {.what = Code{""}, .time_ms = 7, .memory_bytes = 64ULL << 20});
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->limits.time_ms, 7U);
  EXPECT_EQ(asked->limits.memory_bytes, 64ULL << 20);
  EXPECT_EQ(asked->limits.processes, 1024U);
}

TEST(PolicyForRunTest, ATerminalIsOnlyThereWhenAskedFor) {
  EXPECT_EQ(PolicyOf({.what = Code{""}}).terminal, sandbox::Terminal::kNone);
  const Policy policy = PolicyOf({.what = Program{{"/bin/sh"}}, .terminal = "xterm"});
  EXPECT_EQ(policy.terminal, sandbox::Terminal::kOwn);
  EXPECT_EQ(policy.variables.at("TERM"), "xterm");
  EXPECT_EQ(sandbox::MakePlan(policy, {})->payload.terminal, sandbox::Terminal::kOwn);
}

TEST(PolicyForRunTest, ThePolicyCanBePlanned) {
  const RunRequest request{.what = Code{"x"}, .time_ms = 7};
  const auto plan = sandbox::MakePlan(PolicyOf(request), {});
  ASSERT_TRUE(plan) << plan.error().what;
  EXPECT_EQ(plan->payload.time_ms, 7U);
}

TEST(PolicyForRunTest, ANetworkIsWhatItsPlanSays) {
  const auto domain = network::Name::Parse("api.example");
  ASSERT_TRUE(domain);
  RunRequest request{.what = Code{"1"},
                     .network = {.level = network::Level::kAllow,
                                 .rules = {"api.example"},
                                 .secrets = {{.name = "TOKEN",
                                              .value = "very-secret",
                                              .placeholder = *network::NewPlaceholder("TOKEN"),
                                              .domain = *domain,
                                              .headers = {"X-Key", "X-Other"}}},
                                 .publish = {{8080, 80}},
                                 .reach = {5432}},
                     .variables = {{"NO_PROXY", "mine"}}};
  const Policy policy = PolicyOf(request);
  EXPECT_EQ(policy.network, sandbox::Network(sandbox::ConnectedNetwork{
                                .tier = "allow",
                                .rules = {"api.example"},
                                .secrets = {"TOKEN for api.example, in X-Key or X-Other"},
                                .publish = {{8080, 80}},
                                .reach = {5432}}));
  EXPECT_THAT(policy.listen, ::testing::ElementsAre(network::kProxyPort, 5432));
  EXPECT_EQ(policy.sockets, network::kSocketsPerPort);
  EXPECT_EQ(policy.variables.at("https_proxy"), "http://127.0.0.1:3128");
  EXPECT_EQ(policy.variables.at("ALL_PROXY"), "socks5h://127.0.0.1:3128");
  EXPECT_EQ(policy.variables.at("NO_PROXY"), "mine") << "what the user sets counts";
  const auto plan = sandbox::MakePlan(policy, {});
  ASSERT_TRUE(plan) << plan.error().what;
  EXPECT_EQ(sandbox::ToJson(*plan).find("very-secret"), std::string::npos);
  EXPECT_EQ(sandbox::Describe(*plan).find("very-secret"), std::string::npos);
}

TEST(PolicyForRunTest, PortsAloneNeedNoProxy) {
  const Policy policy = PolicyOf({.what = Code{"1"}, .network = {.reach = {5432}}});
  EXPECT_THAT(policy.listen, ::testing::ElementsAre(5432));
  EXPECT_FALSE(policy.variables.contains("HTTP_PROXY"));
  EXPECT_EQ(policy.sockets, 0U);
}

TEST(PolicyForRunTest, ABrokenRuleIsNoRun) {
  EXPECT_FALSE(PolicyForRun(
      Python(),
      {.what = Code{"1"}, .network = {.level = network::Level::kAllow, .rules = {"127.1"}}}));
}

TEST(PolicyForRunTest, TheHostsNetworkIsARightOfItsOwn) {
  const Policy policy = PolicyOf({.what = Code{"1"}, .network = {.level = network::Level::kHost}});
  EXPECT_TRUE(std::holds_alternative<sandbox::HostNetwork>(policy.network));
  EXPECT_TRUE(policy.listen.empty());
  // With the host's own resolver: nothing else of it would be of use.
  Environment environment = Python();
  AddBasics(environment.contents);
  const auto named = PolicyForRun(environment, {.what = Code{"1"},
                                                .network = {.level = network::Level::kHost},
                                                .resolv_conf = "nameserver 127.0.0.53\n"});
  ASSERT_TRUE(named);
  EXPECT_TRUE(std::ranges::any_of(named->environment, [](const sandbox::Entry& entry) {
    const auto* file = std::get_if<sandbox::TextFile>(&entry);
    return file != nullptr && file->path == "/etc/resolv.conf" &&
           file->content == "nameserver 127.0.0.53\n";
  }));
}

TEST(PolicyForRunTest, ADeviceIsForThoseWhoReachEverything) {
  const sandbox::Device device{
      .carrier = "/usr/bin/pasta", .closed = {"10.0.0.0/8"}, .resolver = "9.9.9.9"};
  const auto resolvers = [](const Policy& policy) {
    for (const sandbox::Entry& entry : policy.environment) {
      const auto* file = std::get_if<sandbox::TextFile>(&entry);
      if (file != nullptr && file->path == "/etc/resolv.conf") return file->content;
    }
    return std::string("?");
  };
  Environment environment = Python();
  AddBasics(environment.contents);
  const auto internet = PolicyForRun(
      environment,
      {.what = Code{"1"}, .network = {.level = network::Level::kInternet}, .device = device});
  ASSERT_TRUE(internet) << internet.error().what;
  ASSERT_NE(sandbox::DeviceOf(internet->network), nullptr);
  EXPECT_EQ(*sandbox::DeviceOf(internet->network), device);
  EXPECT_EQ(resolvers(*internet), "nameserver 9.9.9.9\n");
  EXPECT_TRUE(internet->variables.contains("HTTPS_PROXY")) << "who knows one uses the proxy";
  const auto allow = PolicyForRun(
      environment,
      {.what = Code{"1"}, .network = {.level = network::Level::kAllow}, .device = device});
  ASSERT_TRUE(allow) << allow.error().what;
  EXPECT_EQ(sandbox::DeviceOf(allow->network), nullptr);
  EXPECT_EQ(resolvers(*allow), "");
}

}  // namespace
}  // namespace igloo::environment

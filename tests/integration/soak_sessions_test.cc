// Many sessions of one server leave nothing behind.

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "base/replace_file.h"
#include "base/temp_dir.h"
#include "cgroup/groups.h"
#include "soak.h"
#include "support/host.h"
#include "support/mcp.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;

/// A server whose sessions come and go. One interpreter of each kind waits ready.
class SessionsOfAServer {
 public:
  void One(int number) {
    const std::string name = "soak-" + std::to_string(number);
    switch (number % 10) {
      case 1:
        return Live(name, "shell", "x=ab", "echo ${x}c", "abc\n");
      case 3:
        // Loses its interpreter, and gets another.
        return Live(name, "python", "import os; os._exit(3)", "print('abc')", "abc\n");
      case 5:
        return Live(name, "node", "let x = 'ab'", "console.log(x + 'c')", "abc\n");
      case 7:
        EXPECT_THAT(TextOf(client_.Run("python", "print('abc')")), HasSubstr("abc\n"));
        return;
      case 9:
        return Live(name, "shell", "(sleep 100 &); mkfifo p; echo x > y", "cat y", "x\n");
      default:
        return Live(name, "python", "x = 'ab'", "print(x + 'c')", "abc\n");
    }
  }

  /// The names of all processes below the server.
  std::vector<std::string> Family() {
    std::vector<std::string> names;
    for (const auto& each : DescendantsOf(client_.running().pid())) names.push_back(each.name);
    std::ranges::sort(names);
    return names;
  }
  /// Of the server and of the one below it that has most.
  std::pair<int, int> Descriptors() {
    const pid_t server = client_.running().pid();
    int most = 0;
    for (const ProcessInfo& each : DescendantsOf(server)) {
      most = std::max(most, CountDescriptors(each.pid));
    }
    return {CountDescriptors(server), most};
  }
  Outcome End() { return client_.running().Finish(); }

 private:
  void Live(const std::string& name, std::string_view env, std::string_view first,
            std::string_view second, const std::string& expected) {
    const JsonObject in = {{"session", name}};
    client_.Run(env, first, in);
    EXPECT_THAT(TextOf(client_.Run(env, second, in)), HasSubstr(expected));
    const JsonObject closed = client_.Call("run", {{"session", name}, {"session_action", "close"}});
    EXPECT_THAT(TextOf(closed), HasSubstr("is closed"));
  }
  std::string Configuration() {
    const std::string path = directory_.path() + "/config.toml";
    EXPECT_TRUE(ReplaceFile(path,
                            "environments.python.warm = 1\nenvironments.shell.warm = 1\n"
                            "environments.node.warm = 1\n"));
    return path;
  }

  TempDir directory_ = TempDir::Make(TempParent()).value();
  McpClient client_{McpClient::Options{.args = {"mcp", "--config", Configuration()}}};
};

/// Directories of cgroups that sandboxes use one after the other.
std::size_t CountLeaves() {
  const std::string place = cgroup::Find().place;
  std::error_code none;
  const std::filesystem::directory_iterator all(place, none);
  return static_cast<std::size_t>(
      std::count_if(begin(all), end(all), [](const auto& each) { return each.is_directory(); }));
}

TEST(Soak, SessionsOfAServerLeaveNothing) {
  const int runs = SoakRuns();
  const Machine before;
  {
    SessionsOfAServer server;
    // Everything that is made once is made.
    for (int i = 0; i < 20; ++i) server.One(i);
    auto settled = server.Family();
    const auto is_settled = [&] {
      const bool same = settled == std::exchange(settled, server.Family());
      // Those that wait: for sessions of three languages, and a program of one.
      return same && std::ranges::count(settled, "igloo-init") == 4;
    };
    ASSERT_TRUE(WaitFor(is_settled)) << ::testing::PrintToString(settled);
    const auto [descriptors, most] = server.Descriptors();
    EXPECT_GT(std::min(descriptors, most), 0);
    const std::size_t leaves = CountLeaves();
    for (int i = 0; i < runs && !::testing::Test::HasFailure(); ++i) server.One(i);
    // Those that wait for the next call are some more or some less.
    EXPECT_TRUE(WaitFor([&] { return server.Family().size() <= settled.size() + 4; }))
        << "before: " << ::testing::PrintToString(settled)
        << "\nafter: " << ::testing::PrintToString(server.Family());
    // A leaf that is not empty yet is not used again, so a few are added: two descriptors each.
    constexpr int kAdded = 8;
    EXPECT_LE(CountLeaves(), leaves + kAdded);
    EXPECT_TRUE(WaitFor([&] { return server.Descriptors().first <= descriptors + 2 * kAdded; }))
        << descriptors << " -> " << server.Descriptors().first;
    // Templates keep up to eight network namespaces for those that come.
    EXPECT_LE(server.Descriptors().second, most + 8);
    EXPECT_EQ(MountTable(), before.mounts);
    EXPECT_EQ(server.End().status, 0);
  }
  ExpectAsBefore(before);
}

}  // namespace
}  // namespace igloo::testing

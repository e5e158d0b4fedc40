// The contract with one tool for each environment, as it was always tried: one call after the other
// from contract.json, of the real server, before the Internet that the tests have made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/file.h"
#include "boxed.h"
#include "device.h"
#include "support/mcp.h"
#include "support/oci.h"
#include "world.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;

/// A program of this machine with the libraries that it loads, at their places.
class ProgramLayer {
 public:
  void Add(const std::string& path) {
    AddFile(path);
    std::istringstream lines(RunProgram({.program = "/usr/bin/ldd", .args = {path}}).out);
    // "libz.so.1 => /lib/libz.so.1 (0x7f...)", "/lib64/ld-linux-x86-64.so.2 (0x7f...)"
    for (std::string line; std::getline(lines, line);) {
      const std::size_t at = line.find('/'), end = line.find(" (");
      if (at != line.npos && end != line.npos) AddFile(line.substr(at, end - at));
    }
  }
  void AddPython() {
    Add("/usr/bin/python3");
    const Outcome modules = RunProgram(
        {.program = "/usr/bin/python3",
         .args = {
             "-I", "-S", "-c",
             "import encodings.ascii, encodings.idna, encodings.latin_1, fnmatch, http.client\n"
             "import http.server, json, sys\n"
             "for each in sys.modules.values():\n"
             "    if getattr(each, '__file__', None): print(each.__file__)\n"}});
    std::istringstream lines(modules.out);
    for (std::string line; std::getline(lines, line);) Add(line);
  }
  TarWriter& tar() { return tar_; }

 private:
  void AddFile(const std::string& path) {
    if (!there_.insert(path).second) return;
    const auto content = ReadFile(path, 64U << 20);
    EXPECT_TRUE(content) << path;
    tar_.File(path.substr(1), content.value_or(""), 0755);
  }

  TarWriter tar_ = {};
  std::set<std::string> there_ = {};
};

/// Starts the gateway as the real image does: `docker-start` is no program, but a word for the
/// image's entry point, which minds what kind of gateway it is to be.
constexpr const char* kEntryPoint = R"sh(#!/bin/sh
set -e
prefix=/usr/local/apisix
if [ "$1" = docker-start ]; then
  grep -q 'config_provider: yaml' "$prefix/conf/config.yaml"
  mkdir -p "$prefix/logs"
  exec /usr/bin/python3 -I -S "$prefix/gateway.py" "$prefix" >"$prefix/logs/error.log" 2>&1
fi
exec "$@"
)sh";

/// An image as those of the gateway are made: an entry point, a command that only it knows, curl,
/// and a configuration without a register of routes.
void MakeGateway(const std::string& directory) {
  ProgramLayer programs;
  programs.Add("/usr/bin/curl");
  programs.AddPython();
  const std::string conf = "usr/local/apisix/conf/";
  programs.tar()
      .File("docker-entrypoint.sh", kEntryPoint, 0755)
      .File(conf + "config.yaml",
            "deployment:\n  role: data_plane\n  role_data_plane:\n    config_provider: yaml\n")
      .File(conf + "apisix.yaml", "{\"routes\": []}\n#END\n")
      .File("usr/local/apisix/gateway.py",
            ReadFile(BinDirectory() + "/network-gateway.py", 1U << 20).value_or(""));
  LayoutWriter(directory)
      .AddLayer(Gzip(BusyboxLayer()))
      .AddLayer(Gzip(programs.tar().Finish()))
      .SetConfig(R"({"Env": ["PATH=/usr/bin:/bin"], "User": "apisix",
                     "Entrypoint": ["/docker-entrypoint.sh"], "Cmd": ["docker-start"]})")
      .Finish();
}

/// A user's home with what the calls need: the gateway's image, and the authority of the servers.
class ContractHome {
 public:
  static const ContractHome& Get() {
    static const ContractHome home;
    return home;
  }
  /// igloo, in that home.
  Invocation Igloo(std::vector<std::string> words) const {
    return OutsideInvocation(std::move(words), {"XDG_CONFIG_HOME=" + directory_.path(),
                                                "XDG_DATA_HOME=" + directory_.path()});
  }
  std::string gateway() const { return "oci:" + directory_.path() + "/gateway"; }
  /// Under its other name.
  Invocation Sandboxes(const std::string& flag) const {
    Invocation made = Igloo({flag});
    const std::string igloo = BinDirectory() + "/igloo";
    const std::string other = BinDirectory() + "/sandbox-mcp";
    if (made.program == igloo) made.program = other;
    std::ranges::replace(made.args, igloo, other);
    return made;
  }

 private:
  ContractHome() {
    MakeGateway(directory_.path() + "/gateway");
    fs::create_directories(directory_.path() + "/igloo");
    fs::create_directories(directory_.path() + "/project");
    fs::copy_file(World::Get().roots_file(), directory_.path() + "/project/ca.pem");
    std::ofstream(directory_.path() + "/igloo/config.toml")
        << "[network]\nresolver = \"93.184.216.53\"\n"
           "[project]\npath = \"../project\"\n"
           "[environments.network-tools]\npreset = \"network-tools\"\n"
           "env = { CURL_CA_BUNDLE = \"/project/ca.pem\" }\n"
           "[environments.apisix]\nimage = \"oci:../gateway\"\n";
    Shell("chmod -R a+rX " + directory_.path());
  }

  TempDir directory_ = TempDir::Make(TempParent()).value();
};

std::vector<JsonObject> Cases() {
  const auto text = ReadFile(BinDirectory() + "/network-contract.json", 1U << 20);
  std::vector<JsonObject> cases;
  for (const Json& each : json::parse(text.value()).as_array()) cases.push_back(each.as_object());
  return cases;
}

/// "text" of a case is one text or several: compilers word an error differently from one version
/// to the next.
void ExpectAnswer(const JsonObject& wanted, const JsonObject& answer) {
  const std::string name(wanted.at("name").as_string());
  const std::string said = TextOf(answer);
  const Json& text = wanted.at("text");
  bool found = text.is_string() && said.contains(std::string_view(text.get_string()));
  if (text.is_array()) {
    for (const Json& each : text.get_array()) {
      found = found || said.contains(std::string_view(each.as_string()));
    }
  }
  EXPECT_TRUE(found) << name << " wants " << json::serialize(text) << " in: " << said;
  EXPECT_EQ(IsError(answer), wanted.contains("isError")) << name << ": " << said;
}

class ContractCases : public ::testing::TestWithParam<const char*> {};

TEST_P(ContractCases, AreAnsweredAsTheyAlwaysWere) {
  NEED_DEVICE();
  AllowPings();
  const ContractHome& home = ContractHome::Get();
  if (GetParam() == std::string("apisix")) {
    const Outcome pull = RunProgram(home.Igloo({"env", "pull", home.gateway()}));
    ASSERT_EQ(pull.status, 0) << pull.err;
    const Outcome build = RunProgram(home.Sandboxes("--build"));
    ASSERT_EQ(build.status, 0) << build.err;
    EXPECT_THAT(build.err, HasSubstr("'apisix' needs no build: it runs in the environment"));
  }
  const Invocation server = home.Sandboxes("--stdio");
  McpClient client({.program = server.program, .args = server.args, .env = server.env});
  client.Initialize("2025-03-26");
  std::map<std::int64_t, JsonObject> asked;
  for (JsonObject& each : Cases()) {
    if (each.at("tool").as_string() != GetParam()) continue;
    const std::int64_t id =
        client.Send("tools/call", {{"name", each.at("tool")}, {"arguments", each.at("arguments")}});
    asked.emplace(id, std::move(each));
  }
  ASSERT_FALSE(asked.empty());
  for (const auto& [id, wanted] : asked) {
    const JsonObject answer = client.Wait(id);
    const Json* result = answer.if_contains("result");
    ASSERT_NE(result, nullptr) << json::serialize(answer);
    ExpectAnswer(wanted, result->as_object());
  }
}

INSTANTIATE_TEST_SUITE_P(All, ContractCases,
                         ::testing::Values("shell", "go", "python", "javascript", "rust", "java",
                                           "network-tools", "apisix"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(ContractCasesTest, AreAllThatThereAre) {
  std::map<std::string, int> counts;
  for (const JsonObject& each : Cases()) ++counts[std::string(each.at("tool").as_string())];
  EXPECT_EQ(counts, (std::map<std::string, int>{{"shell", 3},
                                                {"go", 3},
                                                {"python", 5},
                                                {"javascript", 5},
                                                {"rust", 8},
                                                {"java", 6},
                                                {"network-tools", 5},
                                                {"apisix", 6}}));
}

}  // namespace
}  // namespace igloo::testing

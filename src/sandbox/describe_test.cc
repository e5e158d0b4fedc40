#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "sandbox/plan.h"

namespace igloo::sandbox {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// One of every step; the paths try to drive the terminal.
Plan EveryStep() {
  Plan plan;
  plan.environment = {
      step::Root{{.bytes = 8U << 20, .inodes = 65536}},
      step::Directory{"/dir\x1b[2J"},
      step::Symlink{"/link\r", "to\x07"},
      step::File{"/file\n", "hello"},
      step::Bind{"/source\x1b", "/target\x7f", Access::kReadWrite, {.device = 1, .inode = 2}},
      step::Bind{"/dev/null", "/dev/null", Access::kReadWrite, {}, true},
      step::Tmpfs{"/mem\b", {.bytes = 1U << 20}, 01777, Execution::kForbidden},
      step::Overlay{"/lower\v", "/view\f", {.bytes = 1024, .inodes = 5}},
      step::Overlay{.source = "/lower", .target = "/kept\x1b", .keeps_changes = true},
      step::Base{"/store\x1b"},
      step::FromBase{"a\x1b", "/a\x1b"},
      step::Copy{"/small\x1b", "/copy\x1b"},
      step::Proc{"/proc"},
      step::EnterRoot{},
      step::SealRoot{},
  };
  plan.fresh = {
      step::Hostname{"igloo\x1b"},     step::NoMoreNamespaces{},
      step::Mask{"/proc/keys", false}, step::Mask{"/proc/bus", true},
      step::ReadOnly{"/proc/sys"},     step::BoundPrivileges{},
      step::PrivateNetwork{},          step::Edge{"192.0.2.2\x1b", "192.0.2.1"},
      step::Closed{"10.0.0.0/8\x1b"},  step::Resolver{"192.0.2.9\x1b"},
  };
  plan.run = {
      step::Hide{.tree = "/view",
                 .target = "/view/.env\x1b",
                 .cover = "/.igloo/hidden",
                 .why = "passwords\x1b"},
      step::ReadOnly{"/mem\x1b"},
      step::Listen{8080},
      step::Sockets{32},
      step::HandOut{"/mem\x03"},
      step::DropPrivileges{},
      step::StartInit{},
  };
  plan.payload = {.argv = {"/bin/echo", "a b", "\x1b]0;owned"},
                  .env = {"A=1", "B=\x9b"},
                  .cwd = "/work\x01",
                  .time_ms = 1500,
                  .grace_ms = 500,
                  .memory_bytes = 512U << 20,
                  .limits = {{"core", RLIMIT_CORE, 0}, {"nproc", RLIMIT_NPROC, 256}},
                  .paths = {{PathRight::kRead, "/"},
                            {PathRight::kReadWrite, "/mem\x02"},
                            {PathRight::kDevice, "/dev/null"}}};
  return plan;
}

TEST(DescribeTest, TheHostsNetworkIsWarnedAboutFirstWithItsReason) {
  Plan plan = EveryStep();
  plan.network = HostNetwork("the agent calls its model\x1b");
  EXPECT_THAT(Describe(plan),
              StartsWith("WARNING: this sandbox shares the host's network: the agent calls its "
                         "model\\x1b\n"));
  EXPECT_THAT(Describe(plan), HasSubstr("namespaces\n  user mount pid ipc uts cgroup\n"));
}

TEST(DescribeTest, WithoutItThereIsNothingToWarnAbout) {
  EXPECT_THAT(Describe(EveryStep()), Not(HasSubstr("WARNING")));
  EXPECT_THAT(Describe(EveryStep()),
              HasSubstr("namespaces\n  user mount pid ipc uts cgroup net\n"));
}

TEST(DescribeTest, SaysWhatANetworkLeadsTo) {
  Plan plan = EveryStep();
  plan.network = ConnectedNetwork{.tier = "allow",
                                  .rules = {"pypi.org"},
                                  .secrets = {"TOKEN for api.example"},
                                  .publish = {{8080, 80}},
                                  .reach = {5432}};
  EXPECT_THAT(Describe(plan), HasSubstr(R"(cgroup net
network
  tier       allow
  allow      pypi.org
  secret     TOKEN for api.example
  publish    127.0.0.1:8080 outside leads to 127.0.0.1:80 inside
  reach      127.0.0.1:5432 inside leads to the same port outside
)"));
  EXPECT_EQ(json::parse(ToJson(plan)).at("network"),
            json::value({{"tier", "allow"},
                         {"device", nullptr},
                         {"allow", {"pypi.org"}},
                         {"secrets", {"TOKEN for api.example"}},
                         {"publish", json::array{{{"outside", 8080}, {"inside", 80}}}},
                         {"reach", {5432}},
                         {"raw_sockets", false}}));
}

TEST(DescribeTest, SaysWhatADeviceLeadsToAndWhoCarries) {
  Plan plan = EveryStep();
  plan.network = ConnectedNetwork{
      .tier = "internet",
      .device =
          Device{.carrier = "/usr/bin/pasta", .closed = {"10.0.0.0/8"}, .resolver = "9.9.9.9"}};
  EXPECT_THAT(Describe(plan),
              HasSubstr("  tier       internet\n  device     eth0, also for programs that know no "
                        "proxy; carried by /usr/bin/pasta\n"));
  EXPECT_EQ(json::parse(ToJson(plan)).at("network").at("device"),
            json::value({{"name", "eth0"},
                         {"carrier", "/usr/bin/pasta"},
                         {"closed", json::array{"10.0.0.0/8"}},
                         {"resolver", "9.9.9.9"}}));
}

TEST(DescribeTest, NothingInItReachesTheTerminalAsAControl) {
  for (const char c : Describe(EveryStep())) {
    const auto byte = static_cast<unsigned char>(c);
    EXPECT_TRUE(c == '\n' || (byte >= 0x20 && byte < 0x7f)) << static_cast<int>(byte);
  }
}

TEST(DescribeTest, ReadsLikeThis) {
  EXPECT_EQ(Describe(EveryStep()), R"(identity
  uid 1000 gid 1000 inside; outside an unprivileged id: started by root, one of its own; in a server of a user with subordinate ids the caller's own, because '/lower\x0b' may hold files that only their owner can read; else the caller's own
namespaces
  user mount pid ipc uts cgroup net
environment
  root       / (memory, 8 MB, 65536 inodes)
  directory  /dir\x1b[2J
  link       /link\x0d -> to\x07
  file       /file\x0a (5 bytes)
  writable   /target\x7f <- /source\x1b
  writable   /dev/null <- /dev/null (device)
  memory     /mem\x08 (1 MB, inodes not limited, no programs)
  overlay    /view\x0c <- /lower\x0b (changes stay in memory, 1 KB, 5 inodes)
  overlay    /kept\x1b <- /lower (changes are kept)
  view       /store\x1b (own inodes, no sockets; only what follows of it is shown)
  read-only  /a\x1b <- a\x1b of that view
  copy       /copy\x1b <- /small\x1b
  proc       /proc
  enter the root, drop the host's
  make the root read-only
every sandbox of it
  hostname   igloo\x1b
  forbid further user namespaces
  hide       /proc/keys
  hide       /proc/bus
  freeze     /proc/sys
  empty the bounding set, lock securebits, set no_new_privs
  private network: loopback and nothing else
  device     eth0, 192.0.2.2\x1b, to a network of its own with the gateway 192.0.2.1
  close      10.0.0.0/8\x1b
  let pass   questions for names to 192.0.2.9\x1b
this run
  hide       /view/.env\x1b (passwords\x1b)
  freeze     /mem\x1b
  listen     127.0.0.1:8080 inside, socket handed to igloo
  sockets    32 made inside, handed to igloo
  hand out   /mem\x03 to igloo, to read what is left there
  drop every capability
  start igloo-init
payload
  run        /bin/echo 'a b' '\x1b]0;owned'
  in         /work\x01
  variables  A=1 'B=\x9b'
  time       1.5 s, then interrupt, 500 ms later kill
  memory     512 MB in all
  limits     core=0 nproc=256
  landlock   read /
  landlock   write /mem\x02
  landlock   device /dev/null
  keyring    fresh
  seccomp    default
)");
}

TEST(DescribeTest, SaysHowManyProcessorsThereAreIfThatIsLimited) {
  Plan plan = EveryStep();
  EXPECT_THAT(Describe(plan), Not(HasSubstr("cpus")));
  plan.payload.millicpus = 1500;
  EXPECT_THAT(Describe(plan),
              HasSubstr("\n  cpus       1.5 in all, where cgroups limit processors\n"));
  EXPECT_EQ(json::parse(ToJson(plan)).at("payload").at("millicpus"), 1500);
}

TEST(DescribeTest, SaysWhatIsNotLimitedAndWhatIsWeaker) {
  Plan plan = EveryStep();
  plan.payload.time_ms = 0;
  plan.payload.seccomp = Seccomp::kDebug;
  EXPECT_THAT(Describe(plan), HasSubstr("  time       not limited\n"));
  EXPECT_THAT(Describe(plan), HasSubstr("  seccomp    debug (ptrace allowed)\n"));
}

TEST(DescribeTest, AStepAloneReadsAsInTheWhole) {
  const Plan plan = EveryStep();
  for (const auto* steps : {&plan.environment, &plan.fresh, &plan.run}) {
    for (const Step& step : *steps) {
      EXPECT_THAT(Describe(plan), HasSubstr("\n  " + DescribeStep(step) + "\n"));
    }
  }
}

TEST(StepAtTest, CountsOverAllListsInTheirOrder) {
  const Plan plan = EveryStep();
  std::size_t index = 0;
  for (const auto* steps : {&plan.environment, &plan.fresh, &plan.run}) {
    for (const Step& step : *steps) EXPECT_EQ(StepAt(plan, index++), &step) << index;
  }
  EXPECT_EQ(StepAt(plan, index), nullptr);
  EXPECT_EQ(StepAt(plan, static_cast<std::size_t>(-1)), nullptr) << "a wrong index is no crash";
}

TEST(StepAtTest, EmptyListsAreStepsOver) {
  Plan plan;
  EXPECT_EQ(StepAt(plan, 0), nullptr);
  plan.run = {step::StartInit{}};
  EXPECT_EQ(StepAt(plan, 0), plan.run.data());
  plan.environment = {step::SealRoot{}};
  EXPECT_EQ(StepAt(plan, 0), plan.environment.data());
  EXPECT_EQ(StepAt(plan, 1), plan.run.data());
}

TEST(ToJsonTest, IsOneDocumentWithEveryStep) {
  const Plan plan = EveryStep();
  const json::value document = json::parse(ToJson(plan));
  EXPECT_EQ(document.at("environment").as_array().size(), plan.environment.size());
  EXPECT_EQ(document.at("fresh").as_array().size(), plan.fresh.size());
  EXPECT_EQ(document.at("run").as_array().size(), plan.run.size());
  for (const char* part : {"environment", "fresh", "run"}) {
    for (const json::value& step : document.at(part).as_array()) {
      EXPECT_NE(step.at("op").as_string(), "");
    }
  }
  EXPECT_EQ(document.at("network"), json::value({{"tier", "none"}}));
  EXPECT_EQ(document.at("identity"),
            json::value({{"uid", 1000},
                         {"gid", 1000},
                         {"needs_callers_id",
                          "'/lower\\x0b' may hold files that only their owner can read"}}));
}

TEST(ToJsonTest, KeepsValuesAsTheyAre) {
  const json::value document = json::parse(ToJson(EveryStep()));
  EXPECT_EQ(document.at("environment").as_array()[4], json::value({{"op", "bind"},
                                                                   {"source", "/source\x1b"},
                                                                   {"target", "/target\x7f"},
                                                                   {"access", "rw"},
                                                                   {"device_node", false},
                                                                   {"map_owner", false},
                                                                   {"host_inodes", false},
                                                                   {"device", 1},
                                                                   {"inode", 2}}));
  const json::value& payload = document.at("payload");
  EXPECT_EQ(payload.at("env"), json::value({"A=1", "B=\uFFFD"}));
  EXPECT_EQ(payload.at("limits"), json::value({{"core", 0}, {"nproc", 256}}));
  EXPECT_EQ(payload.at("landlock").as_array()[1],
            json::value({{"right", "write"}, {"path", "/mem\x02"}}));
}

TEST(ToJsonTest, NamesTheHostsNetworkAndItsReason) {
  Plan plan = EveryStep();
  plan.network = HostNetwork("because");
  EXPECT_EQ(json::parse(ToJson(plan)).at("network"),
            json::value({{"tier", "host"}, {"reason", "because"}}));
}

}  // namespace
}  // namespace igloo::sandbox

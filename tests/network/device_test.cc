// Sandboxes with a device: programs that know no proxy, before the Internet that the tests have
// made.
#include "device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "base/file.h"
#include "boxed.h"
#include "world.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// One try a line, "HOST PORT [DEVICE]", of a program that knows no proxy. The first line says
/// whether they are made one after the other or together.
constexpr const char* kTry = R"py(
import socket, struct, sys
def ping(host):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
    s.settimeout(5)
    s.sendto(struct.pack('!BBHHH', 8, 0, 0, 0, 1) + b'abc', (host, 0))
    return s.recv(100)[-3:].decode()
def fetch(host, port, device=None):
    s = socket.socket()
    s.settimeout(5)
    if device: s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
    s.connect((host, int(port)))
    s.sendall(b'GET /direct HTTP/1.0\r\n\r\n')
    return s.recv(100).split(b'\r\n')[0].decode()
def attempt(line):
    words = line.split()
    try: return ping(words[1]) if words[0] == 'ping' else fetch(*words)
    except OSError as error: return f'closed {error}'
if sys.stdin.readline() == 'together\n':
    from concurrent.futures import ThreadPoolExecutor
    lines = sys.stdin.readlines()
    for result in ThreadPoolExecutor(len(lines)).map(attempt, lines): print(result)
for line in sys.stdin: print(attempt(line), flush=True)
)py";

std::vector<std::string> Internet(const std::string& code) {
  return {"--env", "python", "--network", "internet", "--timeout", "120", code};
}

/// pasta replaces itself by the variant of itself that suits the processor.
pid_t Carrier(pid_t pid) {
  for (const char* name : {"pasta", "pasta.avx2", "passt", "passt.avx2"}) {
    if (const pid_t found = ChildNamed(pid, name); found > 0) return found;
  }
  return -1;
}

bool Lives(pid_t pid) { return ::kill(pid, 0) == 0; }

TEST(Device, WithoutOneIglooSaysSoAndTheProxyIsThere) {
  World::Get().Seen();
  // A machine without pasta.
  const std::vector<std::string> bare = {"PATH=/nowhere"};
  const Outcome direct = Boxed(Internet(kTry), "singly\n93.184.216.34 80\n", bare);
  EXPECT_THAT(direct.out, HasSubstr("closed"));
  EXPECT_THAT(direct.err, HasSubstr("programs that use the proxy, and for no others"));
  EXPECT_THAT(World::Get().Seen(), IsEmpty());
  const Outcome proxied = Boxed(Internet("import urllib.request\n"
                                         "urllib.request.urlopen('http://example.com/proxied')"),
                                "", bare);
  EXPECT_EQ(proxied.status, 0) << proxied.err;
  EXPECT_THAT(World::Get().Seen(), Contains("HIT 93.184.216.34 80 GET /proxied"));
  EXPECT_THAT(Boxed({"--dry-run", "--env", "python", "--network", "internet", "1"}, "", bare).out,
              Not(HasSubstr("eth0")));
}

TEST(Device, WithOneThereIsNothingToSay) {
  NEED_DEVICE();
  EXPECT_EQ(Boxed(Internet("pass")).err, "");
}

TEST(Device, ProgramsThatKnowNoProxyReachTheInternet) {
  NEED_DEVICE();
  AllowPings();
  World::Get().Seen();
  const Outcome outcome =
      Boxed(Internet(kTry), "singly\nexample.com 80\n93.184.216.35 8080\nping 93.184.216.34\n");
  EXPECT_EQ(outcome.out, "HTTP/1.1 200 OK\nHTTP/1.1 200 OK\nabc\n") << outcome.err;
  EXPECT_THAT(World::Get().Seen(), AllOf(Contains("HIT 93.184.216.34 80 GET /direct"),
                                         Contains("HIT 93.184.216.35 8080 GET /direct"),
                                         Contains("QUERY example.com 1")));
}

TEST(Device, LeadsToNothingThatIsClosed) {
  NEED_DEVICE();
  World& world = World::Get();
  Running server({.program = "/usr/bin/python3",
                  .args = {"-u", "-m", "http.server", "--directory", BinDirectory(), "18099"}});
  ASSERT_TRUE(server.WaitForOutput("Serving HTTP")) << server.errors();
  const std::vector<std::string> closed = {
      "10.1.2.3 80", "169.254.169.254 80", "private.example 80", "meta.example 80",
      // This machine: its wire, a public address, loopback, what others call the same.
      "198.18.0.1 18099", "93.184.217.1 18099", "127.0.0.1 18099", "0.0.0.0 18099",
      "127.0.0.2 18099",
      // igloo's own, and neighbours of the machine by the same names.
      "192.0.2.1 18099", "192.0.2.8 18099", "192.0.2.9 18099", "192.0.2.9 53", "192.0.2.3 18099",
      "255.255.255.255 80", "224.0.0.1 80", "240.0.0.1 80"};
  std::string tries = "together\n";
  for (const std::string& each : closed) {
    // SECURITY: a socket that is bound to a device passes routes of its own namespace.
    tries += each + "\n" + each + " eth0\n";
  }
  world.Seen();
  const Outcome outcome = Boxed(Internet(kTry), tries);
  EXPECT_THAT(outcome.out, Not(HasSubstr("HTTP"))) << outcome.out << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), std::ssize(closed) * 2) << outcome.out;
  EXPECT_THAT(world.Seen(), Not(Contains(HasSubstr("HIT"))));
  EXPECT_THAT(server.errors(), Not(HasSubstr("GET"))) << "the host's server was reached";
  // Control: they are there, for those who may.
  for (const char* url : {"http://10.1.2.3/", "http://169.254.169.254/", "http://127.0.0.1:18099/",
                          "http://93.184.217.1:18099/", "http://198.18.0.1:18099/"}) {
    EXPECT_EQ(
        RunProgram({.program = "/usr/bin/curl", .args = {"-sS", "-o", "/dev/null", url}}).status, 0)
        << url;
  }
  const Outcome opened =
      Boxed({"--env", "python", "--network", "internet", "--allow", "10.1.2.3",
             "import urllib.request\nprint(urllib.request.urlopen('http://10.1.2.3/').status)"});
  EXPECT_EQ(opened.out, "200\n") << opened.err;
}

TEST(Device, WhenItsCarrierIsKilledNothingPassesAnyMore) {
  NEED_DEVICE();
  Running box(BoxedInvocation(Internet(kTry)));
  box.Write("singly\n93.184.216.34 80\n");
  ASSERT_EQ(box.NextLine(), "HTTP/1.1 200 OK") << box.errors();
  const pid_t carrier = Carrier(box.pid());
  ASSERT_GT(carrier, 0);
  ASSERT_EQ(::kill(carrier, SIGKILL), 0);
  ASSERT_TRUE(WaitFor([&] { return Carrier(box.pid()) <= 0; }));
  World::Get().Seen();
  box.Write("93.184.216.34 80\n93.184.216.34 80 eth0\n");
  EXPECT_THAT(box.NextLine().value_or("?"), HasSubstr("closed"));
  EXPECT_THAT(box.NextLine().value_or("?"), HasSubstr("closed"));
  EXPECT_THAT(World::Get().Seen(), IsEmpty());
  box.CloseInput();
  const Outcome outcome = box.Finish();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("pasta ended"));
}

TEST(Device, ItsCarrierEndsWithTheRunAndWithIgloo) {
  NEED_DEVICE();
  for (const bool killed : {false, true}) {
    Running box(BoxedInvocation(Internet(kTry)));
    box.Write("singly\n93.184.216.34 80\n");
    ASSERT_EQ(box.NextLine(), "HTTP/1.1 200 OK") << box.errors();
    const pid_t carrier = Carrier(box.pid());
    ASSERT_GT(carrier, 0);
    if (killed) ASSERT_EQ(::kill(box.pid(), SIGKILL), 0);
    box.CloseInput();
    box.Finish();
    EXPECT_TRUE(WaitFor([&] { return !Lives(carrier); })) << killed;
  }
}

TEST(Device, HasNoSixAlthoughTheHostHas) {
  NEED_DEVICE();
  World::Get().Seen();
  const Outcome outcome = Boxed(Internet(R"py(
import socket
print([line.split()[-1] for line in open('/proc/net/if_inet6')])
for device in (None, b'eth0'):
    s = socket.socket(socket.AF_INET6)
    if device: s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device)
    s.settimeout(5)
    try: print(s.connect(('2606:4700::1', 80)))
    except OSError as error: print('closed')
)py"));
  EXPECT_EQ(outcome.out, "['lo']\nclosed\nclosed\n") << outcome.err;
  EXPECT_THAT(World::Get().Seen(), IsEmpty());
  // Controls: the proxy has it, and so has this machine.
  EXPECT_EQ(Boxed({"--env", "shell", "--network", "internet",
                   "curl -s -o /dev/null -w '%{http_code}' http://six.example/"})
                .out,
            "200");
  EXPECT_EQ(RunProgram({.program = "/usr/bin/curl",
                        .args = {"-sS", "-o", "/dev/null", "http://[2606:4700::1]/"}})
                .status,
            0);
}

TEST(Device, ThatItWasThereIsRecorded) {
  NEED_DEVICE();
  Boxed(Internet("pass"));
  const Outcome log = RunProgram(OutsideInvocation({"net", "log", "--json", "--limit", "2"}));
  EXPECT_THAT(log.out, AllOf(HasSubstr(R"("event":"opened","protocol":"device","sandbox":"run-)"),
                             HasSubstr(R"("event":"ended","protocol":"device","sandbox":"run-)")));
  EXPECT_THAT(RunProgram(OutsideInvocation({"net", "log", "--limit", "1"})).out,
              AllOf(HasSubstr("ended"), HasSubstr("device   eth0\n")));
}

TEST(Device, OfTheHostComesWithItsResolver) {
  EXPECT_EQ(Boxed({"--env", "shell", "--network", "host", "cat /etc/resolv.conf"}).out,
            ReadFile("/etc/resolv.conf", 1U << 16).value_or(""));
}

TEST(Device, ADryRunSaysWhatItLeadsTo) {
  const Outcome outcome = Boxed({"--dry-run", "--env", "python", "--network", "internet", "1"});
  NEED_DEVICE();
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("device     eth0, also for programs that know no proxy"),
                    HasSubstr("close      10.0.0.0/8"), HasSubstr("close      93.184.217.1/32")))
      << outcome.err;
}

}  // namespace
}  // namespace igloo::testing

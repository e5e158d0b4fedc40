// Raw sockets: a right over a device, and what it is no right to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "boxed.h"
#include "device.h"
#include "world.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

/// Packets by hand. Lines of input are what to send: "HOW SOURCE DESTINATION PORT TEXT", where HOW
/// is `raw` (a raw socket), `frame` (a frame, straight to the device), `routed` (with the way to go
/// in the packet: by way of the gateway), or `six` (a frame of IPv6).
constexpr const char* kPackets = R"py(
import socket, struct, sys
OWN, GATEWAY = '192.0.2.2', '192.0.2.1'
def checksum(data):
    data += b'\0' * (len(data) % 2)
    total = sum(struct.unpack(f'!{len(data) // 2}H', data))
    while total >> 16: total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff
def udp(port, text): return struct.pack('!HHHH', 4000, port, 8 + len(text), 0) + text
def four(source, target, protocol, load, options=b''):
    size = 20 + len(options)
    def head(sum): return struct.pack('!BBHHHBBH4s4s', 0x40 + size // 4, 0, size + len(load), 7, 0, 64, protocol, sum,
        socket.inet_aton(source), socket.inet_aton(target)) + options
    return head(checksum(head(0))) + load
def six(source, target, load):
    ends = socket.inet_pton(socket.AF_INET6, source) + socket.inet_pton(socket.AF_INET6, target)
    sum = checksum(ends + struct.pack('!IHBB', len(load), 0, 0, 17) + load)
    load = load[:6] + struct.pack('!H', sum) + load[8:]
    return struct.pack('!IHBB', 6 << 28, len(load), 17, 64) + ends + load
def gateway():
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'?', (GATEWAY, 9))
    while True:
        for line in open('/proc/net/arp'):
            words = line.split()
            if words[0] == GATEWAY and words[2] != '0x0': return bytes.fromhex(words[3].replace(':', ''))
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
packet = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
packet.bind(('eth0', 0))
mac = gateway()
def send_frame(kind, content): packet.send(mac + packet.getsockname()[4] + struct.pack('!H', kind) + content)
def send(how, source, target, port, text):
    load = udp(int(port), text.encode())
    if how == 'six': return send_frame(0x86dd, six(source, target, load))
    if how == 'raw': return raw.sendto(four(source, target, 17, load), (GATEWAY, 0))
    if how == 'frame': return send_frame(0x0800, four(source, target, 17, load))
    way = bytes([131, 7, 4]) + socket.inet_aton(target) + b'\1'
    send_frame(0x0800, four(source, GATEWAY, 17, load, way))
)py";

std::string Packets(const std::string& code) { return kPackets + code; }

std::vector<std::string> Raw(const std::string& code) {
  return {"--env", "python", "--network", "internet", "--raw-sockets", "--timeout", "120", code};
}

TEST(RawSockets, NeedARightThatIsNamed) {
  NEED_DEVICE();
  constexpr const char* kTry = R"py(
import socket
print([line.split()[1] for line in open('/proc/self/status') if line.startswith('Cap')])
for family, protocol in ((socket.AF_INET, 1), (socket.AF_INET6, 58), (socket.AF_PACKET, 0)):
    try:
        socket.socket(family, socket.SOCK_RAW, protocol)
        print('made')
    except OSError as error: print(error.errno)
)py";
  const std::string none = "'0000000000000000'";
  const std::string raw = "'0000000000002000'";
  const auto sets = [](const std::string& each, const std::string& bounding) {
    return "[" + each + ", " + each + ", " + each + ", " + bounding + ", " + each + "]\n";
  };
  EXPECT_EQ(Boxed({"--env", "python", "--network", "internet", kTry}).out,
            sets(none, none) + "1\n1\n1\n");
  const Outcome granted = Boxed(Raw(kTry));
  EXPECT_EQ(granted.out, sets(raw, none) + "made\nmade\nmade\n");
  EXPECT_THAT(granted.err, HasSubstr("warning: it may make raw sockets"));
}

TEST(RawSockets, BelongToADevice) {
  const std::vector<std::string> bare = {"PATH=/nowhere"};
  const Outcome outcome = Boxed(Raw("print('ran')"), "", bare);
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("raw sockets need a device: pasta is not installed"),
                                 HasSubstr("install the package passt")));
  for (const char* tier : {"none", "allow", "host"}) {
    const Outcome other =
        Boxed({"--env", "python", "--network", tier, "--raw-sockets", "print('ran')"});
    EXPECT_EQ(other.out, "") << tier;
    EXPECT_THAT(other.err, AllOf(HasSubstr("raw sockets are of no use with the network '" +
                                           std::string(tier) + "'"),
                                 HasSubstr("use the network 'internet'")));
  }
}

TEST(RawSockets, ADryRunWarnsOfThem) {
  NEED_DEVICE();
  const Outcome outcome =
      Boxed({"--dry-run", "--env", "python", "--network", "internet", "--raw-sockets", "1"});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("WARNING: code in this sandbox may make raw sockets"),
                                 HasSubstr("drop every capability but CAP_NET_RAW"),
                                 HasSubstr("seccomp    raw sockets")));
  EXPECT_THAT(Boxed({"--dry-run", "--env", "python", "--network", "internet", "1"}).out,
              Not(HasSubstr("raw sockets")));
}

TEST(RawSockets, DoWhatToolsNeedThemFor) {
  NEED_DEVICE();
  AllowPings();
  // As `ping` of old, `nmap -sS` and `tcpdump` do it, in a program of the code's own.
  const Outcome outcome = Boxed(Raw(Packets(R"py(
def ping():
    s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    s.settimeout(10)
    echo = struct.pack('!BBHHH', 8, 0, 0, 5, 1) + b'abc'
    s.sendto(echo[:2] + struct.pack('!H', checksum(echo)) + echo[4:], ('93.184.216.34', 0))
    return s.recv(100)[-3:].decode()
def scan(port):
    s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
    s.settimeout(10)
    ends = socket.inet_aton(OWN) + socket.inet_aton('93.184.216.34')
    def syn(sum): return struct.pack('!HHIIBBHHH', 4001, port, 9, 0, 0x50, 2, 1024, sum, 0)
    s.sendto(syn(checksum(ends + struct.pack('!BBH', 0, 6, 20) + syn(0))), ('93.184.216.34', 0))
    while True:
        got = s.recv(100)[20:]
        if struct.unpack('!H', got[:2])[0] == port: return 'open' if got[13] == 0x12 else 'closed'
packet.settimeout(10)
seen = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
seen.settimeout(10)
print(ping(), scan(80), scan(81))
while True:
    got = seen.recv(1000)
    if got[9:10] == b'\1' and got[20] == 0: break
print('captured', got[-3:].decode())
import subprocess
print(subprocess.run([sys.executable, '-c',
    'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW); print("made")'], capture_output=True, text=True).stdout)
)py")));
  EXPECT_EQ(outcome.out, "abc open closed\ncaptured abc\nmade\n\n") << outcome.err;
}

TEST(RawSockets, AreWhatRealToolsAskFor) {
  NEED_DEVICE();
  AllowPings();
  const std::string tools = R"sh(
tcpdump -i eth0 -c 1 -w seen 'icmp[icmptype] = icmp-echoreply' 2>said &
while ! grep -q listening said 2>/dev/null; do :; done
ping -c 1 -W 10 93.184.216.34 | grep -o '1 received'
wait $! && tcpdump -r seen 2>/dev/null | grep -o 'ICMP echo reply'
nmap -n -Pn -sS --privileged --max-retries 2 -p 80,81 93.184.216.34 | grep -o '^8.*'
)sh";
  const Outcome outcome =
      Boxed({"--env", "shell", "--network", "internet", "--raw-sockets", "--timeout", "30", tools});
  EXPECT_EQ(outcome.out,
            "1 received\nICMP echo reply\n80/tcp open   http\n81/tcp closed hosts2-ns\n")
      << outcome.err;
  // Without the right they say so themselves.
  const Outcome without = Boxed({"--env", "shell", "--network", "internet",
                                 "tcpdump -i eth0 -c 1; nmap -Pn -sS --privileged 93.184.216.34"});
  EXPECT_THAT(without.err, AllOf(HasSubstr("Operation not permitted"),
                                 Not(HasSubstr("Address family not supported"))));
}

TEST(RawSockets, ReachNothingThatIsClosed) {
  NEED_DEVICE();
  World& world = World::Get();
  Running host({.program = "/usr/bin/python3",
                .args = {"-uc",
                         "import socket\n"
                         "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                         "s.bind(('0.0.0.0', 18098))\n"
                         "print('ready')\n"
                         "while True: print(s.recv(100).decode())\n"}});
  ASSERT_EQ(host.NextLine(), "ready") << host.errors();
  std::string orders;
  for (const char* how : {"raw", "frame", "routed"}) {
    const std::string start = std::string(how) + " 192.0.2.2 ";
    for (const char* address : {"10.1.2.3", "169.254.169.254", "240.0.0.1", "224.0.0.1"}) {
      orders += start + address + " 9 attack-" + how + "\n";
    }
    for (const char* address :
         {"127.0.0.1", "198.18.0.1", "93.184.217.1", "0.0.0.0", "192.0.2.8", "192.0.2.9"}) {
      orders += start + address + " 18098 attack-" + how + "\n";
    }
    // In somebody else's name: a neighbour's, this machine's, its loopback's.
    for (const char* source : {"10.9.9.9", "93.184.217.1", "127.0.0.1", "192.0.2.9", "8.8.8.8"}) {
      orders += std::string(how) + " " + source + " 93.184.216.34 9 forged-" + how + "\n";
    }
  }
  for (const char* address : {"fd00::1", "2606:4700::1", "::ffff:10.1.2.3"}) {
    orders += std::string("six fd00::2 ") + address + " 9 attack-six\n";
  }
  // Controls, last: the same packets arrive where they may.
  orders += "raw 192.0.2.2 93.184.216.34 9 fine-raw\nframe 192.0.2.2 93.184.216.34 9 fine-frame\n";
  world.Seen();
  const Outcome outcome = Boxed(Raw(Packets(R"py(
sent = 0
for line in sys.stdin:
    try:
        send(*line.split())
        sent += 1
    except OSError as error: print(line, error)
print('sent', sent)
# Not before pasta has carried the last of them: it answers after what came before.
s = socket.socket()
s.connect(('93.184.216.34', 7))
print(s.recv(6).decode())
)py")),
                                orders);
  EXPECT_EQ(outcome.out, "sent " + std::to_string(std::ranges::count(orders, '\n')) + "\nhello\n\n")
      << outcome.err;
  // Datagrams are told in their order, those of an attack first; connections by another thread.
  const auto told = [&world](std::size_t count) {
    std::vector<std::string> lines;
    EXPECT_TRUE(WaitFor([&] {
      std::ranges::move(world.Seen(), std::back_inserter(lines));
      return lines.size() >= count;
    }));
    return lines;
  };
  EXPECT_THAT(told(3),
              UnorderedElementsAre("DATAGRAM 93.184.216.34 fine-raw",
                                   "DATAGRAM 93.184.216.34 fine-frame", HasSubstr("echo")));
  // Controls: this machine's own is there for itself, and so are those that are closed.
  const auto control = [](const std::string& address, int port) {
    const Outcome sent = RunProgram(
        {.program = "/usr/bin/python3",
         .args = {"-c", "import socket\ns = socket.socket(socket.AF_INET6 if ':' in '" + address +
                            "' else socket.AF_INET, socket.SOCK_DGRAM)\ns.sendto(b'control', ('" +
                            address + "', " + std::to_string(port) + "))"}});
    EXPECT_EQ(sent.status, 0) << address << sent.err;
  };
  for (const char* address : {"127.0.0.1", "198.18.0.1", "93.184.217.1"}) {
    control(address, 18098);
    EXPECT_EQ(host.NextLine(), "control") << "and nothing before it: " << address;
  }
  for (const char* address : {"10.1.2.3", "169.254.169.254", "2606:4700::1"}) control(address, 9);
  EXPECT_THAT(told(3), Contains("DATAGRAM 169.254.169.254 control"));
}

TEST(RawSockets, GiveNoOtherRightOverTheNetwork) {
  NEED_DEVICE();
  // Routes, addresses and devices are CAP_NET_ADMIN's, in whichever way they are asked for.
  const Outcome outcome = Boxed(Raw(R"py(
import fcntl, socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def attempt(name, call):
    try:
        call()
        print(name, 'worked')
    except OSError as error: print(name, error.errno)
attempt('down', lambda: fcntl.ioctl(s, 0x8914, struct.pack('16sh14x', b'eth0', 0)))
attempt('address', lambda: fcntl.ioctl(s, 0x8916, struct.pack('16sHH4s8x', b'eth0', 2, 0, bytes([10, 1, 2, 4]))))
n = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
def delete():
    n.send(struct.pack('IHHII', 28, 25, 5, 1, 0) + struct.pack('BBBBBBBBI', 2, 8, 0, 0, 254, 4, 0, 6, 0))
    code = struct.unpack('i', n.recv(100)[16:20])[0]
    if code: raise OSError(-code, 'refused')
attempt('route', delete)
attempt('promiscuous', lambda: fcntl.ioctl(s, 0x8914, struct.pack('16sh14x', b'eth0', 0x1101)))
)py"));
  EXPECT_EQ(outcome.out, "down 1\naddress 1\nroute 1\npromiscuous 1\n") << outcome.err;
}

}  // namespace
}  // namespace igloo::testing

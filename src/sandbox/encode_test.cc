#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include "ops/ops.h"
#include "sandbox/plan.h"

namespace igloo::sandbox {
namespace {

using ops::Code;

/// An operation as a value, to be compared whole.
struct Decoded {
  Code code = Code::kEnd;
  std::string path = {}, text = {};
  unsigned flags = 0;
  std::uint64_t device = 0, inode = 0, bytes = 0, inodes = 0;
  std::uint32_t mode = 0, address = 0;
  std::uint32_t owner_uid = 0, owner_gid = 0;
  bool operator==(const Decoded&) const = default;
};

void PrintTo(const Decoded& d, std::ostream* out) {
  *out << "code " << static_cast<int>(d.code) << " path '" << d.path << "' text '" << d.text
       << "' flags " << d.flags << " device " << d.device << " inode " << d.inode << " bytes "
       << d.bytes << " inodes " << d.inodes << " mode " << d.mode << " address " << d.address
       << " owner " << d.owner_uid << ":" << d.owner_gid;
}

std::vector<Decoded> Decode(const std::string& encoded) {
  // Aligned, as the launcher's buffer is.
  std::vector<std::uint64_t> buffer((encoded.size() + 7) / 8);
  std::memcpy(buffer.data(), encoded.data(), encoded.size());
  ops::Reader reader(buffer.data(), encoded.size());
  std::vector<Decoded> decoded;
  while (const ops::Op* op = reader.Next()) {
    decoded.push_back({op->code, std::string(op->path(), op->path_size),
                       std::string(op->text(), op->text_size), op->flags, op->device, op->inode,
                       op->bytes, op->inodes, op->mode, op->address, op->owner_uid, op->owner_gid});
  }
  EXPECT_TRUE(reader.ok());
  return decoded;
}

constexpr PathFact kFact{.device = 1, .inode = 2, .type = S_IFDIR, .uid = 3, .gid = 4};

/// One example of a step and what the launcher must read for it.
template <class S>
struct Example {
  S step;
  Decoded expected;
};

/// One row per alternative of Step, in its order: a new one without a row does not compile.
const auto& Examples() {
  static const auto examples = std::tuple{
      Example{step::Root{{.bytes = 5, .inodes = 6}},
              Decoded{.code = Code::kRoot, .bytes = 5, .inodes = 6}},
      Example{step::Directory{"/a", 0700},
              Decoded{.code = Code::kDirectory, .path = "/a", .mode = 0700}},
      Example{step::Symlink{"/bin", "usr/bin"},
              Decoded{.code = Code::kSymlink, .path = "/bin", .text = "usr/bin"}},
      Example{
          step::File{"/f", std::string("a\0b", 3), 0444},
          Decoded{.code = Code::kFile, .path = "/f", .text = std::string("a\0b", 3), .mode = 0444}},
      Example{step::NamedPipe{"/f"}, Decoded{.code = Code::kNamedPipe, .path = "/f"}},
      Example{step::Bind{"/s", "/t", Access::kReadOnly, kFact}, Decoded{.code = Code::kBind,
                                                                        .path = "/t",
                                                                        .text = "/s",
                                                                        .flags = ops::kFlagReadOnly,
                                                                        .device = 1,
                                                                        .inode = 2,
                                                                        .mode = S_IFDIR}},
      Example{step::Tmpfs{"/m", {.bytes = 5, .inodes = 6}, 01777, Execution::kForbidden},
              Decoded{.code = Code::kTmpfs,
                      .path = "/m",
                      .flags = ops::kFlagNoExec,
                      .bytes = 5,
                      .inodes = 6,
                      .mode = 01777}},
      Example{step::Overlay{"/s", "/o", {.bytes = 5, .inodes = 6}, kFact},
              Decoded{.code = Code::kOverlay,
                      .path = "/o",
                      .text = "/s",
                      .flags = ops::kFlagMapOwner,
                      .device = 1,
                      .inode = 2,
                      .bytes = 5,
                      .inodes = 6,
                      .mode = S_IFDIR,
                      .owner_uid = 3,
                      .owner_gid = 4}},
      Example{step::Base{"/s", kFact},
              Decoded{.code = Code::kBase, .text = "/s", .device = 1, .inode = 2, .mode = S_IFDIR}},
      Example{step::FromBase{"a/b", "/t", kFact}, Decoded{.code = Code::kFromBase,
                                                          .path = "/t",
                                                          .text = "a/b",
                                                          .device = 1,
                                                          .inode = 2,
                                                          .mode = S_IFDIR}},
      Example{step::Copy{"/s", "/t", kFact},
              Decoded{.code = Code::kCopy,
                      .path = "/t",
                      .text = "/s",
                      .device = 1,
                      .inode = 2,
                      .mode = S_IFDIR}},
      Example{step::Proc{"/proc"}, Decoded{.code = Code::kProc, .path = "/proc"}},
      Example{step::Mask{"/proc/keys", false},
              Decoded{.code = Code::kMaskFile, .path = "/proc/keys"}},
      Example{step::Hide{.tree = "/p",
                         .target = "/p/.env",
                         .cover = "/c",
                         .fact = kFact,
                         .view = true,
                         .why = "said to people only"},
              Decoded{.code = Code::kHide,
                      .path = "/p/.env",
                      .text = "/c",
                      .flags = ops::kFlagView,
                      .device = 1,
                      .inode = 2,
                      .bytes = 2,
                      .mode = S_IFDIR}},
      Example{step::ReadOnly{"/c", true},
              Decoded{.code = Code::kReadOnly, .path = "/c", .flags = ops::kFlagOver}},
      Example{step::EnterRoot{}, Decoded{.code = Code::kPivot}},
      Example{step::SealRoot{}, Decoded{.code = Code::kSeal}},
      Example{step::PrivateNetwork{}, Decoded{.code = Code::kNetwork}},
      Example{
          step::Edge{"192.0.2.2", "192.0.2.1"},
          Decoded{.code = Code::kEdge, .mode = htonl(0xc0000201), .address = htonl(0xc0000202)}},
      Example{step::Closed{"10.0.0.0/8"},
              Decoded{.code = Code::kClose, .mode = 8, .address = htonl(0x0a000000)}},
      Example{step::Resolver{"192.0.2.9"},
              Decoded{.code = Code::kResolver, .address = htonl(0xc0000209)}},
      Example{step::Hostname{"igloo"}, Decoded{.code = Code::kHostname, .text = "igloo"}},
      Example{step::NoMoreNamespaces{}, Decoded{.code = Code::kNoNamespaces}},
      Example{step::Listen{8080}, Decoded{.code = Code::kListen, .mode = 8080}},
      Example{step::Sockets{32}, Decoded{.code = Code::kSockets, .mode = 32}},
      Example{step::HandOut{"/w", true},
              Decoded{.code = Code::kHandOut, .path = "/w", .flags = ops::kFlagKept}},
      Example{step::BoundPrivileges{.raw_sockets = true},
              Decoded{.code = Code::kBoundPrivileges, .flags = ops::kFlagRawSockets}},
      Example{step::DropPrivileges{.raw_sockets = true},
              Decoded{.code = Code::kDropPrivileges, .flags = ops::kFlagRawSockets}},
      Example{step::StartInit{}, Decoded{.code = Code::kBecomeInit}},
  };
  return examples;
}

template <class T>
struct StepsOf;
template <class... S>
struct StepsOf<std::tuple<Example<S>...>> {
  using type = std::variant<S...>;
};
static_assert(std::is_same_v<StepsOf<std::remove_cvref_t<decltype(Examples())>>::type, Step>,
              "every alternative of Step needs an example, in the same order");

Decoded EncodedAlone(const Step& step) {
  const auto decoded = Decode(Encode({step}));
  EXPECT_EQ(decoded.size(), 1U);
  return decoded.empty() ? Decoded{} : decoded.front();
}

TEST(EncodeTest, EveryStepArrivesWithEveryField) {
  const auto check = [](const auto& example) {
    EXPECT_EQ(EncodedAlone(example.step), example.expected);
  };
  std::apply([&](const auto&... example) { (check(example), ...); }, Examples());
}

TEST(EncodeTest, AnOverlayThatKeepsItsChangesSaysSo) {
  EXPECT_EQ(
      EncodedAlone(
          step::Overlay{.source = "/s", .target = "/o", .map_owner = false, .keeps_changes = true}),
      (Decoded{
          .code = Code::kOverlay, .path = "/o", .text = "/s", .flags = ops::kFlagKeepsChanges}));
}

TEST(EncodeTest, AListKeepsItsOrder) {
  std::vector<Step> steps;
  std::vector<Decoded> expected;
  std::apply(
      [&](const auto&... example) {
        (steps.emplace_back(example.step), ...);
        (expected.push_back(example.expected), ...);
      },
      Examples());
  EXPECT_EQ(Decode(Encode(steps)), expected);
  std::ranges::reverse(steps);
  std::ranges::reverse(expected);
  EXPECT_EQ(Decode(Encode(steps)), expected);
}

TEST(EncodeTest, ListsBehindOneAnotherReadAsOne) {
  const std::vector<Step> first = {step::Listen{8080}, step::EnterRoot{}};
  const std::vector<Step> second = {step::Directory{"/odd", 0700}};
  EXPECT_EQ(Decode(Encode(first) + Encode({}) + Encode(second)),
            (std::vector<Decoded>{{.code = Code::kListen, .mode = 8080},
                                  {.code = Code::kPivot},
                                  {.code = Code::kDirectory, .path = "/odd", .mode = 0700}}))
      << "the body of a request is its lists, one behind the other";
  EXPECT_EQ(Encode({}), "");
}

TEST(EncodeTest, BindsSayHowTheyAreMounted) {
  const Decoded plain{
      .code = Code::kBind, .path = "/t", .text = "/s", .device = 1, .inode = 2, .mode = S_IFDIR};
  Decoded expected = plain;
  EXPECT_EQ(EncodedAlone(step::Bind{"/s", "/t", Access::kReadWrite, kFact}), expected);
  expected.flags = ops::kFlagDevice | ops::kFlagNoExec;
  EXPECT_EQ(EncodedAlone(step::Bind{"/s", "/t", Access::kReadWrite, kFact, true}), expected);
  expected = plain;
  expected.flags = ops::kFlagReadOnly | ops::kFlagMapOwner;
  expected.owner_uid = 3;
  expected.owner_gid = 4;
  EXPECT_EQ(EncodedAlone(step::Bind{"/s", "/t", Access::kReadOnly, kFact, false, true}), expected);
}

TEST(EncodeTest, MasksOfDirectoriesAndUnlimitedInodesHaveTheirOwnForm) {
  EXPECT_EQ(EncodedAlone(step::Mask{"/proc/bus", true}),
            (Decoded{.code = Code::kMaskDirectory, .path = "/proc/bus"}));
  EXPECT_EQ(EncodedAlone(step::Tmpfs{"/m", {.bytes = 5}}),
            (Decoded{.code = Code::kTmpfs, .path = "/m", .bytes = 5, .mode = 0755}));
}

TEST(EncodeTest, AnyPathLengthKeepsOperationsAligned) {
  std::vector<Step> steps;
  std::vector<Decoded> expected;
  for (std::size_t size = 1; size < 40; ++size) {
    const std::string path = "/" + std::string(size, 'a');
    steps.emplace_back(step::Directory{path, 0755});
    expected.push_back({.code = Code::kDirectory, .path = path, .mode = 0755});
  }
  EXPECT_EQ(Decode(Encode(steps)), expected);
}

}  // namespace
}  // namespace igloo::sandbox

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/frame.h"
#include "wire/host.h"

namespace igloo::wire {
namespace {

constexpr Ended kEndedExample{.nonce = {0x0102030405060708, 0xFFFFFFFFFFFFFFFF},
                              .kind = EndKind::kSignalled,
                              .cause = EndCause::kTimeLimit,
                              .status = 9,
                              .cpu_micros = 1,
                              .peak_kib = 1ULL << 40,
                              .wall_micros = 3,
                              .landlock_abi = 4,
                              .stamps = {5, 6, 7}};
constexpr Refused kRefusedExample{.nonce = {1, 2}, .step = InitStep::kLandlock, .sys_errno = 4095};

constexpr JoinEnded kJoinEndedExample{.nonce = {3, 4},
                                      .number = 0xFFFFFFFF,
                                      .kind = EndKind::kExited,
                                      .status = 255,
                                      .step = InitStep::kExec,
                                      .sys_errno = 2};

const Seen kSeenExample{.nonce = {5, 6},
                        .kind = SeenKind::kWritten,
                        .number = 30,
                        .times = 1,
                        .program = "/bin/touch",
                        .path = "/usr/x\n"};

/// The payload of a report's frame.
std::string PayloadOf(const Report& report) { return EncodeReport(report).substr(kHeaderSize); }

bool Refuses(const std::string& payload) {
  const auto decoded = DecodeReport(payload);
  return !decoded && decoded.error().code == Errc::kProtocol;
}

std::string Header(std::uint32_t length) {
  unsigned char bytes[kHeaderSize];
  EncodeLength(length, bytes);
  return {reinterpret_cast<const char*>(bytes), sizeof bytes};
}

TEST(FrameTest, LengthsAreFourBytesBigEndFirst) {
  EXPECT_EQ(Header(0x01020304), "\x01\x02\x03\x04");
  for (const std::uint32_t length : {0U, 1U, 255U, 256U, kMaxFrame, 0xFFFFFFFFU}) {
    const std::string header = Header(length);
    EXPECT_EQ(DecodeLength(reinterpret_cast<const unsigned char*>(header.data())), length);
  }
}

TEST(FrameTest, AfterOneBadFieldEveryLaterOneIsEmpty) {
  const char bytes[] = {0, 0, 0, 9, 'a', 0};  // a text of nine bytes that is not there
  Fields fields(bytes, sizeof bytes);
  EXPECT_STREQ(fields.Text(), "");
  EXPECT_FALSE(fields.ok());
  EXPECT_EQ(fields.U8(), 0);
  EXPECT_FALSE(fields.AtEnd()) << "an error is not an end";
}

TEST(FrameTest, TextsMustBeClosedAndHoldNoNul) {
  const char open[] = {0, 0, 0, 1, 'a', 'b'};
  EXPECT_STREQ(Fields(open, sizeof open).Text(), "");
  const char inner[] = {0, 0, 0, 3, 'a', 0, 'b', 0};
  EXPECT_STREQ(Fields(inner, sizeof inner).Text(), "");
  const char huge[] = {'\xff', '\xff', '\xff', '\xff', 'a', 0};
  EXPECT_STREQ(Fields(huge, sizeof huge).Text(), "");
  const char good[] = {0, 0, 0, 1, 'a', 0};
  EXPECT_STREQ(Fields(good, sizeof good).Text(), "a");
}

TEST(ReportTest, SurvivesTheTripHoweverTheStreamIsCut) {
  for (const Report& report :
       {Report(kEndedExample), Report(kRefusedExample), Report(kSeenExample)}) {
    const std::string frame = EncodeReport(report);
    for (std::size_t cut = 0; cut <= frame.size(); ++cut) {
      FrameBuffer buffer;
      buffer.Append(frame.substr(0, cut));
      auto payload = buffer.Next();
      ASSERT_TRUE(payload);
      if (cut < frame.size()) {
        EXPECT_EQ(*payload, "") << cut;
        buffer.Append(frame.substr(cut));
        payload = buffer.Next();
        ASSERT_TRUE(payload);
      }
      const auto decoded = DecodeReport(*payload);
      ASSERT_TRUE(decoded) << cut;
      EXPECT_EQ(*decoded, report) << cut;
      EXPECT_EQ(buffer.Next(), "") << "nothing is left";
    }
  }
}

TEST(ReportTest, ByteByByteIsEnough) {
  FrameBuffer buffer;
  std::vector<std::string> payloads;
  for (const char byte : EncodeReport(kEndedExample) + EncodeReport(kRefusedExample)) {
    buffer.Append({&byte, 1});
    const auto payload = buffer.Next();
    ASSERT_TRUE(payload);
    if (!payload->empty()) payloads.push_back(*payload);
  }
  EXPECT_THAT(payloads,
              ::testing::ElementsAre(PayloadOf(kEndedExample), PayloadOf(kRefusedExample)));
}

TEST(ReportTest, WhatInitCannotHaveSeenIsRefused) {
  const auto refuses = [](auto change) {
    Seen seen = kSeenExample;
    change(seen);
    return Refuses(PayloadOf(seen));
  };
  EXPECT_FALSE(refuses([](Seen&) {}));
  EXPECT_TRUE(refuses([](Seen& s) { s.kind = SeenKind(0); }));
  EXPECT_TRUE(refuses([](Seen& s) { s.kind = SeenKind(5); }));
  EXPECT_TRUE(refuses([](Seen& s) { s.number = 4096; }));
  EXPECT_TRUE(refuses([](Seen& s) { s.times = 0; }));
  EXPECT_TRUE(refuses([](Seen& s) { s.path = "usr"; }));
  EXPECT_TRUE(refuses([](Seen& s) { s.path = ""; }));
  EXPECT_TRUE(refuses([](Seen& s) { s.kind = SeenKind::kCall; })) << "a call has no path";
  EXPECT_TRUE(refuses([](Seen& s) { s.path = "/" + std::string(kMaxSeenPath, 'x'); }));
  EXPECT_TRUE(refuses([](Seen& s) { s.program = std::string(kMaxSeenProgram + 1, 'x'); }));
  // The longest that init may send fits into its frame.
  Seen longest = kSeenExample;
  longest.path = "/" + std::string(kMaxSeenPath - 1, 'x');
  longest.program = std::string(kMaxSeenProgram, 'x');
  EXPECT_LE(EncodeReport(longest).size(), kMaxReport);
}

TEST(FrameBufferTest, SeveralFramesInOneReadComeOutOneByOne) {
  FrameBuffer buffer;
  buffer.Append(Header(1) + "a" + Header(2) + "bc" + Header(1));
  EXPECT_EQ(buffer.Next(), "a");
  EXPECT_EQ(buffer.Next(), "bc");
  EXPECT_EQ(buffer.Next(), "");
  buffer.Append("d");
  EXPECT_EQ(buffer.Next(), "d");
}

TEST(FrameBufferTest, RefusesEmptyMessages) {
  FrameBuffer buffer;
  buffer.Append(Header(0));
  EXPECT_EQ(buffer.Next().error().code, Errc::kProtocol);
}

TEST(FrameBufferTest, RefusesWhatIsTooLongBeforeItCame) {
  for (const std::uint32_t length : {kMaxFrame + 1, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
    FrameBuffer buffer;
    buffer.Append(Header(length));
    EXPECT_EQ(buffer.Next().error().code, Errc::kProtocol) << length;
  }
  FrameBuffer small(8);
  small.Append(Header(8) + "12345678" + Header(9));
  EXPECT_EQ(small.Next(), "12345678") << "the limit itself is fine";
  EXPECT_FALSE(small.Next());
}

TEST(DecodeReportTest, RefusesEveryTruncationAndAnythingBehind) {
  for (const Report& report : {Report(kEndedExample), Report(kRefusedExample)}) {
    const std::string payload = PayloadOf(report);
    for (std::size_t cut = 0; cut < payload.size(); ++cut) {
      EXPECT_TRUE(Refuses(payload.substr(0, cut))) << cut;
    }
    EXPECT_TRUE(Refuses(payload + '\0'));
    EXPECT_TRUE(Refuses(payload + payload));
  }
}

TEST(DecodeReportTest, RefusesUnknownKinds) {
  std::string payload = PayloadOf(kRefusedExample);
  for (int kind = 0; kind < 256; ++kind) {
    payload[0] = static_cast<char>(kind);
    EXPECT_EQ(Refuses(payload), kind != static_cast<int>(FromInit::kRefused)) << kind;
  }
}

TEST(DecodeReportTest, RefusesEndingsThatCannotBe) {
  const auto ended = [](EndKind kind, std::uint32_t status, EndCause cause = EndCause::kItself) {
    Ended example = kEndedExample;
    example.kind = kind;
    example.status = status;
    example.cause = cause;
    return PayloadOf(example);
  };
  for (const std::uint32_t status : {0U, 1U, 255U}) {
    EXPECT_FALSE(Refuses(ended(EndKind::kExited, status))) << status;
  }
  for (const std::uint32_t status : {256U, 0xFFFFFFFFU}) {
    EXPECT_TRUE(Refuses(ended(EndKind::kExited, status))) << status;
  }
  for (const std::uint32_t status : {1U, 64U}) {
    EXPECT_FALSE(Refuses(ended(EndKind::kSignalled, status))) << status;
  }
  for (const std::uint32_t status : {0U, 65U, 0xFFFFFFFFU}) {
    EXPECT_TRUE(Refuses(ended(EndKind::kSignalled, status))) << status;
  }
  EXPECT_TRUE(Refuses(ended(static_cast<EndKind>(0), 0)));
  EXPECT_TRUE(Refuses(ended(static_cast<EndKind>(3), 0)));
  EXPECT_FALSE(Refuses(ended(EndKind::kExited, 0, EndCause::kMemory)));
  EXPECT_TRUE(Refuses(ended(EndKind::kExited, 0, static_cast<EndCause>(5))));
}

TEST(DecodeReportTest, RefusesStepsAndErrorsThatCannotBe) {
  Refused refused = kRefusedExample;
  refused.step = InitStep::kExec;
  EXPECT_FALSE(Refuses(PayloadOf(refused)));
  refused.step = static_cast<InitStep>(static_cast<int>(InitStep::kRestore) + 1);
  EXPECT_TRUE(Refuses(PayloadOf(refused)));
  refused = kRefusedExample;
  refused.sys_errno = 4096;
  EXPECT_TRUE(Refuses(PayloadOf(refused)));
}

TEST(DecodeReportTest, RefusesEndsOfOtherProgramsThatCannotBe) {
  EXPECT_EQ(std::get<JoinEnded>(*DecodeReport(PayloadOf(kJoinEndedExample))), kJoinEndedExample);
  JoinEnded bad = kJoinEndedExample;
  bad.status = 256;
  EXPECT_TRUE(Refuses(PayloadOf(bad)));
  bad = kJoinEndedExample;
  bad.kind = EndKind::kSignalled;
  bad.status = 0;
  EXPECT_TRUE(Refuses(PayloadOf(bad)));
  bad = kJoinEndedExample;
  bad.sys_errno = 4096;
  EXPECT_TRUE(Refuses(PayloadOf(bad)));
}

TEST(DecodeReportTest, AStoppedPayloadIsNotAnEnd) {
  const Stopped stopped{.nonce = {5, 6}};
  const auto decoded = DecodeReport(PayloadOf(stopped));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(std::get<Stopped>(*decoded), stopped);
  EXPECT_FALSE(IsLast(*decoded));
  EXPECT_TRUE(IsLast(kRefusedExample));
  EXPECT_TRUE(Refuses(PayloadOf(stopped) + "x"));
}

TEST(EncodeJoinTest, RefusesWhatInitHasNoRoomFor) {
  EXPECT_TRUE(EncodeJoin(1, {"/bin/sh", "-c", std::string(3900, 'x')}));
  EXPECT_FALSE(EncodeJoin(1, {}));
  EXPECT_FALSE(EncodeJoin(1, {std::string(4096, 'x')}));
  EXPECT_FALSE(EncodeJoin(1, std::vector<std::string>(65, "x")));
  EXPECT_FALSE(EncodeJoin(1, {std::string("a\0b", 3)}));
}

TEST(EncodeStartTest, RefusesNulsWhereverTheyHide) {
  const std::string nul("a\0b", 3);
  Start starts[4];
  starts[0].argv = {"ok", nul};
  starts[1].env = {nul};
  starts[2].cwd = nul;
  starts[3].paths = {{PathRight::kRead, nul}};
  for (const Start& start : starts) {
    const auto encoded = EncodeStart(start);
    ASSERT_FALSE(encoded);
    EXPECT_EQ(encoded.error().code, Errc::kInvalidArgument);
    EXPECT_NE(encoded.error().hint, "");
  }
}

TEST(EncodeStartTest, RefusesMoreThanAFrameHolds) {
  Start start{.argv = {""}};
  const std::size_t rest = EncodeStart(start)->size() - kHeaderSize;
  start.argv[0].assign(kMaxFrame - rest, 'a');
  const auto largest = EncodeStart(start);
  ASSERT_TRUE(largest);
  EXPECT_EQ(largest->size(), kHeaderSize + kMaxFrame);
  start.argv[0] += 'a';
  EXPECT_EQ(EncodeStart(start).error().code, Errc::kExhausted);
}

TEST(EncodeSimpleTest, IsAFrameOfItsKindAlone) {
  EXPECT_EQ(EncodeSimple(ToInit::kInterrupt), Header(1) + "\x02");
  EXPECT_EQ(EncodeSimple(ToInit::kKill), Header(1) + "\x03");
}

}  // namespace
}  // namespace igloo::wire

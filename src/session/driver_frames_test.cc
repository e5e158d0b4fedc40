#include "session/driver_frames.h"

#include <gmock/gmock.h>

namespace igloo::session {
namespace {

std::string Frame(const std::string& kind, int id, const std::string& payload) {
  return kind + " " + std::to_string(id) + " " + std::to_string(payload.size()) + "\n" + payload;
}

TEST(DriverFramesTest, MessagesComeInAnyPieces) {
  const std::string all =
      Frame("ready", 0, R"({"pid":7})") +
      Frame("part", 7, R"({"type":"image/png","data":"AAH/","encoding":"base64"})") +
      Frame("done", 7, R"({"status":130,"value":"4","interrupted":true})");
  for (std::size_t step = 1; step < 20; ++step) {
    DriverFrames frames;
    std::vector<Said> said;
    for (std::size_t at = 0; at < all.size(); at += step) {
      frames.Append(std::string_view(all).substr(at, step));
      for (;;) {
        const auto next = frames.Next();
        ASSERT_TRUE(next) << next.error().what;
        if (!*next) break;
        said.push_back(**next);
      }
    }
    ASSERT_EQ(said.size(), 3U) << step;
    EXPECT_EQ(said[0], Said{said::Ready{7}});
    EXPECT_EQ(said[1], Said(said::Shown{7, {"image/png", std::string("\0\x01\xff", 3)}, 4}));
    EXPECT_EQ(said[2], Said(said::Done{.id = 7, .status = 130, .value = "4", .interrupted = true}));
  }
}

TEST(DriverFramesTest, NumbersOfProcessesAreThoseThatAProcessInsideCanHave) {
  const auto taken = [](std::string_view kind, const std::string& pid) {
    DriverFrames frames;
    frames.Append(Frame(std::string(kind), 0, R"({"pid":)" + pid + "}"));
    return frames.Next();
  };
  EXPECT_EQ(taken("standin", "7").value(), Said{said::StandsIn{7}});
  EXPECT_EQ(taken("standin", "0").value(), Said{said::StandsIn{0}}) << "there can be no child";
  EXPECT_FALSE(taken("ready", "0"));
  for (const char* pid : {"1", "-1", "4194304", "1180591620717411303424", "7.5", "\"7\"", "null"}) {
    EXPECT_FALSE(taken("standin", pid)) << pid;
    EXPECT_FALSE(taken("ready", pid)) << pid;
  }
}

TEST(DriverFramesTest, AnythingElseIsNonsense) {
  for (const std::string& text :
       {std::string("done\n"), std::string("done 1\n"), std::string("done x 2\n{}"),
        std::string("done 1 -2\n{}"), Frame("done", 1, "{}"), Frame("done", 1, "[]"),
        Frame("gone", 1, "{}"), Frame("done", 1, R"({"status":256})"),
        Frame("done", 1, R"({"status":"0"})"), std::string("done 1 99999999999\n"),
        Frame("part", 1, "{}"), Frame("ready", 0, "{}}"), std::string("\n"),
        std::string("done  1 2\n{}")}) {
    DriverFrames frames;
    frames.Append(text);
    EXPECT_FALSE(frames.Next()) << text;
  }
  DriverFrames endless;
  endless.Append(std::string(100, 'x'));
  EXPECT_FALSE(endless.Next());
  DriverFrames deep;
  deep.Append("done 1 100\n" + std::string(50, '[') + std::string(50, ']'));
  EXPECT_FALSE(deep.Next());
}

TEST(DriverFramesTest, ALongPartComesInPieces) {
  const std::string piece(600'000, 'A');
  const std::string all = Frame("piece", 7, R"({"data":")" + piece + R"("})") +
                          Frame("piece", 7, R"({"data":")" + piece + R"("})") +
                          Frame("part", 7,
                                R"({"type":"image/png","data":"AAH/","encoding":)"
                                R"("base64"})");
  DriverFrames frames;
  frames.Append(all);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(frames.Next().value(), Said(said::Piece{7, piece.size()})) << "each one is told of";
  }
  const auto said = frames.Next();
  ASSERT_TRUE(said) << said.error().what;
  const auto* shown = std::get_if<said::Shown>(&**said);
  ASSERT_NE(shown, nullptr);
  EXPECT_EQ(shown->part.bytes, std::string(900'000, '\0') + std::string("\0\x01\xff", 3));
  EXPECT_EQ(shown->last_bytes, 4U);
  EXPECT_EQ(frames.Next().value(), std::nullopt);
}

TEST(DriverFramesTest, NoMessageIsLongAndNothingElseIsRead) {
  const auto refused = [](const std::string& text) {
    DriverFrames frames;
    frames.Append(text);
    for (;;) {
      const auto next = frames.Next();
      if (!next) return true;
      if (!*next) return false;
    }
  };
  const std::string text = R"({"type":"text/plain","encoding":"utf-8","data":")";
  const auto part = [&](std::size_t size) {
    return Frame("part", 1, text + std::string(size - text.size() - 2, 'x') + "\"}");
  };
  EXPECT_FALSE(refused(part(DriverFrames::kLongestPayload)));
  EXPECT_TRUE(refused(part(DriverFrames::kLongestPayload + 1)));
  EXPECT_TRUE(refused("part 1 1048577\n")) << "before any of it has come";
  // Fields of no driver, and what is nested.
  EXPECT_TRUE(refused(Frame("done", 1, R"({"status":0,"more":1})")));
  EXPECT_TRUE(refused(Frame("done", 1, R"({"status":0,"":1})")));
  EXPECT_TRUE(refused(Frame("done", 1, R"({"status":0,"value":[1]})")));
  EXPECT_TRUE(refused(Frame("ready", 0, R"({"pid":7,"status":0})")));
  // Pieces that never become a part, or too large a one.
  const std::string piece =
      Frame("piece", 1, R"({"data":")" + std::string(1'000'000, 'x') + R"("})");
  std::string endless;
  for (std::size_t i = 0; i * 1'000'000 <= DriverFrames::kLongestPart; ++i) endless += piece;
  EXPECT_TRUE(refused(endless));
  EXPECT_TRUE(refused(piece + "exit 1 0\n"));
  EXPECT_TRUE(refused(piece + Frame("done", 1, R"({"status":0})")));
  EXPECT_TRUE(refused(piece + Frame("piece", 2, R"({"data":"x"})")));
  EXPECT_FALSE(refused(piece)) << "control";
}

TEST(DriverFramesTest, PiecesAreNeitherEmptyNorWithoutNumber) {
  const std::string small = Frame("piece", 1, R"({"data":"x"})");
  const std::string part = Frame("part", 1, R"({"type":"a","data":"","encoding":"utf-8"})");
  const auto taken = [](const std::string& text) {
    DriverFrames frames;
    frames.Append(text);
    std::size_t count = 0;
    for (;; ++count) {
      const auto next = frames.Next();
      if (!next) return std::pair(count, false);
      if (!*next) return std::pair(count, true);
    }
  };
  EXPECT_EQ(taken(Frame("piece", 1, R"({"data":""})")), std::pair(std::size_t{0}, false));
  EXPECT_EQ(taken(small + Frame("piece", 1, R"({"data":""})")), std::pair(std::size_t{1}, false));
  EXPECT_EQ(taken(part), std::pair(std::size_t{1}, true)) << "control: a part may be empty";
  std::string most;
  for (std::size_t i = 0; i < DriverFrames::kMostPieces; ++i) most += small;
  EXPECT_EQ(taken(most + part + most), std::pair(2 * DriverFrames::kMostPieces + 1, true))
      << "control: they are counted for each part";
  EXPECT_EQ(taken(most + small + part), std::pair(DriverFrames::kMostPieces, false));
}

TEST(DriverFramesTest, AnEndCanBeALine) {
  DriverFrames frames;
  frames.Append("exit 7 3\nexit 8 0\nexit 9");
  EXPECT_EQ(frames.Next().value(), Said(said::Done{.id = 7, .status = 3}));
  EXPECT_EQ(frames.Next().value(), Said(said::Done{.id = 8, .status = 0}));
  EXPECT_EQ(frames.Next().value(), std::nullopt);
  for (const char* text : {"exit \n", "exit 1\n", "exit 1 256\n", "exit 1 -1\n", "exit x 0\n",
                           "exit 1 0 1\n", "exit 1 0x\n"}) {
    DriverFrames nonsense;
    nonsense.Append(text);
    EXPECT_FALSE(nonsense.Next()) << text;
  }
}

TEST(DriverFramesTest, OrdersBeginWithALineOfAlwaysTheSameLength) {
  const auto line = [](std::string text) {
    text.resize(kOrderHeader - 1, ' ');
    return text + "\n";
  };
  EXPECT_EQ(EncodeOrder("run", 3, "a\nb", "echo"),
            line("run 3           3           echo") + "a\nb");
  EXPECT_EQ(EncodeOrder("fork", 0, "", "-"), line("fork 0           0           -"));
  const std::string_view nul("a\0b", 3);
  EXPECT_EQ(EncodeOrder("run", 12345678901, nul, "echo"),
            line("run 12345678901 3           echo,nul") + std::string(nul));
}

}  // namespace
}  // namespace igloo::session

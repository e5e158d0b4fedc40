#include "base/text.h"

#include <gtest/gtest.h>

#include <array>

namespace igloo {
namespace {

struct Row {
  std::string_view in;
  std::string_view out;
};

TEST(PrintableTest, LeavesTextAlone) {
  for (const std::string_view text :
       {"", "plain", "na\u00efve \u96ea \U0001F9CA", "\u00a0", "~ \\x1b"}) {
    EXPECT_EQ(Printable(text), text);
  }
}

TEST(PrintableTest, MakesEveryControlCharacterVisible) {
  using namespace std::string_view_literals;
  const Row rows[] = {{"\x1b[2J"sv, "\\x1b[2J"},
                      {"a\0b"sv, "a\\x00b"},
                      {"\x7f"sv, "\\x7f"},
                      {"\r\b"sv, "\\x0d\\x08"},
                      {"\u009b31m"sv, "\\xc2\\x9b31m"},  // CSI in one character
                      {"\u0080\u009f"sv, "\\xc2\\x80\\xc2\\x9f"}};
  for (const Row& row : rows) EXPECT_EQ(Printable(row.in), row.out);
  for (int byte = 0; byte < 0x20; ++byte) {
    const char c = static_cast<char>(byte);
    EXPECT_EQ(Printable({&c, 1}).size(), 4U) << byte;
  }
}

TEST(PrintableTest, MakesVisibleWhatShowsAnotherTextThanThereIs) {
  for (const std::string_view hidden :
       {"\u061c", "\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c",
        "\u202d", "\u202e", "\u2060", "\u2066", "\u2067", "\u2068", "\u2069", "\ufeff"}) {
    std::string visible;
    for (const char c : hidden) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      visible += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
    EXPECT_EQ(Printable(hidden), visible);
    EXPECT_EQ(Printable("a" + std::string(hidden) + "b", Newlines::kKeep), "a" + visible + "b");
  }
  EXPECT_EQ(Printable("/tmp/\u202egpj.sh"), "/tmp/\\xe2\\x80\\xaegpj.sh");
}

TEST(PrintableTest, LeavesTheirNeighboursAlone) {
  for (const std::string_view text :
       {"\u00a0", "\u061b", "\u061d", "\u200a", "\u2010", "\u2029", "\u202f", "\u205f", "\u2061",
        "\u2065", "\u206a", "\ufefe", "\uff00", "\U00010000", "\U0001feff"}) {
    EXPECT_EQ(Printable(text), text);
  }
}

TEST(PrintableTest, MakesBytesThatAreNotTextVisible) {
  EXPECT_EQ(Printable("a\xff\xc3"), "a\\xff\\xc3");
  EXPECT_EQ(Printable("\x9b"), "\\x9b") << "CSI for terminals that speak Latin-1";
}

TEST(PrintableTest, KeepsLinesOnlyWhenAsked) {
  EXPECT_EQ(Printable("a\n\tb"), "a\\x0a\\x09b");
  EXPECT_EQ(Printable("a\n\tb\r", Newlines::kKeep), "a\n\tb\\x0d");
}

TEST(ToUtf8Test, KeepsValidTextOfEveryLength) {
  for (const std::string_view text : {"", "a", "\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000",
                                      "\uffff", "\U00010000", "\U0010ffff"}) {
    EXPECT_EQ(ToUtf8(text), text);
    EXPECT_TRUE(IsUtf8(text));
  }
}

TEST(ToUtf8Test, ReplacesEveryOffendingByte) {
#define R "\xEF\xBF\xBD"
  const Row rows[] = {
      {"\x80", R},                    // a continuation without a start
      {"\xff\xfe", R R},              // never part of UTF-8
      {"\xc0\xaf", R R},              // overlong '/'
      {"\xc1\xbf", R R},              // overlong DEL
      {"\xe0\x9f\xbf", R R R},        // overlong U+07FF
      {"\xf0\x8f\xbf\xbf", R R R R},  // overlong U+FFFF
      {"\xed\xa0\x80", R R R},        // a surrogate
      {"\xed\xbf\xbf", R R R},        // the last surrogate
      {"\xf4\x90\x80\x80", R R R R},  // beyond U+10FFFF
      {"\xf5\x80\x80\x80", R R R R},  // so is every lead above
      {"\xc3", R},                    // cut short, 1 of 2
      {"\xe2\x82", R R},              // 2 of 3
      {"\xf0\x9f\xa7", R R R},        // 3 of 4
      {"\xc3(", R "("},               // what follows a bad lead survives
      {"\xe2\x82"
       "A",
       R R "A"},
      {"a\xffz", "a" R "z"},
  };
#undef R
  for (const Row& row : rows) {
    EXPECT_EQ(ToUtf8(row.in), row.out);
    EXPECT_FALSE(IsUtf8(row.in));
    // Wherever it stands among much that is plain.
    for (std::size_t before = 0; before < 20; ++before) {
      const std::string plain(before, 'x');
      EXPECT_EQ(ToUtf8(plain + std::string(row.in) + plain), plain + std::string(row.out) + plain);
    }
  }
}

TEST(ToUtf8Test, ItsOwnOutputIsAlwaysValid) {
  std::string every;
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) every += {static_cast<char>(a), static_cast<char>(b)};
  }
  const std::string once = ToUtf8(every);
  EXPECT_EQ(ToUtf8(once), once);
}

TEST(QuotedTest, RepeatsShortTextAndCutsLongTextBetweenCharacters) {
  const Row rows[] = {{"", ""},
                      {"abcd", "abcd"},
                      {"abcde", "abcd... (5 bytes)"},
                      {"ab\u96eac", "ab... (6 bytes)"},
                      {"a\u96eac", "a\u96ea... (5 bytes)"},
                      {"\U0001F9CA\U0001F9CA", "\U0001F9CA... (8 bytes)"},
                      {"a\U0001F9CA", "a... (5 bytes)"},
                      {"\x80\x80\x80\x80\x80\x80", "\x80... (6 bytes)"}};
  for (const Row& row : rows) EXPECT_EQ(Quoted(row.in, 4), row.out);
  EXPECT_EQ(Quoted(std::string(9'000'000, 'x')), std::string(200, 'x') + "... (9000000 bytes)");
}

TEST(ShellQuoteTest, QuotesOnlyWhatNeedsIt) {
  const Row rows[] = {{"plain", "plain"},
                      {"/a-b_c.d=e:f,g@h%i+1", "/a-b_c.d=e:f,g@h%i+1"},
                      {"", "''"},
                      {"a b", "'a b'"},
                      {"$HOME", "'$HOME'"},
                      {"`id`", "'`id`'"},
                      {"~", "'~'"},
                      {"a\nb", "'a\nb'"},
                      {"it's", "'it'\\''s'"},
                      {"'", "''\\'''"}};
  for (const Row& row : rows) EXPECT_EQ(ShellQuote(row.in), row.out);
}

TEST(HumanBytesTest, UsesTheLargestWholeUnit) {
  EXPECT_EQ(HumanBytes(0), "0 bytes");
  EXPECT_EQ(HumanBytes(1023), "1023 bytes");
  EXPECT_EQ(HumanBytes(1024), "1 KB");
  EXPECT_EQ(HumanBytes(1025), "1025 bytes");
  EXPECT_EQ(HumanBytes(64ULL << 10), "64 KB");
  EXPECT_EQ(HumanBytes(256ULL << 20), "256 MB");
  EXPECT_EQ(HumanBytes((256ULL << 20) + 1024), "262145 KB");
  EXPECT_EQ(HumanBytes(3ULL << 30), "3 GB");
}

TEST(NearestTest, FindsWhatIsAtMostTwoEditsAway) {
  constexpr std::array<std::string_view, 3> kNames = {"python", "node", "shell"};
  const auto nearest = [&](std::string_view word) {
    return Nearest(word, kNames.data(), kNames.size());
  };
  EXPECT_EQ(nearest("python"), "python");
  EXPECT_EQ(nearest("pyhton"), "python") << "swapped letters are two edits";
  EXPECT_EQ(nearest("pythn"), "python");
  EXPECT_EQ(nearest("nodejs"), "node");
  EXPECT_EQ(nearest("shel"), "shell");
  EXPECT_EQ(nearest("ruby"), "");
  EXPECT_EQ(nearest("pyt"), "") << "three edits are too many";
  EXPECT_EQ(Nearest("python", nullptr, 0), "");
}

TEST(NearestTest, PrefersTheCloserAndThenTheFirst) {
  constexpr std::array<std::string_view, 3> kNames = {"abcd", "abcx", "abce"};
  EXPECT_EQ(Nearest("abcx", kNames.data(), kNames.size()), "abcx");
  EXPECT_EQ(Nearest("abcy", kNames.data(), kNames.size()), "abcd");
}

TEST(Text, OnlyLettersOfAsciiBecomeSmall) {
  EXPECT_EQ(AsciiLower("Host-1 \xc3\x84@[Z"), "host-1 \xc3\x84@[z");
}

}  // namespace
}  // namespace igloo

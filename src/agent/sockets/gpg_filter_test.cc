#include "agent/sockets/gpg_filter.h"

#include <gmock/gmock.h>

namespace igloo::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GpgFiltered : public ::testing::Test {
 protected:
  std::vector<std::string> notes_ = {};
  GpgFilter filter_{[this](std::string_view event, std::string_view what) {
    notes_.push_back(std::string(event) + ": " + std::string(what));
  }};
  Passed Say(const std::string& text) { return filter_.FromClient(text).value(); }
  void Hear(const std::string& text) {
    EXPECT_EQ(filter_.FromServer(text).value().to_client, text);
  }
};

TEST_F(GpgFiltered, PassesWhatSigningTakes) {
  const std::string words =
      "RESET\nOPTION ttyname=/dev/pts/1\nGETINFO version\nHAVEKEY --list=1000\nKEYINFO 00AA\n"
      "SIGKEY 00AA\nSETKEYDESC x\nSETHASH 8 00\nPKSIGN\nBYE\n";
  const Passed passed = Say(words);
  EXPECT_EQ(passed.to_server, words);
  EXPECT_EQ(passed.to_client, "");
}

TEST_F(GpgFiltered, NotesASignatureThatTheAgentMade) {
  Hear("OK Pleased to meet you\n");
  Say("RESET\nSIGKEY 00AA\nSETHASH 8 00\nPKSIGN\n");
  Hear("OK\nOK\nOK\nS PROGRESS x\nD (7:sig-");
  EXPECT_THAT(notes_, ElementsAre()) << "it is not whole yet";
  Hear("val)\nOK\n");
  EXPECT_THAT(notes_, ElementsAre("signed: with the key '00AA'"));
}

TEST_F(GpgFiltered, NotesNoSignatureThatWasOnlyAskedFor) {
  Hear("OK Pleased to meet you\n");
  for (int i = 0; i < 1000; ++i) {
    Say("PKSIGN\n");
    Hear("ERR 67108881 No secret key <GPG Agent>\n");
  }
  Say("SIGKEY 00AA\nPKSIGN\n");
  Hear("OK\nINQUIRE PASSPHRASE\n");
  EXPECT_EQ(Say("D x\nEND\n").to_server, "D x\nEND\n");
  Hear("OK\n");
  EXPECT_THAT(notes_, ElementsAre()) << "an answer without data is no signature";
}

TEST_F(GpgFiltered, NotesASignatureBehindRepliesThatNobodyAskedFor) {
  Hear("OK Pleased to meet you\n");
  const Passed passed = Say("SIGKEY 00AA\nEND\nCAN\nD x\nPKSIGN\n");
  EXPECT_EQ(passed.to_server, "SIGKEY 00AA\nPKSIGN\n");
  Hear("OK\nD (7:sig-val)\nOK\n");
  EXPECT_THAT(notes_, ::testing::Contains("signed: with the key '00AA'"));
}

TEST_F(GpgFiltered, EndsTheConnectionOfAClientThatReadsNoAnswers) {
  std::string words;
  for (int i = 0; i < 100; ++i) words += "PKSIGN\n";
  EXPECT_FALSE(filter_.FromClient(words));
}

TEST_F(GpgFiltered, RefusesWhateverElseAKeyCanDo) {
  for (const char* word : {"PKDECRYPT",
                           "SETKEY 00",
                           "GENKEY",
                           "PASSWD 00",
                           "EXPORT_KEY 00",
                           "IMPORT_KEY",
                           "DELETE_KEY 00",
                           "KEYWRAP_KEY --export",
                           "LEARN",
                           "SCD SERIALNO",
                           "PRESET_PASSPHRASE x",
                           "GET_PASSPHRASE x",
                           "CLEAR_PASSPHRASE x",
                           "KILLAGENT",
                           "RELOADAGENT",
                           "KEYATTR 00",
                           "KEYTOCARD x",
                           "GETINFO socket_name",
                           "pksign",
                           " PKSIGN",
                           ""}) {
    const Passed passed = Say(std::string(word) + "\n");
    EXPECT_EQ(passed.to_server, "") << word;
    EXPECT_THAT(passed.to_client, HasSubstr("ERR ")) << word;
  }
}

TEST_F(GpgFiltered, UnderstandsLinesInAnyPieces) {
  EXPECT_EQ(Say("PKSI").to_server, "");
  EXPECT_EQ(Say("GN\nPKDEC").to_server, "PKSIGN\n");
  EXPECT_THAT(Say("RYPT\n").to_client, HasSubstr("Forbidden"));
}

TEST_F(GpgFiltered, EndsTheConnectionOverALineThatIsTooLong) {
  EXPECT_FALSE(filter_.FromClient("D " + std::string(2000, 'x')));
  EXPECT_FALSE(GpgFilter([](auto, auto) {}).FromClient("D " + std::string(2000, 'x') + "\nBYE\n"));
}

}  // namespace
}  // namespace igloo::agent

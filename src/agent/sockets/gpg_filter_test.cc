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
};

TEST_F(GpgFiltered, PassesWhatSigningTakes) {
  const std::string words =
      "RESET\nOPTION ttyname=/dev/pts/1\nGETINFO version\nHAVEKEY --list=1000\nKEYINFO 00AA\n"
      "SIGKEY 00AA\nSETKEYDESC x\nSETHASH 8 00\nPKSIGN\nEND\nBYE\n";
  const Passed passed = Say(words);
  EXPECT_EQ(passed.to_server, words);
  EXPECT_EQ(passed.to_client, "");
  EXPECT_THAT(notes_, ElementsAre("signed: with gpg-agent"));
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

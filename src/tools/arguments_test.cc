#include "tools/arguments.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "service/given_path.h"

namespace igloo::tools {
namespace {

using ::testing::HasSubstr;

Result<RunArguments> Read(std::string_view text) {
  return ReadArguments(boost::json::parse(text).as_object());
}

std::string Problem(std::string_view text) {
  const auto read = Read(text);
  return read ? "none" : read.error().what + "; " + read.error().hint;
}

TEST(ArgumentsTest, EverythingArrives) {
  const auto read = Read(R"({"code": "print 1", "env": "python", "session": "s",
    "timeout_seconds": 1.5, "max_output": 500,
    "files": [{"path": "a/b.txt", "content": "x"}, {"path": "c.bin", "base64": "AAH/"}]})");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->code, "print 1");
  EXPECT_EQ(read->environment, "python");
  EXPECT_EQ(read->session, "s");
  EXPECT_EQ(read->time_ms, 1500U);
  EXPECT_EQ(read->max_output, 500U);
  ASSERT_EQ(read->files.size(), 2U);
  EXPECT_EQ(read->files[0].path, "a/b.txt");
  EXPECT_EQ(read->files[1].content, std::string("\0\x01\xff", 3));
}

TEST(ArgumentsTest, OlderNamesAndNullsAreUnderstood) {
  const auto read = Read(R"({"command": "ls", "environment": "shell", "session": null})");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->code, "ls");
  EXPECT_EQ(read->environment, "shell");
  EXPECT_FALSE(read->session);
  EXPECT_TRUE(Read(R"({"code": "x", "command": "x", "env": "shell"})"));
  EXPECT_THAT(Problem(R"({"code": "x", "command": "y", "env": "shell"})"),
              HasSubstr("different things"));
}

TEST(ArgumentsTest, EmptyCodeIsCode) { EXPECT_TRUE(Read(R"({"code": "", "env": "shell"})")); }

TEST(ArgumentsTest, EveryMistakeIsNamed) {
  EXPECT_THAT(Problem(R"({"env": "shell"})"), HasSubstr("'code' is missing"));
  EXPECT_THAT(Problem(R"({"code": "x"})"), HasSubstr("'env' is missing"));
  EXPECT_THAT(Problem(R"({"code": 1, "env": "shell"})"),
              HasSubstr("'code' must be a string, and is a number"));
  EXPECT_THAT(Problem(R"({"code": "", "env": "s", "timeout": 1})"),
              HasSubstr("there is no argument 'timeout'"));
  EXPECT_THAT(Problem(R"({"code": "", "env": "s", "sesion": "x"})"),
              HasSubstr("did you mean 'session'?"));
  for (const char* number : {"0", "-1", "3601", "1e300"}) {
    EXPECT_THAT(
        Problem(std::string(R"({"code": "", "env": "s", "timeout_seconds": )") + number + "}"),
        HasSubstr("at most 3600"))
        << number;
  }
  EXPECT_THAT(Problem(R"({"code": "", "env": "s", "timeout_seconds": "5"})"),
              HasSubstr("must be a number, and is a string"));
  EXPECT_THAT(Problem(R"({"code": "", "env": "s", "max_output": 99})"), HasSubstr("100 to"));
  EXPECT_THAT(Problem(R"({"code": "", "env": "s", "files": {}})"), HasSubstr("an array"));
  EXPECT_THAT(Problem(R"({"code": "", "env": "s", "files": ["x"]})"), HasSubstr("files[0]"));
  EXPECT_THAT(Problem(R"({"code": "", "env": "s", "files": [{"path": "x"}]})"),
              HasSubstr("either 'content' or 'base64'"));
  EXPECT_THAT(
      Problem(R"({"code": "", "env": "s", "files": [{"path": "x", "content": "", "base64": ""}]})"),
      HasSubstr("either 'content' or 'base64'"));
  EXPECT_THAT(Problem(R"({"code": "", "env": "s", "files": [{"path": "x", "base64": "?"}]})"),
              HasSubstr("not valid base64"));
  EXPECT_THAT(Problem(R"({"code": "", "env": "s", "files": [{"path": "x", "text": "?"}]})"),
              HasSubstr("has no 'text'"));
  EXPECT_THAT(Problem(R"({"code": "", "env": "s",
                          "files": [{"path": "x", "content": ""}, {"path": "x", "content": ""}]})"),
              HasSubstr("given twice"));
}

TEST(ArgumentsTest, PathsStayInside) {
  for (const std::string& path :
       {std::string("../x"), std::string("/etc/passwd"), std::string("a/../../x"), std::string(""),
        std::string("a//b"), std::string("./x"), std::string("a/"), std::string("a\0b", 3),
        std::string(".."), std::string(300, 'x'), "a/" + std::string(1200, 'x')}) {
    EXPECT_FALSE(service::CheckGivenPath(path)) << path;
  }
  for (const char* path : {"x", "a/b/c.txt", "..x", "a/...", "name with blanks", ".hidden"}) {
    EXPECT_TRUE(service::CheckGivenPath(path)) << path;
  }
}

TEST(ArgumentsTest, ErrorsRepeatOnlyALittleOfWhatCame) {
  const std::string long_one(1U << 20, 'x');
  const boost::json::object file{{"path", long_one}, {"content", ""}};
  const boost::json::object odd{{long_one, ""}};
  for (const boost::json::object& arguments :
       {boost::json::object{{long_one, 1}},
        boost::json::object{{"code", ""}, {"env", "x"}, {"files", boost::json::array{file}}},
        boost::json::object{{"code", ""}, {"env", "x"}, {"files", boost::json::array{odd}}}}) {
    const auto read = ReadArguments(arguments);
    ASSERT_FALSE(read);
    EXPECT_LT(read.error().what.size(), 400U);
    EXPECT_LT(read.error().hint.size(), 400U);
  }
}

TEST(ArgumentsTest, AnActionNeedsNoCode) {
  const auto list = Read(R"({"session_action": "list"})");
  ASSERT_TRUE(list) << list.error().what;
  EXPECT_EQ(list->action, SessionAction::kList);
  const auto close = Read(R"({"session_action": "close", "session": "s", "env": "x", "code": ""})");
  ASSERT_TRUE(close) << close.error().what;
  EXPECT_EQ(close->action, SessionAction::kClose);
  EXPECT_EQ(close->session, "s");
  EXPECT_FALSE(Read(R"({"session_action": "", "code": "1", "env": "python"})")->action);
  EXPECT_THAT(Problem(R"({"session_action": "reset"})"),
              HasSubstr("'session' is missing; name the session to reset"));
  EXPECT_THAT(Problem(R"({"session_action": "stop", "session": "s"})"),
              HasSubstr("those that there are: close, reset, interrupt, list"));
  EXPECT_THAT(Problem(R"({"session_action": "reset", "session": "s", "code": "1"})"),
              HasSubstr("cannot come in one call"));
}

TEST(ArgumentsTest, NothingIsAsGoodAsAbsent) {
  const auto read = Read(R"({"code": "1", "env": "python", "session": "", "fork_of": "",
                             "session_action": "", "echo": true})");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_FALSE(read->session || read->fork_of || read->action);
  EXPECT_THAT(Problem(R"({"session_action": "reset", "session": ""})"),
              HasSubstr("'session' is missing"));
}

TEST(ArgumentsTest, EchoIsForSessions) {
  EXPECT_EQ(Read(R"({"code": "1", "env": "python", "session": "s", "echo": false})")->echo, false);
  EXPECT_TRUE(Read(R"({"code": "1", "env": "python", "echo": false})"));
  EXPECT_TRUE(Read(R"({"code": "1", "env": "python", "echo": true})")) << "the default is";
  EXPECT_THAT(Problem(R"({"code": "1", "env": "python", "session": "s", "echo": 1})"),
              HasSubstr("'echo' must be true or false"));
}

}  // namespace
}  // namespace igloo::tools

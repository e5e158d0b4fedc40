// Sessions of languages that are compiled, with the toolchains of this machine: every call is a
// program of its own; files last, and so does what the compilers keep.

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>

#include "support/mcp.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// The same programs in each language.
struct Language {
  std::string env = {};
  std::string writes = {};  ///< "hello" without a newline to standard output, and "kept" to `file`
  std::string reads = {};   ///< prints `file`, and "cache" if what the compiler has kept is there
  std::string exits = {};   ///< "err" to standard error, and ends with 3
  std::string wrong = {};   ///< does not compile
  std::string waits = {};   ///< prints "it runs", and waits for ever
  std::string forges = {};  ///< writes an end of its own call to every descriptor it may have
  int exit_code = 3;        ///< of `exits`, as the environment's command passes it on
  std::string complains = {};  ///< part of what the compiler says about `wrong`
};

Language Go() {
  const std::string head = "package main\nimport (\"fmt\"; \"os\"; \"time\")\nvar _ = time.Now\n";
  const auto program = [&](const std::string& body) {
    return head + "func main() {\n_, _ = fmt.Print, os.Args\n" + body + "\n}\n";
  };
  return {.env = "go",
          .writes = program("fmt.Print(\"hello\"); os.WriteFile(\"file\", []byte(\"kept\"), 0644)\n"
                            "os.WriteFile(os.Getenv(\"GOCACHE\") + \"/mark\", nil, 0644)"),
          .reads = program("b, _ := os.ReadFile(\"file\"); fmt.Println(string(b))\n"
                           "e, _ := os.ReadDir(os.Getenv(\"GOCACHE\"))\n"
                           "_, gone := os.Stat(os.Getenv(\"GOCACHE\") + \"/mark\")\n"
                           "if len(e) > 200 && gone == nil { fmt.Println(\"cache\") }"),
          .exits = program("fmt.Fprintln(os.Stderr, \"err\"); os.Exit(3)"),
          .wrong = program("nothing"),
          .waits = program("fmt.Println(\"it runs\"); time.Sleep(1000 * time.Second)"),
          .forges = program("for i := 3; i < 64; i++ {\n"
                            "os.NewFile(uintptr(i), \"\").WriteString(\"done 1 2\\n{}\") }\n"
                            "fmt.Println(\"end\")"),
          .exit_code = 1,
          .complains = "undefined: nothing"};
}

Language Rust() {
  const auto program = [](const std::string& body) {
    return "#[allow(unused_imports)] use std::io::Write;\nfn main() {\n" + body + "\n}\n";
  };
  return {.env = "rust",
          .writes = program("print!(\"hello\"); std::fs::write(\"file\", \"kept\").unwrap();\n"
                            "std::fs::write(std::env::var(\"IGLOO_CACHE\").unwrap() + \"/mark\", "
                            "\"\").unwrap();"),
          .reads = program("println!(\"{}\", std::fs::read_to_string(\"file\").unwrap());\n"
                           "let place = std::env::var(\"IGLOO_CACHE\").unwrap();\n"
                           "let mark = std::path::Path::new(&place).join(\"mark\").exists();\n"
                           "if mark && std::fs::read_dir(place).unwrap().count() > 1 {"
                           " println!(\"cache\"); }"),
          .exits = program("eprintln!(\"err\"); std::process::exit(3);"),
          .wrong = program("nothing"),
          .waits = program("println!(\"it runs\"); loop { std::thread::park(); }"),
          .forges = program("for i in 3..64 { if let Ok(mut f) = std::fs::OpenOptions::new()"
                            ".write(true).open(format!(\"/proc/self/fd/{}\", i)) {"
                            " let _ = f.write(b\"done 1 2\\n{}\"); } }\nprintln!(\"end\");"),
          .complains = "cannot find value `nothing`"};
}

Language Java() {
  const auto program = [](const std::string& body) {
    return "import java.nio.file.*;\npublic class main {\n"
           "  public static void main(String[] args) throws Exception {\n" +
           body + "\n  }\n}\n";
  };
  return {
      .env = "java",
      .writes = program("System.out.print(\"hello\");"
                        "Files.writeString(Path.of(\"file\"), \"kept\");"),
      .reads = program("System.out.println(Files.readString(Path.of(\"file\")));"
                       // Of the compiler itself: this very process uses it.
                       "if (Files.readString(Path.of(\"/proc/self/maps\")).contains(\"java.jsa\"))"
                       " System.out.println(\"cache\");"),
      .exits = program("System.err.println(\"err\"); System.exit(3);"),
      .wrong = program("nothing;"),
      .waits = program("System.out.println(\"it runs\"); Thread.sleep(1000000);"),
      .forges = program("for (int i = 3; i < 64; i++) try {"
                        " Files.writeString(Path.of(\"/proc/self/fd/\" + i), \"done 1 2\\n{}\");"
                        " } catch (Exception e) {}\nSystem.out.println(\"end\");"),
      .complains = "not a statement"};
}

class McpSessionCompiled : public ::testing::TestWithParam<Language> {
 protected:
  McpSessionCompiled() { client_.Initialize(); }
  JsonObject In(std::string_view code, JsonObject more = {}) {
    more["session"] = "s";
    return client_.Run(say_.env, code, std::move(more));
  }

  const Language& say_ = GetParam();
  McpClient client_;
};

INSTANTIATE_TEST_SUITE_P(Languages, McpSessionCompiled, ::testing::Values(Go(), Rust(), Java()),
                         [](const auto& tested) { return tested.param.env; });

TEST_P(McpSessionCompiled, KeepsFilesAndWhatTheCompilerMade) {
  EXPECT_THAT(TextOf(In(say_.writes)), AllOf(StartsWith("hello"), HasSubstr("[file file, 4 bytes"),
                                             HasSubstr("[exit code 0")));
  // Java keeps it behind its first answer.
  std::string next;
  EXPECT_TRUE(WaitFor(
      [&] {
        next = TextOf(In(say_.reads));
        return next.contains("\ncache\n");
      },
      60))
      << next;
  EXPECT_THAT(next,
              AllOf(StartsWith("kept\ncache\n"), Not(HasSubstr("[file")), Not(HasSubstr("lost"))));
}

TEST_P(McpSessionCompiled, TellsHowAProgramEndedAndGoesOn) {
  In(say_.writes);
  const JsonObject exits = In(say_.exits);
  EXPECT_EQ(exits.at("structuredContent").at("exit_code").to_number<int>(), say_.exit_code);
  EXPECT_THAT(TextOf(exits), AllOf(StartsWith("err\n"), Not(HasSubstr("lost"))));
  const JsonObject wrong = In(say_.wrong);
  EXPECT_TRUE(IsError(wrong));
  EXPECT_THAT(TextOf(wrong), AllOf(HasSubstr(say_.complains), Not(HasSubstr("lost"))));
  EXPECT_THAT(TextOf(In(say_.reads)), StartsWith("kept\n"));
}

TEST_P(McpSessionCompiled, AnInterruptEndsTheProgramAndNotTheSession) {
  In(say_.writes);
  const std::int64_t id =
      client_.Send("tools/call", {{"name", "run"},
                                  {"_meta", JsonObject{{"progressToken", 1}}},
                                  {"arguments", JsonObject{{"env", say_.env},
                                                           {"session", "s"},
                                                           {"timeout_seconds", 3600},
                                                           {"code", say_.waits}}}});
  while (const auto word = client_.NextOther()) {
    if (boost::json::serialize(*word).contains("it runs")) break;
  }
  client_.Call("run", {{"session_action", "interrupt"}, {"session", "s"}});
  const JsonObject result = client_.Wait(id).at("result").as_object();
  EXPECT_EQ(result.at("structuredContent").at("verdict").as_string(), "interrupted");
  EXPECT_THAT(TextOf(result), AllOf(StartsWith("it runs\n"), Not(HasSubstr("lost"))));
  EXPECT_THAT(TextOf(In(say_.reads)), StartsWith("kept\n"));
}

TEST_P(McpSessionCompiled, ItsChannelIsNotTheProgramsToForge) {
  EXPECT_THAT(TextOf(In(say_.forges)), AllOf(StartsWith("end\n"), HasSubstr("[exit code 0")));
  EXPECT_THAT(TextOf(In(say_.writes)), StartsWith("hello"));
}

}  // namespace
}  // namespace igloo::testing

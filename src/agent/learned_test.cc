#include "agent/learned.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "config/toml.h"

namespace igloo::agent {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class LearnedTest : public ::testing::Test {
 protected:
  static Box BoxOfAnn() {
    Box box{.project = "/home/ann/p", .home = "/home/ann"};
    box.program.path = "/usr/bin/bash";
    return box;
  }
  void Reach(std::string host, std::uint16_t port = 443) {
    learned_.Take(
        {.event = network::Record::Event::kOpened, .host = std::move(host), .port = port});
  }
  void Use(std::string path, bool written, int error, std::string program = "/usr/bin/git") {
    learned_.Take({.path = std::move(path),
                   .program = std::move(program),
                   .written = written,
                   .error = error});
  }
  std::string Toml(const std::string& agent = {}) {
    const std::string text = learned_.Toml(agent, refused_);
    const auto parsed = config::ParseToml(text);
    EXPECT_TRUE(parsed) << text;
    return text;
  }
  Box box_ = BoxOfAnn();
  sandbox::Plan plan_ = {};
  BoxPlaces places_{box_, plan_, [](const std::string& path) {
                      return path.starts_with("/home/ann/.cargo") || path.starts_with("/srv/");
                    }};
  Learned learned_{box_, places_};
  BoxRefusals refused_{.box = "bash-p"};
};

TEST_F(LearnedTest, NamesDomainsDirectoriesAndPrograms) {
  Reach("mirror.example.org");
  Reach("mirror.example.org");
  Reach("2606::1", 8443);
  Use("/home/ann/.cache/pip/x", true, 0);
  Use("/home/ann/p/made", true, 0);
  Use("/home/ann/.cargo/config.toml", false, ENOENT, "/usr/bin/cargo");
  Use("/srv/data", false, ENOENT);
  const std::string text = Toml();
  EXPECT_THAT(text,
              AllOf(HasSubstr("[agents.bash]\nprogram = \"/usr/bin/bash\"\n"),
                    HasSubstr("allow = [\n  \"[2606::1]:8443\",\n  \"mirror.example.org:443\",\n]"),
                    HasSubstr("home = [\n  \".cache/pip\",\n]"),
                    HasSubstr("#   /home/ann/.cargo\n#   /srv/data\n"),
                    HasSubstr("#   /usr/bin/cargo\n#   /usr/bin/git\n")));
  EXPECT_THAT(text, Not(HasSubstr("made")));
}

TEST_F(LearnedTest, AnAgentOfAProfileKeepsItsProgram) {
  EXPECT_THAT(Toml("codex"), AllOf(HasSubstr("[agents.codex]"), Not(HasSubstr("program ="))));
}

TEST_F(LearnedTest, DirectoriesWithKeysAreNoLineThatCounts) {
  Use("/home/ann/.ssh/authorized_keys", true, 0);
  EXPECT_THAT(Toml(), AllOf(HasSubstr("#   .ssh\n"), Not(HasSubstr("home = "))));
}

TEST_F(LearnedTest, NoNameOfTheBoxsBecomesALineOfItsOwn) {
  const std::string evil =
      "x\"]\nallow = [\"evil.example\"]\n[agents.claude]\nprogram = \"/evil\" \\";
  Use("/home/ann/" + evil + "/y", true, 0, "/" + evil);
  Use("/srv/" + evil, false, ENOENT);
  refused_.list.Add({.kind = RefusalKind::kWrite, .what = evil, .remedy = evil});
  const std::string text = Toml();
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\nallow")), Not(HasSubstr("\n[agents.claude]")),
                          Not(HasSubstr("\nprogram = \"/evil"))));
}

TEST_F(LearnedTest, AFloodHasBounds) {
  for (int i = 0; i < 100'000; ++i) {
    Use("/home/ann/d" + std::to_string(i) + "/x", true, 0, "/bin/p" + std::to_string(i));
  }
  Use("/home/ann/" + std::string(5000, 'x') + "/y", true, 0);
  const std::string text = Toml();
  EXPECT_LT(text.size(), 64U << 10);
  EXPECT_THAT(text, HasSubstr("more are not shown"));
}

}  // namespace
}  // namespace igloo::agent

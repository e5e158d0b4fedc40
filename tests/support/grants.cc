#include "support/grants.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "agent/sockets/ssh_protocol.h"
#include "base/base64.h"

namespace igloo::testing {

namespace fs = std::filesystem;

void WithGrants::SetUp() {
  Configured::SetUp();
  fs::create_directories(Path("p"));
  fs::create_directories(Path(".ssh"));
  fs::permissions(Path(".ssh"), fs::perms::owner_all);
}

void WithGrants::TearDown() {
  if (gpg_) Host({"gpgconf", "--kill", "all"}, {GpgVariable()});
}

Outcome WithGrants::Host(std::vector<std::string> words, std::vector<std::string> env) const {
  env.insert(env.end(), {"PATH=/usr/bin:/bin", "HOME=" + Path("")});
  std::vector<std::string> args = {"-C", Path("p")};
  args.insert(args.end(), words.begin(), words.end());
  return RunProgram({.program = "/usr/bin/env", .args = std::move(args), .env = std::move(env)});
}

std::string WithGrants::MustHost(std::vector<std::string> words,
                                 std::vector<std::string> env) const {
  const std::string first = words.front();
  const Outcome outcome = Host(std::move(words), std::move(env));
  EXPECT_EQ(outcome.status, 0) << first << ": " << outcome.err;
  return outcome.out;
}

Outcome WithGrants::Box(std::vector<std::string> options, const std::string& script,
                        std::vector<std::string> env) const {
  std::vector<std::string> args = {"agent",     "--cmd", "bash",      "--yes",
                                   "--network", "none",  "--project", Path("p")};
  args.insert(args.end(), options.begin(), options.end());
  args.insert(args.end(), {"--", "-c", script});
  return Run(std::move(args), std::move(env));
}

void WithGrants::StartSshAgent(const std::vector<std::string>& comments) {
  ssh_agent_.emplace(
      Invocation{.program = "/usr/bin/ssh-agent", .args = {"-D", "-a", Path("agent.sock")}});
  ASSERT_TRUE(WaitFor([&] { return fs::exists(Path("agent.sock")); }));
  for (const std::string& each : comments) {
    MakeSshKey(each);
    MustHost({"ssh-add", "-q", Path(".ssh/" + each)}, {SshVariable()});
    // Signing takes the public half.
    fs::copy_file(Path(".ssh/" + each + ".pub"), Path("p/" + each + ".pub"));
  }
}

void WithGrants::MakeSshKey(const std::string& name) const {
  const Outcome made = Box({}, "ssh-keygen -q -t ed25519 -N '' -C " + name + " -f " + name);
  ASSERT_EQ(made.status, 0) << made.err;
  for (const std::string& each : {name, name + ".pub"}) {
    fs::rename(Path("p/" + each), Path(".ssh/" + each));
  }
}

std::string WithGrants::Fingerprint(const std::string& comment) const {
  const std::string line = Read(".ssh/" + comment + ".pub");
  const std::size_t begin = line.find(' ') + 1;
  const std::string text = line.substr(begin, line.find(' ', begin) - begin);
  return agent::FingerprintOf({.blob = FromBase64(text).value_or("")});
}

void WithGrants::MakeGpgKey() {
  fs::create_directories(Path(".gnupg"));
  fs::permissions(Path(".gnupg"), fs::perms::owner_all);
  gpg_ = true;
  MustHost({"gpg", "--batch", "--passphrase", "", "--quick-generate-key", "Ann <ann@example>",
            "default", "default"},
           {GpgVariable()});
  MustHost({"gpgconf", "--launch", "gpg-agent"}, {GpgVariable()});
}

std::string WithGrants::StartX() {
  const std::string cookie(32, 'a');
  const auto add = [&](const std::string& file, const std::string& display) {
    MustHost({"xauth", "-q", "-f", Path(file), "add", display, ".", cookie});
  };
  // A server takes every cookie of its file; programs look for that of their display.
  add("server-cookies", ":0");
  x_.push_back(std::make_unique<Running>(Invocation{
      .program = "/usr/bin/Xvfb",
      .args = {"-displayfd", "1", "-auth", Path("server-cookies"), "-nolisten", "tcp"}}));
  const std::string number = x_.back()->NextLine().value_or("");
  EXPECT_NE(number, "") << x_.back()->errors();
  add("cookies", ":" + number);
  return number;
}

}  // namespace igloo::testing

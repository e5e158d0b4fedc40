#include "support/driven.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/value_to.hpp>
#include <sstream>

#include "base/file.h"
#include "base/replace_file.h"
#include "language/language.h"
#include "session/driver_frames.h"
#include "support/igloo.h"

namespace igloo::testing {
namespace {

/// Nothing here waits for a time to pass; this only ends a test that hangs.
constexpr int kPatienceMs = 30'000;
constexpr int kNudgeAgainMs = 200;

/// How it is started here; what is left out of that would be this machine's own.
std::vector<std::string> CommandOf(const language::Driver& driver, const std::string& path) {
  if (&driver == &language::CommandDriver()) {
    return language::DriveByCommand("main.sh", std::vector<std::string>{"/bin/sh", "-u"});
  }
  const language::Language& row = *language::Find(driver.interpreter);
  std::vector<std::string> command = {"/usr/bin/" + std::string(row.programs[0])};
  if (row.name == "python") command.emplace_back("-I");
  if (row.name == "bash") command.insert(command.end(), {"--norc", "--noprofile"});
  command.push_back(path);
  return command;
}

std::string TextOf(const boost::json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value && value->is_string() ? std::string(value->as_string()) : std::string();
}

/// Appends what is there; false at the end.
bool Take(const UniqueFd& fd, std::string& text) {
  std::array<char, 65536> bytes;
  const ssize_t count = ::read(fd.get(), bytes.data(), bytes.size());
  if (count > 0) text.append(bytes.data(), static_cast<std::size_t>(count));
  return count > 0;
}

}  // namespace

Driven::Driven(std::string_view interpreter) : directory_(TempDir::Make(TempParent()).value()) {
  const language::Driver& driver = *language::FindDriver(interpreter);
  const std::string path = fmt::format("{}/{}", directory(), driver.file);
  EXPECT_TRUE(ReplaceFile(path, driver.text));
  FdPair orders = MakePipe().value();
  FdPair words = MakePipe().value();
  FdPair out = MakePipe().value();
  FdPair err = MakePipe().value();
  const std::vector<std::string> command = CommandOf(driver, path);
  child_ = Spawn({.program = command.front(),
                  .argv = command,
                  .env = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "HOME=" + directory(),
                          "TMPDIR=" + directory()},
                  .fds = {{out.second.get(), 1},
                          {err.second.get(), 2},
                          {orders.first.get(), 3},
                          {words.second.get(), 4}},
                  .own_session = true})
               .value();
  pid_ = child_.pid();
  orders_ = std::move(orders.second);
  words_ = std::move(words.first);
  out_ = std::move(out.first);
  err_ = std::move(err.first);
  orders.first.Reset();
  words.second.Reset();
  out.second.Reset();
  err.second.Reset();
  while (ready_.empty() && ReadMore(kPatienceMs)) {
  }
  EXPECT_FALSE(ready_.empty()) << run_.err;
}

Driven::~Driven() {
  // Not after the end: the number may be another's by then.
  if (child_) ::kill(-pid_, SIGKILL);
}

DrivenRun Driven::Run(std::string_view code, std::string_view flags) {
  Begin(code, flags);
  return End();
}

void Driven::Begin(std::string_view code, std::string_view flags) {
  run_ = {};
  done_ = false;
  ++last_id_;
  Order("run", code, flags);
}

bool Driven::WaitForOutput(std::string_view text) {
  while (!run_.out.contains(text)) {
    if (done_ || !ReadMore(kPatienceMs)) return false;
  }
  return true;
}

DrivenRun Driven::End() {
  while (!done_ && !run_.ended && ReadMore(kPatienceMs)) {
  }
  if (run_.ended) {
    run_.status = WaitForEnd();
  } else {
    // All that it printed has to be in the pipes by now: nothing is waited for.
    while (ReadMore(0)) {
    }
  }
  return std::exchange(run_, {});
}

DrivenRun Driven::EndByInterrupts() {
  for (int left = kPatienceMs / kNudgeAgainMs; left > 0 && !done_ && !run_.ended; --left) {
    Interrupt();
    pollfd said{words_.get(), POLLIN, 0};
    while (!done_ && !run_.ended && ::poll(&said, 1, kNudgeAgainMs) > 0) ReadMore(kPatienceMs);
  }
  return End();
}

void Driven::Interrupt() const { ::kill(-pid_, SIGINT); }

void Driven::Order(std::string_view word, std::string_view code, std::string_view flags) {
  Send(session::EncodeOrder(word, static_cast<std::uint64_t>(last_id_), code, flags));
}

void Driven::Send(std::string_view bytes) const {
  EXPECT_TRUE(WriteAll(orders_.get(), bytes)) << "the driver does not listen any more";
}

int Driven::WaitForEnd() {
  while (out_ && ReadMore(kPatienceMs)) {
  }
  const int status = child_.Wait().value_or(-1);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool Driven::ReadMore(int timeout_ms) {
  std::array<pollfd, 3> polled = {pollfd{out_.get(), POLLIN, 0}, pollfd{err_.get(), POLLIN, 0},
                                  pollfd{words_.get(), POLLIN, 0}};
  if (::poll(polled.data(), polled.size(), timeout_ms) <= 0) {
    if (timeout_ms > 0) {
      ADD_FAILURE() << "the driver says nothing; it printed: " << run_.err;
      ::kill(-pid_, SIGKILL);  // so that whatever comes next fails at once
    }
    return false;
  }
  if (polled[0].revents != 0 && !Take(out_, run_.out)) out_.Reset();
  if (polled[1].revents != 0 && !Take(err_, run_.err)) err_.Reset();
  if (polled[2].revents != 0) {
    if (!Take(words_, buffer_)) {
      words_.Reset();
      run_.ended = true;
    }
    TakeMessages();
  }
  return out_ || err_ || words_;
}

void Driven::TakeMessages() {
  for (;;) {
    const std::size_t line = buffer_.find('\n');
    if (line == std::string::npos) return;
    ASSERT_LE(line, 64U);
    std::istringstream header(buffer_.substr(0, line));
    std::string kind, id;
    std::size_t size = 0;
    ASSERT_TRUE(header >> kind >> id >> size) << header.str();
    if (kind == "exit") {
      buffer_.erase(0, line + 1);
      EXPECT_EQ(id, std::to_string(last_id_));
      run_.status = static_cast<int>(size);
      done_ = true;
      continue;
    }
    if (buffer_.size() < line + 1 + size) return;
    const std::string payload = buffer_.substr(line + 1, size);
    buffer_.erase(0, line + 1 + size);
    EXPECT_LE(payload.size(), session::DriverFrames::kLongestPayload) << kind;
    const auto object = boost::json::parse(payload).as_object();
    if (kind == "ready") {
      ready_ = payload;
    } else if (kind == "piece") {
      EXPECT_EQ(id, std::to_string(last_id_));
      pieces_ += TextOf(object, "data");
    } else if (kind == "part") {
      EXPECT_EQ(id, std::to_string(last_id_));
      run_.parts.push_back({id, TextOf(object, "type"),
                            std::exchange(pieces_, {}) + TextOf(object, "data"),
                            TextOf(object, "encoding")});
    } else if (kind != "standin") {  // which answers no run
      EXPECT_EQ(kind, "done");
      EXPECT_EQ(id, std::to_string(last_id_));
      run_.status = boost::json::value_to<int>(object.at("status"));
      run_.value = TextOf(object, "value");
      run_.error = TextOf(object, "error");
      run_.interrupted = object.contains("interrupted");
      done_ = true;
    }
  }
}

}  // namespace igloo::testing

#include "audit/journal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "audit/log.h"
#include "base/file.h"
#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::audit {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class JournalTest : public ::testing::Test {
 protected:
  std::string Directory() const { return top_.path() + "/state/igloo"; }
  std::string File(unsigned age = 0) const { return JournalFile(Directory(), age); }
  JournalOptions Options(std::uint64_t rotate_bytes = 16U << 20, unsigned keep = 4) const {
    return {.directory = Directory(), .rotate_bytes = rotate_bytes, .keep = keep};
  }
  static Record Numbered(int number) {
    return {.tool = "run", .session = std::to_string(number), .verdict = "ok"};
  }
  /// The numbers of all records, oldest first.
  std::vector<int> Numbers(Broken& broken) const {
    const auto log = Log::Open(Directory());
    EXPECT_TRUE(log);
    const auto places = log->FindLast({.limit = 1'000'000,
                                       .wanted = [](const std::string& line) -> Result<bool> {
                                         IGLOO_TRY(Decode(line));
                                         return true;
                                       }},
                                      broken);
    EXPECT_TRUE(places);
    std::vector<int> numbers;
    for (const Log::Place& place : *places) {
      numbers.push_back(std::stoi(Decode(log->Line(place).value()).value().session));
    }
    return numbers;
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat info{};
    EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777;
  }

  TempDir top_ = TempDir::Make(igloo::testing::TempParent()).value();
};

TEST_F(JournalTest, MakesNothingBeforeTheFirstRecord) {
  Journal journal(Options());
  EXPECT_TRUE(fs::is_empty(top_.path()));
  const mode_t before = ::umask(0);
  EXPECT_TRUE(journal.Write(Numbered(1)));
  ::umask(before);
  EXPECT_EQ(ModeOf(Directory()), 0700U);
  EXPECT_EQ(ModeOf(File()), 0600U);
}

TEST_F(JournalTest, TheCodeIsKeptOnlyWhenAskedFor) {
  Record record = Numbered(1);
  record.Describe("print('hunter2')");
  Journal(Options()).Write(record).value();
  const std::string without = ReadFile(File(), 1U << 20).value();
  EXPECT_THAT(without, Not(HasSubstr("hunter2")));
  EXPECT_THAT(without, HasSubstr(record.code_sha256));
  JournalOptions options = Options();
  options.code = KeepCode::kYes;
  Journal(options).Write(record).value();
  EXPECT_THAT(ReadFile(File(), 1U << 20).value(), HasSubstr("hunter2"));
}

TEST_F(JournalTest, RotatesBySizeAndKeepsTheNewest) {
  Journal journal(Options(2000, 2));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(journal.Write(Numbered(i)));
  for (unsigned age = 0; age <= 2; ++age) {
    EXPECT_LE(fs::file_size(File(age)), 2000U);
    EXPECT_EQ(ModeOf(File(age)), 0600U);
  }
  EXPECT_FALSE(fs::exists(File(3)));
  Broken broken;
  const std::vector<int> numbers = Numbers(broken);
  ASSERT_GT(numbers.size(), 20U);
  EXPECT_LT(numbers.size(), 100U) << "the oldest are gone";
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(numbers[i], 100 - static_cast<int>(numbers.size()) + static_cast<int>(i));
  }
  EXPECT_EQ(broken.count, 0U);
}

TEST_F(JournalTest, FilesBeyondThoseToKeepGoAtTheNextRotation) {
  Journal many(Options(1, 9));
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(many.Write(Numbered(i)));
  EXPECT_TRUE(fs::exists(File(9)));
  ASSERT_TRUE(Journal(Options(1, 2)).Write(Numbered(12)));
  Broken broken;
  EXPECT_EQ(Numbers(broken), (std::vector<int>{10, 11, 12}));
}

TEST_F(JournalTest, ARecordLargerThanTheLimitIsWrittenAllTheSame) {
  Journal journal(Options(1));
  ASSERT_TRUE(journal.Write(Numbered(1)));
  EXPECT_FALSE(fs::exists(File(1))) << "an empty file is not rotated";
  ASSERT_TRUE(journal.Write(Numbered(2)));
  EXPECT_TRUE(fs::exists(File(1)));
}

TEST_F(JournalTest, ProcessesThatWriteAndRotateAtOnceLoseNothing) {
  constexpr int kWriters = 4, kEach = 400;
  std::vector<pid_t> children;
  for (int writer = 0; writer < kWriters; ++writer) {
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      Journal journal(Options(8'000, kMostKept));
      bool fine = true;
      for (int i = 0; i < kEach; ++i) fine = fine && journal.Write(Numbered(writer * kEach + i));
      ::_exit(fine ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  // How often is a matter of luck: while one process rotates, the others go on in the same file.
  EXPECT_TRUE(fs::exists(File(2))) << "there was a lot to rotate";
  Broken broken;
  const std::vector<int> numbers = Numbers(broken);
  EXPECT_EQ(broken.count, 0U) << broken.example;
  EXPECT_EQ(numbers.size(), static_cast<std::size_t>(kWriters * kEach));
  EXPECT_EQ(std::set<int>(numbers.begin(), numbers.end()).size(), numbers.size());
}

TEST_F(JournalTest, GoesOnInTheNewFileWhenTheOpenOneWasRenamedOrRemoved) {
  Journal first(Options()), second(Options());
  ASSERT_TRUE(first.Write(Numbered(1)));
  ASSERT_TRUE(second.Write(Numbered(2)));
  fs::rename(File(), File(1));
  ASSERT_TRUE(first.Write(Numbered(3)));
  ASSERT_TRUE(second.Write(Numbered(4)));
  Broken broken;
  EXPECT_EQ(Numbers(broken), (std::vector<int>{1, 2, 3, 4}));
  fs::remove_all(Directory());
  ASSERT_TRUE(first.Write(Numbered(5)));
  ASSERT_TRUE(second.Write(Numbered(6)));
  EXPECT_EQ(Numbers(broken), (std::vector<int>{5, 6}));
}

TEST_F(JournalTest, SomebodyElsesLockHoldsUpNothing) {
  Journal journal(Options(1));
  ASSERT_TRUE(journal.Write(Numbered(1)));
  const UniqueFd other(::open(File().c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(other.get(), LOCK_EX), 0);
  ASSERT_TRUE(journal.Write(Numbered(2)));
  EXPECT_FALSE(fs::exists(File(1)));
  ASSERT_EQ(::flock(other.get(), LOCK_UN), 0);
  ASSERT_TRUE(journal.Write(Numbered(3)));
  EXPECT_TRUE(fs::exists(File(1)));
  Broken broken;
  EXPECT_EQ(Numbers(broken), (std::vector<int>{1, 2, 3}));
}

TEST_F(JournalTest, WhatIsWrittenAfterATornLineIsWhole) {
  // In a process of its own: the limit on the size of files stands in for a full disk.
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    Journal journal(Options());
    bool fine = journal.Write(Numbered(1)).has_value();
    const rlim_t before = std::exchange(limit.rlim_cur, fs::file_size(File()) + 40);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto torn = journal.Write(Numbered(2));
    fine = fine && !torn && torn.error().what.find("cannot write to the audit log") == 0;
    fine = fine && !journal.Write(Numbered(3));
    limit.rlim_cur = before;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    fine = fine && journal.Write(Numbered(4));
    ::_exit(fine ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  Broken broken;
  EXPECT_EQ(Numbers(broken), (std::vector<int>{1, 4}));
  EXPECT_EQ(broken.count, 1U);
  EXPECT_THAT(broken.example, HasSubstr("runs.jsonl' at byte "));
}

TEST_F(JournalTest, NeverFollowsALinkOrTrustsAFileOfOthers) {
  fs::create_directories(Directory());
  const std::string elsewhere = top_.path() + "/elsewhere";
  std::ofstream(elsewhere) << "mine\n";
  const auto refusal = [&] {
    const auto written = Journal(Options()).Write(Numbered(1));
    fs::remove(File());
    return written ? std::string("written") : written.error().what;
  };
  fs::create_symlink(elsewhere, File());
  EXPECT_THAT(refusal(), HasSubstr("is a symbolic link"));
  EXPECT_EQ(ReadFile(elsewhere, 100).value(), "mine\n");
  std::ofstream(File()) << "";
  fs::permissions(File(), fs::perms(0620));
  EXPECT_THAT(refusal(), HasSubstr("can be written by others"));
  ASSERT_EQ(::mkfifo(File().c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("is not a regular file"));
  fs::permissions(elsewhere, fs::perms(0600));
  fs::create_hard_link(elsewhere, File());
  EXPECT_THAT(refusal(), HasSubstr("has a second name"));
  EXPECT_EQ(ReadFile(elsewhere, 100).value(), "mine\n");
  EXPECT_EQ(refusal(), "written");
}

TEST_F(JournalTest, NobodyElseMayReplaceItsFiles) {
  fs::create_directories(Directory());
  fs::permissions(Directory(), fs::perms(0777));
  const auto open = Journal(Options()).Write(Numbered(1));
  ASSERT_FALSE(open);
  EXPECT_THAT(open.error().what, HasSubstr("other users may write to it"));
  EXPECT_THAT(open.error().hint, HasSubstr("chmod 700"));
  fs::permissions(Directory(), fs::perms(0755));
  EXPECT_TRUE(Journal(Options()).Write(Numbered(1)));
  EXPECT_EQ(fs::status(Directory()).permissions(), fs::perms(0700)) << "it is ours: it is closed";
  // Only root can give a directory away.
  if (::geteuid() == 0) {
    fs::permissions(Directory(), fs::perms(0777));
    ASSERT_EQ(::chown(Directory().c_str(), 12345, 12345), 0);
    const auto refused = Journal(Options()).Write(Numbered(2));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("another user"));
  }
}

TEST_F(JournalTest, SaysWhyItCannotWriteAndTriesAgain) {
  EXPECT_THAT(Journal({}).Write(Numbered(1)).error().what, HasSubstr("HOME is not set"));
  std::ofstream(top_.path() + "/state") << "a file";
  Journal journal(Options());
  const auto failed = journal.Write(Numbered(1));
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().what, HasSubstr("cannot make '" + Directory() + "'"));
  EXPECT_THAT(failed.error().hint, HasSubstr("audit.enabled = false"));
  fs::remove(top_.path() + "/state");
  EXPECT_TRUE(journal.Write(Numbered(1)));
}

}  // namespace
}  // namespace igloo::audit

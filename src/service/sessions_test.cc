#include "service/sessions.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include "base/temp_dir.h"
#include "environment/host.h"
#include "session/asio.h"

namespace igloo::service {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Stands in for an interpreter: code that is "wait" goes on until somebody stops it.
class Fake : public SessionInterpreter {
 public:
  Fake(asio::io_context& loop, int workspace) : wait_(loop), workspace_(workspace) {}

  void Name(const std::string& name) override { name_ = name; }
  asio::awaitable<Result<void>> Start() override { co_return Result<void>(); }
  asio::awaitable<Result<session::CallResult>> Execute(session::Interpreter::Call call) override {
    session::CallResult result;
    if (call.code == "wait") {
      wait_.expires_at(asio::steady_timer::time_point::max());
      boost::system::error_code ignored;
      auto token = asio::redirect_error(asio::use_awaitable, ignored);
      co_await wait_.async_wait(token);
      result.verdict = session::Verdict::kInterrupted;
    }
    if (killed_) co_return Fail(Errc::kFailedPrecondition, "the session was ended");
    result.value = call.manner == session::Manner::kEcho ? std::optional(call.code) : std::nullopt;
    co_return result;
  }
  asio::awaitable<Result<void>> Renew() override {
    ++renewed_;
    co_return Result<void>();
  }
  Result<std::unique_ptr<SessionInterpreter>> Sibling() override {
    return Fail(Errc::kFailedPrecondition, "fakes have no siblings");
  }
  asio::awaitable<Result<void>> CopyTo(SessionInterpreter&) override { co_return Result<void>(); }
  void Interrupt() override { wait_.cancel(); }
  void Kill() override {
    killed_ = true;
    wait_.cancel();
  }
  int workspace() const override { return workspace_; }
  std::uint64_t memory_limit_bytes() const override { return 0; }

  int renewed() const { return renewed_; }
  const std::string& name() const { return name_; }

 private:
  asio::steady_timer wait_;
  int workspace_;
  std::string name_ = {};
  int renewed_ = 0;
  bool killed_ = false;
};

class SessionsTest : public ::testing::Test {
 protected:
  SessionsTest()
      : sessions_(loop_, Parts(), {.most = 3, .idle = minutes(5), .lifetime = minutes(60)}) {
    directory_ = UniqueFd(::open(temp_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  ~SessionsTest() override { sessions_.Close(); }

  Sessions::Parts Parts() {
    return {.open = [this](const Order&) -> Result<std::unique_ptr<SessionInterpreter>> {
              auto made = std::make_unique<Fake>(loop_, directory_.get());
              last_ = made.get();
              return made;
            },
            .now = [this] { return now_; },
            .begun = [this] { ++begun_; }};
  }
  static std::shared_ptr<const service::Setup> MakeSetup() {
    const auto read = [](const config::Config& config) {
      return config::Catalogue(config, {.registry = {environment::ReadHostLayout(), {}}});
    };
    return std::make_shared<service::Setup>(config::Config{}, read, config::Caller{});
  }

  struct Asked {
    Cancellation cancellation = {};
    std::optional<Result<Finished>> result = {};
  };
  /// Begins a call, and lets everything go on until it waits.
  std::shared_ptr<Asked> Begin(Sessions::Asked what, const std::string& environment = "python") {
    auto asked = std::make_shared<Asked>();
    asio::co_spawn(loop_,
                   sessions_.Execute(std::move(what), *setup_->Find(environment), setup_,
                                     asked->cancellation, {}),
                   [asked](const std::exception_ptr&, Result<Finished> result) {
                     asked->result = std::move(result);
                   });
    Go();
    return asked;
  }
  std::shared_ptr<Asked> Call(std::string id, std::string code = "1") {
    return Begin({.id = std::move(id), .code = std::move(code)});
  }
  std::optional<Result<void>> Reset(const std::string& id) {
    auto result = std::make_shared<std::optional<Result<void>>>();
    asio::co_spawn(loop_, sessions_.Reset(id, {}),
                   [result](const std::exception_ptr&, Result<void> came) { *result = came; });
    Go();
    return *result;
  }
  static std::string Problem(const Asked& asked) {
    if (!asked.result) return "under way";
    return *asked.result ? "none" : asked.result->error().what + "; " + asked.result->error().hint;
  }
  void Go() {
    loop_.restart();
    loop_.poll();
  }
  std::vector<std::string> Ids() const {
    std::vector<std::string> ids;
    for (const auto& each : sessions_.List()) ids.push_back(each.id);
    return ids;
  }

  TempDir temp_ = TempDir::Make(::testing::TempDir()).value();
  UniqueFd directory_ = {};
  asio::io_context loop_;
  Sessions::Clock::time_point now_ = Sessions::Clock::time_point(std::chrono::hours(1000));
  std::shared_ptr<const service::Setup> setup_ = MakeSetup();
  Fake* last_ = nullptr;
  int begun_ = 0;
  Sessions sessions_;
};

TEST_F(SessionsTest, AreListedWithTheirAges) {
  Call("b");
  now_ += seconds(60);
  Call("a", "wait");
  Call("a");
  now_ += seconds(5);
  const auto list = sessions_.List();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].id, "a");
  EXPECT_TRUE(list[0].busy);
  EXPECT_EQ(list[0].waiting, 1U);
  EXPECT_EQ(list[0].idle, milliseconds(0)) << "who works is not idle";
  EXPECT_EQ(list[1].id, "b");
  EXPECT_EQ(list[1].environment, "python");
  EXPECT_FALSE(list[1].busy);
  EXPECT_EQ(list[1].age, seconds(65));
  EXPECT_EQ(list[1].idle, seconds(65));
  EXPECT_EQ(begun_, 2) << "once for each";
}

TEST_F(SessionsTest, EndWhenNobodyUsesThem) {
  Call("old");
  now_ += minutes(4);
  Call("young");
  now_ += minutes(1);
  sessions_.Reap(now_);
  EXPECT_THAT(Ids(), ElementsAre("old", "young")) << "five minutes are not over yet";
  const std::uint64_t before = sessions_.generation();
  now_ += milliseconds(1);
  sessions_.Reap(now_);
  EXPECT_THAT(Ids(), ElementsAre("young"));
  EXPECT_NE(sessions_.generation(), before) << "its files are gone from the list";
}

TEST_F(SessionsTest, EndAtTheirAgeHoweverMuchTheyAreUsed) {
  for (int i = 0; i < 31; ++i) {
    Call("busy");
    now_ += minutes(2);
    sessions_.Reap(now_);
  }
  EXPECT_THAT(Ids(), ElementsAre());
}

TEST_F(SessionsTest, ABusyOneIsNeverReaped) {
  const auto first = Call("s", "wait");
  const auto second = Call("s", "wait");
  now_ += minutes(600);
  sessions_.Reap(now_);
  EXPECT_THAT(Ids(), ElementsAre("s"));
  ASSERT_TRUE(*sessions_.Interrupt("s"));
  Go();
  EXPECT_TRUE(first->result);
  // Between two calls that follow each other it is busy, too.
  sessions_.Reap(now_);
  EXPECT_THAT(Ids(), ElementsAre("s"));
  ASSERT_TRUE(*sessions_.Interrupt("s"));
  Go();
  EXPECT_TRUE(second->result);
  sessions_.Reap(now_);
  EXPECT_THAT(Ids(), ElementsAre()) << "it is older than it may become";
}

TEST_F(SessionsTest, ACallThatComesAtTheLastMomentCounts) {
  Call("s");
  now_ += minutes(6);
  // The reaper has not looked yet: the call wins, and the session is used again.
  const auto call = Call("s", "wait");
  sessions_.Reap(now_);
  EXPECT_EQ(begun_, 1);
  EXPECT_THAT(Ids(), ElementsAre("s"));
  ASSERT_TRUE(*sessions_.Interrupt("s"));
  Go();
  sessions_.Reap(now_);
  EXPECT_THAT(Ids(), ElementsAre("s"));
  // It was there first: the call begins another one.
  now_ += minutes(6);
  sessions_.Reap(now_);
  EXPECT_EQ(Problem(*Call("s")), "none");
  EXPECT_EQ(begun_, 2);
}

TEST_F(SessionsTest, OneTooManyIsRefusedAndToldOfTheOldestIdleOne) {
  Call("first");
  now_ += seconds(1);
  Call("second");
  now_ += seconds(1);
  Call("third");
  now_ += seconds(1);
  Call("first", "wait");
  EXPECT_THAT(Problem(*Call("fourth")),
              AllOf(HasSubstr("there are 3 sessions already"), HasSubstr("'second'")));
  Call("second", "wait");
  Call("third", "wait");
  EXPECT_THAT(Problem(*Call("fourth")), HasSubstr("wait until one of them has ended"));
  ASSERT_TRUE(sessions_.End("second"));
  EXPECT_EQ(Problem(*Call("fourth")), "none");
}

TEST_F(SessionsTest, AnEndTakesAllCallsWithIt) {
  const auto running = Call("s", "wait");
  const auto waiting = Call("s");
  ASSERT_EQ(sessions_.End("s").value(), "python");
  EXPECT_THAT(Ids(), ElementsAre());
  Go();
  for (const auto& each : {running, waiting}) {
    EXPECT_THAT(Problem(*each), HasSubstr("session 's' was closed meanwhile"));
  }
  EXPECT_EQ(Problem(*Call("s")), "none") << "the name is free at once";
  EXPECT_EQ(begun_, 2);
  EXPECT_EQ(sessions_.End("other").error().code, Errc::kNotFound);
}

TEST_F(SessionsTest, AnInterruptMeetsTheCallUnderWayAndNoOther) {
  Call("s");
  EXPECT_FALSE(sessions_.Interrupt("s").value()) << "nothing runs";
  EXPECT_EQ(sessions_.Interrupt("other").error().code, Errc::kNotFound);
  const auto first = Call("s", "wait");
  const auto second = Call("s", "wait");
  EXPECT_TRUE(sessions_.Interrupt("s").value());
  Go();
  ASSERT_TRUE(first->result);
  EXPECT_EQ((*first->result)->run.verdict, session::Verdict::kInterrupted);
  EXPECT_FALSE(second->result);
  second->cancellation.Request();
  Go();
  EXPECT_TRUE(second->result);
}

TEST_F(SessionsTest, AResetStopsWhatRunsAndTakesItsTurn) {
  const auto running = Call("s", "wait");
  const auto reset = Reset("s");
  EXPECT_TRUE(running->result);
  ASSERT_TRUE(reset);
  EXPECT_TRUE(*reset);
  EXPECT_EQ(last_->renewed(), 1);
  EXPECT_EQ(begun_, 1) << "it is the same session";
  EXPECT_EQ(Reset("other")->error().code, Errc::kNotFound);
}

TEST_F(SessionsTest, FilesOfLaterCallsAreWrittenAndAreNoNews) {
  Call("s");
  const auto given = Begin({.id = "s", .files = {{.path = "a/in.txt", .content = "in"}}});
  ASSERT_EQ(Problem(*given), "none");
  EXPECT_TRUE((*given->result)->left.files.empty());
  const auto read = sessions_.Read({.session = "s", .path = "a/in.txt"});
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->bytes, "in");
  EXPECT_EQ(read->mime_type, "text/plain");
  const auto files = sessions_.Files();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].uri, "igloo://session/s/a/in.txt");
  EXPECT_EQ(files[0].size, 2U);
  EXPECT_EQ(sessions_.Read({.session = "s", .path = "a"}).error().code, Errc::kNotFound);
  EXPECT_EQ(sessions_.Read({.session = "t", .path = "a/in.txt"}).error().code, Errc::kNotFound);
  const auto refused = Begin({.id = "s", .files = {{.path = "a", .content = "in"}}});
  EXPECT_THAT(Problem(*refused), StartsWith("cannot write 'a': "));
}

TEST_F(SessionsTest, NamesAreOnesThatNobodyHas) {
  const std::string name = sessions_.NewName();
  EXPECT_THAT(name, StartsWith("s-"));
  EXPECT_EQ(name.size(), 14U);
  EXPECT_NE(name, sessions_.NewName());
  EXPECT_THAT(Problem(*Call("")), HasSubstr("cannot be a session's name"));
  EXPECT_THAT(Problem(*Call(std::string(257, 'x'))), HasSubstr("cannot be a session's name"));
  EXPECT_THAT(Problem(*Call("\xff")), HasSubstr("cannot be a session's name"));
  EXPECT_EQ(begun_, 0);
}

TEST_F(SessionsTest, OfOnePrincipalAreNamedAfterItOutside) {
  Sessions::Parts parts = Parts();
  parts.owner = {.principal = "alice"};
  Sessions others(loop_, std::move(parts), {});
  asio::co_spawn(loop_,
                 others.Execute({.id = "a", .code = "1"}, *setup_->Find("python"), setup_, {}, {}),
                 asio::detached);
  Go();
  EXPECT_EQ(last_->name(), "alice/a");
  EXPECT_EQ(others.List().at(0).id, "a") << "its own clients know nothing of that";
  EXPECT_THAT(Ids(), ::testing::IsEmpty());
  others.Close();
  Call("a");
  EXPECT_EQ(last_->name(), "a");
}

}  // namespace
}  // namespace igloo::service

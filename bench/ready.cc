#include "bench/ready.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <deque>

#include "base/file.h"
#include "bench/samples.h"
#include "bench/stopwatch.h"
#include "environment/host.h"
#include "language/driver.h"
#include "session/asio.h"
#include "session/prepare.h"
#include "session/warm/pool.h"

namespace igloo::bench {

namespace asio = boost::asio;
using session::Manner;

namespace {

constexpr std::uint64_t kCallMillis = 30'000;

constexpr std::array<Language, 3> kLanguages = {{
    {"python", "Python", "python", "python", "print(1)", "/usr/bin/python3", "-c", 7},
    {"bash", "bash", "shell", "bash", "echo 1", "/usr/bin/bash", "-c", 0.6},
    {"node", "Node", "node", "node", "console.log(1)", "/usr/bin/node", "-e", 10},
}};

/// Length, JSON, exec, what was printed, length, JSON: no more than any such loop needs.
constexpr const char* kPythonLoop = R"py(
import io, json, os, struct, sys
names = {}
def take(size):
    data = b""
    while len(data) < size:
        piece = os.read(0, size - len(data))
        if not piece:
            os._exit(0)
        data += piece
    return data
while True:
    size, = struct.unpack("<I", take(4))
    code = json.loads(take(size))["code"]
    own, sys.stdout = sys.stdout, io.StringIO()
    exec(compile(code, "<run>", "exec"), names)
    printed, sys.stdout = sys.stdout.getvalue(), own
    answer = json.dumps({"status": 0, "output": printed}).encode()
    os.write(1, struct.pack("<I", len(answer)) + answer)
)py";

/// As the server makes it (service/runner.cc).
Result<std::shared_ptr<const session::Recipe>> RecipeFor(const Language& language, ReadyRuns::Of of,
                                                         std::size_t most) {
  const bool programs = of == ReadyRuns::Of::kPrograms;
  const language::Driver* driver = language::FindDriver(language.driver);
  IGLOO_ASSIGN(const auto host, environment::MakeHostEnvironment(std::string(language.environment),
                                                                 environment::ReadHostLayout()));
  environment::RunRequest request{
      .what = environment::AwaitedCode{}, .time_ms = 0, .hand_out = true};
  if (!programs) {
    request.what =
        environment::Driver{.text = std::string(driver->text), .file = std::string(driver->file)};
    request.extra_descriptors = language::kDescriptors;
  }
  session::Recipe recipe{
      .awaits_code = programs, .checkpoint = !programs && driver->checkpoint, .most = most};
  IGLOO_ASSIGN(recipe.plan, session::PlanFor(host, request));
  return std::make_shared<const session::Recipe>(std::move(recipe));
}

/// An object of the list is some hundred bytes.
constexpr const char* kHold = R"py(
import zlib
block, objects = bytearray(range(256)) * 2048 * {0}, [str(i) * 12 for i in range(4000 * {0})]
crc, last = zlib.crc32(block), objects[-1]
print(1)
)py";
constexpr const char* kCheck = R"py(
print(int(zlib.crc32(block) == crc and all(o == str(i) * 12 for i, o in enumerate(objects))))
)py";

Result<void> ReadWhole(int fd, char* to, std::size_t size) {
  while (size > 0) {
    const ssize_t count = ::read(fd, to, size);
    if (count <= 0) return Fail(Errc::kProtocol, "the bare Python loop has ended");
    to += count;
    size -= static_cast<std::size_t>(count);
  }
  return {};
}

}  // namespace

std::span<const Language> Languages() { return kLanguages; }

struct ReadyRuns::State {
  State(backend::Programs programs, const Language& l, Of of, std::size_t most)
      : language(l),
        recipe(RecipeFor(l, of, most)),
        copier(programs.copier),
        backend(std::move(programs), backend::jail::Mode::kPrepared),
        pool(loop, backend, groups,
             {.note = [this](std::string_view text) { trouble = text; },
              .copier = copier,
              .shrink_after = kNever}) {}
  ~State() {
    held.reset();
    pool.Close();
    // What watched the descriptors of those that are gone comes to its end.
    loop.restart();
    loop.poll();
  }

  /// Runs the event loop until `task` has its result.
  template <class T>
  T Await(asio::awaitable<T> task) {
    std::optional<T> result;
    asio::co_spawn(loop, std::move(task),
                   [&](std::exception_ptr, T value) { result = std::move(value); });
    loop.restart();
    while (!result && loop.run_one() > 0) {
    }
    return *std::move(result);
  }
  Result<std::unique_ptr<session::OpenInterpreter>> Take() {
    if (!recipe) return std::unexpected(recipe.error());
    return pool.Take(*recipe, session::Pool::Origin::kFastest);
  }
  /// Until one waits, and whatever making it took has come to its end.
  Result<void> Fill() {
    if (pool.waiting() == 0 && !asked) IGLOO_TRY(Take());
    asked = true;
    loop.restart();
    while (pool.waiting() == 0 && trouble.empty() && loop.run_one() > 0) {
    }
    loop.poll();
    if (pool.waiting() > 0) return {};
    return Fail(Errc::kFailedPrecondition, trouble);
  }
  Result<double> Execute(session::Interpreter& in, Manner manner) {
    return Execute(in, manner, language.code);
  }
  Result<double> Execute(session::Interpreter& in, Manner manner, std::string_view code) {
    return Await(ExecuteIn(in, manner, code));
  }
  /// `code` prints 1: microseconds, of a caller whose event loop runs already, as a server's does.
  asio::awaitable<Result<double>> ExecuteIn(session::Interpreter& in, Manner manner,
                                            std::string_view code) {
    const Stopwatch watch;
    session::Interpreter::Call call{
        .code = std::string(code), .time_ms = kCallMillis, .manner = manner};
    const auto result = co_await in.Execute(std::move(call));
    const double micros = watch.micros();
    if (!result) co_return std::unexpected(result.error());
    if (result->output.kept() == "1\n" && result->exit_code == 0) co_return micros;
    co_return Fail(Errc::kFailedPrecondition, "the code said: " + result->error.kept());
  }
  /// The code in `program`, which waits for it or has only just been started.
  asio::awaitable<Result<double>> ExecuteIn(session::Run& program) {
    const Stopwatch watch;
    session::Task task{.code = std::string(language.code), .time_ms = kCallMillis};
    const auto result = co_await program.Go(std::move(task));
    const double micros = watch.micros();
    if (!result) co_return std::unexpected(result.error());
    if (result->output.kept() == "1\n" && result->exit_code == 0) co_return micros;
    co_return Fail(Errc::kFailedPrecondition, "the code said: " + result->error.kept());
  }
  /// As a server does it: whoever takes one that waits runs its code at once. Microseconds; none if
  /// nobody waited.
  asio::awaitable<Result<std::optional<double>>> TakeAndRun() {
    const Stopwatch watch;
    const auto open = Take();
    const double taken = watch.micros();
    if (!open) co_return std::unexpected(open.error());
    if (!(*open)->started) co_return std::nullopt;
    auto ran = co_await ExecuteIn(*(*open)->program);
    if (!ran) co_return std::unexpected(std::move(ran).error());
    co_return taken + *ran;
  }

  static constexpr auto kNever = std::chrono::hours(24);

  const Language& language;
  Result<std::shared_ptr<const session::Recipe>> recipe;  // shared with interpreters made of it
  std::string trouble = {};
  std::string copier;
  backend::jail::JailBackend backend;
  cgroup::Groups groups{cgroup::Find()};
  asio::io_context loop{1};  // what is still being made ends with it, and gives back to those above
  session::Pool pool;
  bool asked = false;  ///< the pool knows what it is for
  unsigned misses = 0;
  std::unique_ptr<session::OpenInterpreter> held = {};  ///< the session
};

ReadyRuns::ReadyRuns(backend::Programs programs, const Language& language, Of of, std::size_t most)
    : state_(std::make_unique<State>(std::move(programs), language, of, most)) {}

ReadyRuns::~ReadyRuns() = default;

unsigned ReadyRuns::misses() const { return state_->misses; }

Result<double> ReadyRuns::Fresh() {
  if (state_->pool.waiting() == 0) IGLOO_TRY(state_->Fill());
  for (;;) {
    IGLOO_ASSIGN(const auto micros, state_->Await(state_->TakeAndRun()));
    IGLOO_TRY(state_->Fill());
    if (micros) return *micros;
    ++state_->misses;
  }
}

Result<double> ReadyRuns::Next() {
  const Stopwatch watch;
  IGLOO_ASSIGN(const auto open, state_->Take());
  if (!open->started) IGLOO_TRY(state_->Await(open->Begin()));
  IGLOO_TRY(state_->Await(state_->ExecuteIn(*open->program)));
  return watch.micros();
}

Result<double> ReadyRuns::Call(unsigned count) {
  if (!state_->held) {
    IGLOO_TRY(state_->Fill());
    IGLOO_ASSIGN(state_->held, state_->Take());
    if (!state_->held->started) {
      return Fail(Errc::kFailedPrecondition, "no interpreter was ready for the session");
    }
    IGLOO_TRY(state_->Fill());  // the one that takes its place
  }
  Samples calls;
  state_->loop.restart();
  state_->loop.poll();  // what became due since the last call
  for (unsigned i = 0; i < count; ++i) {
    IGLOO_ASSIGN(const double micros, state_->Execute(*state_->held->interpreter, Manner::kEcho));
    calls.Add(micros);
    state_->loop.restart();
    state_->loop.poll();  // what is done behind the answer
  }
  return calls.median();
}

Result<double> ReadyRuns::Fork(unsigned megabytes, Until until) {
  State& state = *state_;
  if (!state.held) {
    if (!state.recipe) return std::unexpected(state.recipe.error());
    IGLOO_ASSIGN(auto open, state.pool.Take(*state.recipe, session::Pool::Origin::kCheckpoint));
    state.asked = true;
    if (!open->started) IGLOO_TRY(state.Await(state.pool.Start(*open)));
    const std::string hold = fmt::format(kHold, megabytes);
    IGLOO_TRY(state.Execute(*open->interpreter, Manner::kQuiet, hold));
    state.held = std::move(open);
  }
  session::Interpreter& original = *state.held->interpreter;
  IGLOO_TRY(state.Fill());
  const Stopwatch watch;
  IGLOO_ASSIGN(auto fork, state.pool.Sibling(*state.held));
  IGLOO_TRY(state.Await(state.pool.Start(*fork)));
  IGLOO_TRY(state.Await(original.CopyTo(*fork->interpreter)));
  IGLOO_TRY(state.Execute(*fork->interpreter, Manner::kEcho));
  const double first = watch.micros();
  IGLOO_TRY(state.Execute(original, Manner::kEcho));
  const double whole = watch.micros();
  IGLOO_TRY(state.Execute(*fork->interpreter, Manner::kQuiet, kCheck));
  return until == Until::kWhole ? whole : first;
}

Result<void> ReadyRuns::Idle(unsigned count, const std::function<void()>& look) {
  if (!state_->recipe) return std::unexpected(state_->recipe.error());
  const session::Recipe& recipe = **state_->recipe;
  std::deque<session::Run> all;
  for (unsigned i = 0; i < count; ++i) {
    session::RunIo io;
    IGLOO_ASSIGN(io.group, session::TakeGroup(state_->groups, recipe.plan));
    auto& added = all.emplace_back(state_->loop, recipe.plan, state_->backend, std::move(io));
    IGLOO_TRY(state_->Await(added.Prepare()));
  }
  look();
  return {};
}

Result<double> PythonLoop::Call(unsigned count) {
  if (!process_) {
    IGLOO_ASSIGN(Process started,
                 Process::Start({{kLanguages[0].program, "-I", "-c", kPythonLoop}}, Input::kPipe));
    process_.emplace(std::move(started));
  }
  const std::string request = fmt::format(R"({{"code": "{}"}})", kLanguages[0].code);
  auto size = static_cast<std::uint32_t>(request.size());
  std::string frame(reinterpret_cast<const char*>(&size), sizeof size);
  frame += request;
  Samples calls;
  std::string answer;
  for (unsigned i = 0; i < count; ++i) {
    const Stopwatch watch;
    IGLOO_TRY(WriteAll(process_->input().get(), frame));
    IGLOO_TRY(ReadWhole(process_->output(), reinterpret_cast<char*>(&size), sizeof size));
    answer.resize(size);
    IGLOO_TRY(ReadWhole(process_->output(), answer.data(), answer.size()));
    calls.Add(watch.micros());
  }
  if (answer.contains(R"("output": "1\n")")) return calls.median();
  return Fail(Errc::kProtocol, "the bare Python loop answered: " + answer);
}

}  // namespace igloo::bench

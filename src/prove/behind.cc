#include "prove/behind.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>

#include "base/file.h"
#include "prove/marked.h"
#include "prove/policy.h"
#include "session/asio.h"
#include "session/prepare.h"

namespace igloo::prove {
namespace {

namespace asio = boost::asio;

constexpr const char* kProgram = "/project/igloo-attack";
constexpr std::uint64_t kBatteryMs = 120'000;

/// The last line that says anything: what came before is of the attack's children.
std::string LastLine(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  const std::size_t begin = text.rfind('\n');
  return std::string(begin == std::string_view::npos ? text : text.substr(begin + 1));
}

/// "@ INDEX CODE"
bool IsVerdict(std::string_view line, std::size_t index, int& code) {
  const std::string begin = fmt::format("@ {} ", index);
  if (!line.starts_with(begin)) return false;
  const char* const end = line.data() + line.size();
  const auto [rest, error] = std::from_chars(line.data() + begin.size(), end, code);
  return error == std::errc() && rest == end;
}

std::string HowItEnded(const session::RunResult& result) {
  return fmt::format("the sandbox ended: {}, exit code {}", session::Name(result.verdict),
                     result.exit_code);
}

bool IsTriedAlone(const Case& each) { return each.alone || each.sign != Sign::kExitCode; }

/// How far a battery is, from its output as it comes.
class Counter {
 public:
  explicit Counter(Behind::Ended ended) : ended_(std::move(ended)) {}
  void Hear(std::string_view text) {
    std::size_t count = 0;
    for (const char c : text) {
      if (c == '@' && last_ == '\n') ++count;
      last_ = c;
    }
    if (count > 0 && ended_) ended_(count);
  }

 private:
  Behind::Ended ended_;
  char last_ = '\n';
};

}  // namespace

Attempt AttemptOf(int exit_code, std::string_view said) {
  const std::string line = LastLine(said);
  if (exit_code == kLeaked) return {Ending::kWon, line};
  if (exit_code == kHeld) return {Ending::kHeld, line};
  return {Ending::kNotRun, line.empty() ? fmt::format("exit code {}", exit_code) : line};
}

std::vector<Attempt> ReadBattery(std::string_view output) {
  std::vector<Attempt> attempts;
  std::size_t begin = 0;  // of what the attack said
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t end = output.find('\n', at);
    if (end == std::string_view::npos) break;
    int code = 0;
    if (IsVerdict(output.substr(at, end - at), attempts.size(), code)) {
      attempts.push_back(AttemptOf(code, output.substr(begin, at - begin)));
      begin = end + 1;
    }
    at = end + 1;
  }
  return attempts;
}

std::vector<Behind::Batch> Behind::Divide(const std::vector<Case>& cases) {
  std::vector<Batch> batches;
  std::vector<Change> shapes;  // of those that take more than one
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (IsTriedAlone(cases[i])) continue;
    const auto found = std::ranges::find(shapes, cases[i].shape);
    if (found == shapes.end()) {
      shapes.push_back(cases[i].shape);
      batches.push_back({i});
    } else {
      batches[static_cast<std::size_t>(found - shapes.begin())].push_back(i);
    }
  }
  return batches;
}

asio::awaitable<Result<session::RunResult>> Behind::RunSandbox(const Case& shape, bool weaken,
                                                               std::vector<std::string> words,
                                                               session::RunIo io) {
  words.insert(words.begin(), kProgram);
  auto policy = PolicyFor(can_, scene_.project(), std::move(words));
  if (!policy) co_return std::unexpected(policy.error());
  if (!IsTriedAlone(shape)) policy->limits.time_ms = kBatteryMs;
  if (shape.shape != nullptr) shape.shape(*policy);
  if (weaken && shape.weaken != nullptr) shape.weaken(*policy);
  const auto plan = session::PlanOf(*policy);
  if (!plan) co_return std::unexpected(plan.error());
  auto group = session::TakeGroup(groups_, *plan);
  if (!group) co_return std::unexpected(group.error());
  io.group = *std::move(group);
  session::Run run(loop_, *plan, backend_, std::move(io));
  const auto hook = cancellation_.OnRequest([&run] { run.Kill(); });
  auto result = co_await run.Execute();
  if (cancellation_.requested()) co_return Fail(Errc::kFailedPrecondition, "interrupted");
  co_return result;
}

asio::awaitable<Attempt> Behind::Judge(const Case& attack, session::RunResult result) {
  const std::string said = result.error.kept();
  const bool won = result.exit_code == kLeaked;
  switch (attack.sign) {
    case Sign::kExitCode:
    case Sign::kWatch:
      break;
    case Sign::kMemory:
      if (result.verdict == session::Verdict::kMemory) {
        co_return Attempt{Ending::kHeld, "the sandbox was ended for its memory"};
      }
      if (!won) co_return Attempt{Ending::kNotRun, HowItEnded(result)};
      break;
    case Sign::kTime:
    case Sign::kLeftBehind: {
      const bool ran = attack.sign == Sign::kTime ? result.verdict == session::Verdict::kTimeout
                                                  : result.exit_code == kHeld;
      if (!ran) co_return Attempt{Ending::kNotRun, LastLine(said + HowItEnded(result))};
      const std::string marker = scene_.Fill({"{marker}"}, Side::kInside)[0];
      // What a sandbox leaves behind must be gone within two seconds.
      using std::chrono_literals::operator""ms;
      asio::steady_timer timer(loop_);
      for (int i = 0; i < 200 && CountMarked(marker) > 0; ++i) {
        timer.expires_after(10ms);
        boost::system::error_code ignored;
        co_await timer.async_wait(session::Redirect(ignored));
      }
      const bool gone = CountMarked(marker) == 0;
      EndMarked(marker);
      co_return Attempt{gone ? Ending::kHeld : Ending::kWon,
                        gone ? "it ended with the sandbox" : "it outlived the sandbox"};
    }
  }
  co_return AttemptOf(result.exit_code, said.empty() ? HowItEnded(result) : said);
}

asio::awaitable<Result<Attempt>> Behind::AttackAlone(const Case& attack, bool weaken) {
  session::RunIo io;
  if (attack.sign == Sign::kWatch) {
    auto pipe = MakePipe();
    if (!pipe) co_return std::unexpected(pipe.error());
    io.input = std::move(pipe->first);
    // It says "ready" when it watches, and waits for a byte before it looks.
    const auto go = std::make_shared<UniqueFd>(std::move(pipe->second));
    io.heard = [this, go](std::string_view text) {
      if (!*go || !text.contains("ready")) return;
      scene_.UseProjectFile();
      (void)WriteAll(go->get(), "x");
      go->Reset();
    };
  }
  auto result =
      co_await RunSandbox(attack, weaken, scene_.Fill(attack.attack, Side::kInside), std::move(io));
  if (!result) co_return std::unexpected(result.error());
  session::RunResult ended = *std::move(result);
  co_return co_await Judge(attack, std::move(ended));
}

asio::awaitable<Result<void>> Behind::AttackTogether(const std::vector<Case>& cases, Batch batch,
                                                     const Ended& ended,
                                                     std::vector<Attempt>& attempts) {
  // One that ends the whole sandbox leaves its successors to the next one.
  while (!batch.empty()) {
    std::string orders;
    for (const std::size_t index : batch) {
      for (const std::string& word : scene_.Fill(cases[index].attack, Side::kInside)) {
        orders += word + '\0';
      }
      orders += '\0';
    }
    auto pipe = MakePipe();
    if (!pipe) co_return std::unexpected(pipe.error());
    // It fits into a pipe: nobody has to read yet.
    if (auto written = WriteAll(pipe->second.get(), orders); !written) co_return written;
    pipe->second.Reset();
    const auto counter = std::make_shared<Counter>(ended);
    session::RunIo io{.input = std::move(pipe->first),
                      .heard = [counter](std::string_view text) { counter->Hear(text); }};
    std::vector<std::string> words = {"battery"};
    auto result = co_await RunSandbox(cases[batch.front()], false, std::move(words), std::move(io));
    if (!result) co_return std::unexpected(result.error());
    std::vector<Attempt> made = ReadBattery(result->output.kept());
    if (made.size() < batch.size()) {
      made.push_back({Ending::kNotRun, LastLine(result->error.kept() + HowItEnded(*result))});
      if (ended) ended(1);
    }
    const std::size_t count = std::min(made.size(), batch.size());
    for (std::size_t i = 0; i < count; ++i) attempts[batch[i]] = std::move(made[i]);
    batch.erase(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(count));
  }
  co_return Result<void>();
}

asio::awaitable<Result<std::vector<Attempt>>> Behind::Attack(const std::vector<Case>& cases,
                                                             Ended ended) {
  std::vector<Attempt> attempts(cases.size());
  bool built = false;
  for (const Batch& batch : Divide(cases)) {
    if (auto tried = co_await AttackTogether(cases, batch, ended, attempts); !tried) {
      if (!built || cancellation_.requested()) co_return std::unexpected(tried.error());
      for (const std::size_t index : batch) {
        if (attempts[index].said.empty()) attempts[index].said = tried.error().what;
      }
    }
    built = true;
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!IsTriedAlone(cases[i])) continue;
    auto attempt = co_await AttackAlone(cases[i], false);
    if (attempt) {
      attempts[i] = *std::move(attempt);
    } else if (!built || cancellation_.requested()) {
      co_return std::unexpected(attempt.error());
    } else {
      attempts[i].said = attempt.error().what;
    }
    if (ended) ended(1);
  }
  co_return attempts;
}

}  // namespace igloo::prove

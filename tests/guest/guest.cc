#include "guest.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <sstream>

#include "base/file.h"
#include "base/spawn.h"
#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kEmulator = "/usr/bin/qemu-system-x86_64";
/// Far more than a guest ever takes: it is for one that hangs, not for one that is slow.
constexpr auto kPatience = std::chrono::minutes(15);
constexpr std::size_t kMaxConsole = 1U << 20;

std::vector<std::string> EmulatorWords(const std::string& place) {
  return {kEmulator,
          "-machine",
          "pc",
          "-accel",
          "tcg",  // the same everywhere: a virtual machine seldom offers KVM to its own guests
          "-cpu",
          "max",
          "-smp",
          "2",
          "-m",
          "768M",
          "-nodefaults",
          "-no-user-config",
          "-no-reboot",
          "-display",
          "none",
          "-kernel",
          place + "/kernel",
          "-initrd",
          place + "/initrd",
          "-append",
          "console=ttyS0 quiet panic=-1 mitigations=off",
          "-serial",
          "file:" + place + "/console",
          "-serial",
          "stdio"};
}

Result<void> WriteImage(const std::map<std::string, std::string>& scripts,
                        const std::string& place) {
  IGLOO_ASSIGN(const TempDir cases, TempDir::Make(TempParent()));
  for (const auto& [name, script] : scripts) std::ofstream(cases.path() + "/" + name) << script;
  Invocation image{.program = IGLOO_GUEST_TOOLS "/image",
                   .args = {BinDirectory(), cases.path(), place},
                   .env = {"PATH=/usr/bin:/bin"}};
  for (const char* name : {"HOME", "XDG_CACHE_HOME"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) image.env.push_back(std::string(name) + "=" + value);
  }
  const Outcome outcome = RunProgram(image);
  if (outcome.status != 0) return Fail(Errc::kFailedPrecondition, outcome.err);
  return {};
}

/// Everything that the emulator writes until it ends or patience does.
Result<std::string> RunEmulator(const std::string& place) {
  if (::access(kEmulator, X_OK) != 0) {
    return Fail(Errc::kFailedPrecondition,
                std::string("there is no '") + kEmulator + "'; tools/install-packages installs it");
  }
  IGLOO_ASSIGN(FdPair out, MakePipe());
  const SpawnOptions options{.program = kEmulator,
                             .argv = EmulatorWords(place),
                             .env = {"PATH=/usr/bin:/bin"},
                             .fds = {{out.second.get(), 1}, {out.second.get(), 2}}};
  IGLOO_ASSIGN(const Child emulator, Spawn(options));  // ended with this scope, whatever it does
  out.second.Reset();
  std::string text;
  for (const auto end = Clock::now() + kPatience; out.first;) {
    const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    pollfd ready{out.first.get(), POLLIN, 0};
    if (rest.count() <= 0 || ::poll(&ready, 1, static_cast<int>(rest.count())) == 0) break;
    Drain(out.first, text);
  }
  return text;
}

}  // namespace

std::string_view Name(Who who) {
  switch (who) {
    case Who::kRoot:
      return "root";
    case Who::kUser:
      return "user";
    case Who::kOutsider:
      return "outsider";
  }
  return "?";
}

GuestRun ReadReports(std::string_view text) {
  GuestRun run;
  while (!text.empty()) {
    const std::size_t line_end = text.find('\n');
    const std::string line(text.substr(0, line_end));
    if (line == "end" && line_end + 1 == text.size()) return run;
    std::istringstream words(line);
    std::string kind;
    std::string name;
    Report report;
    std::array<std::size_t, 3> sizes{};
    words >> kind >> name >> report.status >> sizes[0] >> sizes[1] >> sizes[2];
    if (words.fail() || kind != "case" || line_end == std::string_view::npos) {
      run.trouble = "the guest said '" + std::string(text.substr(0, 2000)) + "'";
      return run;
    }
    text.remove_prefix(line_end + 1);
    const std::array parts = {&report.out, &report.err, &report.left};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (text.size() < sizes[i]) {
        run.trouble = "the guest ended within its report of '" + name + "'";
        return run;
      }
      *parts[i] = text.substr(0, sizes[i]);
      text.remove_prefix(sizes[i]);
    }
    run.reports[name] = std::move(report);
  }
  run.trouble = "the guest ended, or hung, before its last report";
  return run;
}

GuestRun RunInGuest(const std::map<std::string, std::string>& scripts) {
  const auto attempt = [&]() -> Result<GuestRun> {
    IGLOO_ASSIGN(const TempDir place, TempDir::Make(TempParent()));
    IGLOO_TRY(WriteImage(scripts, place.path()));
    IGLOO_ASSIGN(const std::string text, RunEmulator(place.path()));
    GuestRun run = ReadReports(text);
    if (!run.trouble.empty()) {
      run.trouble += "; its console:\n" +
                     ReadFile(place.path() + "/console", kMaxConsole).value_or("(unreadable)\n");
    }
    return run;
  };
  auto run = attempt();
  if (run) return *std::move(run);
  return {.trouble = run.error().what};
}

}  // namespace igloo::testing

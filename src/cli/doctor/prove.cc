#include "cli/doctor/prove.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <exception>
#include <filesystem>
#include <optional>

#include "base/replace_file.h"
#include "cli/doctor/prove_output.h"
#include "cli/doctor/sign_report.h"
#include "cli/progress.h"
#include "prove/prove.h"
#include "service/programs.h"
#include "session/asio.h"

namespace igloo::cli {
namespace {

namespace asio = boost::asio;

/// What is done with the report, checked before a minute of attacks is spent on it.
struct Outlet {
  bool json = false;
  std::string file = {};  ///< absolute; empty: none
  std::optional<Signing> signing = {};
};

Result<Outlet> FindOutlet(const ParsedArgs& args) {
  Outlet outlet{.json = args.Has("--json")};
  if (const auto file = args.Get("--report")) {
    std::error_code error;
    outlet.file = std::filesystem::absolute(*file, error).lexically_normal().string();
    const std::string directory = std::filesystem::path(outlet.file).parent_path().string();
    if (file->empty() || std::filesystem::is_directory(outlet.file, error)) {
      return Fail(Errc::kInvalidArgument, "'" + *file + "' is no name for a report",
                  "name a file, such as igloo-report.json");
    }
    if (::access(directory.c_str(), W_OK) != 0) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot write a report to '" + directory + "'");
    }
  }
  if (const auto key = args.Get("--sign")) {
    if (outlet.file.empty()) {
      return Fail(Errc::kInvalidArgument, "'--sign' signs the file of '--report'",
                  "add --report FILE");
    }
    IGLOO_ASSIGN(outlet.signing, FindSigning(*key));
  }
  return outlet;
}

asio::awaitable<void> WatchSignals(asio::signal_set& signals, Cancellation& cancellation,
                                   int& came) {
  boost::system::error_code error;
  const int signal = co_await signals.async_wait(session::Redirect(error));
  if (error) co_return;
  came = signal;
  cancellation.Request();
}

/// The report, or the signal that came meanwhile.
using Proven = std::pair<Result<prove::Report>, int>;

Proven ProveOnLoop(prove::Options options) {
  asio::io_context loop(1);
  asio::signal_set signals(loop, SIGINT, SIGTERM, SIGHUP);
  Cancellation cancellation;
  int signal = 0;
  asio::co_spawn(loop, WatchSignals(signals, cancellation, signal), asio::detached);
  std::optional<Result<prove::Report>> report;
  asio::co_spawn(loop, prove::Prove(loop, std::move(options), cancellation),
                 [&](const std::exception_ptr& thrown, Result<prove::Report> value) {
                   // An exception leaves an empty value, which would read as success.
                   if (thrown) std::rethrow_exception(thrown);
                   report = std::move(value);
                   signals.cancel();
                   loop.stop();
                 });
  loop.run();
  return {*std::move(report), signal};
}

Result<prove::Options> FindOptions(const ParsedArgs& args) {
  prove::Options options;
  IGLOO_ASSIGN(options.programs, service::FindPrograms());
  IGLOO_ASSIGN(options.attack_program, service::FindProgram("igloo-attack"));
  options.scene_parent = prove::SceneParent();
  if (const auto name = args.Get("--backend")) {
    IGLOO_ASSIGN(options.only, wall::Choose(*name));
  }
  return options;
}

Result<Proven> TryToProve(prove::Options options, Console& console) {
  Progress progress(console, "trying the walls");
  options.progress = [&progress](const prove::Progress& now) {
    progress.Show(fmt::format("attack {} of {}, {}", std::min(now.done + 1, now.total), now.total,
                              now.where));
  };
  try {
    return ProveOnLoop(std::move(options));
  } catch (const std::exception& failure) {
    return Fail(Errc::kExhausted, std::string("cannot run the attacks: ") + failure.what(),
                kRaiseOpenFiles);
  }
}

Result<void> Keep(const prove::Report& report, const Outlet& outlet, Console& console) {
  if (outlet.file.empty()) return {};
  IGLOO_TRY(ReplaceFile(outlet.file, prove::ToJson(report), {.mode = 0644}));
  std::string said = "The report is in '" + outlet.file + "'.\n";
  if (outlet.signing) {
    IGLOO_ASSIGN(const std::string signature, SignReport(*outlet.signing, outlet.file));
    said += HowToVerify(*outlet.signing, outlet.file, signature);
  }
  if (outlet.json) {
    console.Err(said);
  } else {
    console.Out("\n" + said);
  }
  return {};
}

}  // namespace

Result<int> RunProve(const ParsedArgs& args, Console& console) {
  if (args.Has("--config")) {
    return Fail(Errc::kInvalidArgument, "'--prove' tries the walls without any configuration",
                "leave --config away");
  }
  IGLOO_ASSIGN(const Outlet outlet, FindOutlet(args));
  IGLOO_ASSIGN(prove::Options options, FindOptions(args));
  IGLOO_ASSIGN(const Proven proven, TryToProve(std::move(options), console));
  const auto& [report, signal] = proven;
  if (signal != 0) {
    console.Note("interrupted: nothing is left behind, nothing is proven");
    return 128 + signal;
  }
  if (!report) return std::unexpected(report.error());
  if (outlet.json) {
    console.Out(prove::ToJson(*report));
  } else {
    PrintReport(*report, args.Has("--backend"), console);
  }
  IGLOO_TRY(Keep(*report, outlet, console));
  return report->Good() ? 0 : 1;
}

}  // namespace igloo::cli

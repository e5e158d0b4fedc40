#include "nix/build.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/file.h"
#include "base/replace_file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "nix/command.h"
#include "nix/home.h"
#include "nix/store.h"

namespace igloo::nix {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostOfFlake = 1U << 20;

/// One attempt, in the directory of the environment, with its lock held.
class Attempt {
 public:
  Attempt(const Settings& settings, const Wanted& wanted, const BuildOptions& options)
      : settings_(settings), wanted_(wanted), options_(options), place_(settings, wanted.key) {}

  Result<Built> Run() {
    const Record record = place_.ReadRecord();
    const bool same_source = record.built && record.built->flake == wanted_.reference.flake &&
                             record.built->trusted == wanted_.trusted;
    const bool keep = same_source && options_.pins == Pins::kKeep;
    if (keep && record.built->own_packages) packages_ = Packages::kOwn;
    IGLOO_TRY(Stage(keep));
    IGLOO_TRY(CopyProject());
    IGLOO_TRY(Lock());
    IGLOO_ASSIGN(const std::string out, Make());
    IGLOO_TRY(Ask({"build", out, "--out-link", place_.link(out)}));
    return Install(out);
  }

 private:
  /// Writes the flake to a directory of its own, beside the one that counts.
  Result<void> Stage(bool keep_lock) {
    const std::string staged = place_.staged();
    std::error_code failure;
    fs::remove_all(staged, failure);
    for (const auto& [name, text] : FlakeFiles(wanted_, settings_, packages_)) {
      const fs::path path = fs::path(staged) / name;
      fs::create_directories(path.parent_path(), failure);
      IGLOO_TRY(ReplaceFile(path, text));
    }
    if (!keep_lock) return {};
    const auto lock = place_.ReadLock();
    if (!lock) return {};
    if (!IsLock(*lock)) {
      return Fail(Errc::kFailedPrecondition, "'" + place_.flake() + "/flake.lock' is damaged",
                  "make a new one: igloo env update " + ShellQuote(wanted_.name));
    }
    return ReplaceFile(staged + "/flake.lock", *lock);
  }

  /// SECURITY: Nix never gets the project itself. It would call git there, which runs what the
  /// project's .git/config names, and whoever may write to the project could change files between
  /// the look at them and Nix's own.
  Result<void> CopyProject() const {
    const bool shell = wanted_.kind == Kind::kShell;
    if (wanted_.files.empty()) {
      return shell ? Fail(Errc::kInternal, "a project's flake without its files") : Result<void>();
    }
    const std::string source = SourceDirectory(wanted_, settings_);
    std::error_code failure;
    fs::remove_all(source, failure);
    for (const auto& [name, text] : wanted_.files) {
      const fs::path path = fs::path(source) / name;
      fs::create_directories(path.parent_path(), failure);
      IGLOO_TRY(ReplaceFile(path, text));
    }
    return {};
  }

  Result<std::string> Ask(std::vector<std::string> args) const {
    return Call(settings_, {.args = std::move(args), .progress = options_.progress});
  }

  std::string Attribute(std::string_view name) const {
    return PathAddress(place_.staged()) + "#" + std::string(name);
  }

  Result<void> Lock() const {
    IGLOO_TRY(Ask({"flake", "lock", PathAddress(place_.staged())}));
    return {};
  }

  Result<std::string> BuildAttribute(std::string_view name) const {
    IGLOO_ASSIGN(const std::string answer,
                 Ask({"build", "--json", "--no-link", "--no-update-lock-file", Attribute(name)}));
    return OutOf(answer);
  }

  Result<bool> IsArtifact(const std::string& out) const {
    IGLOO_ASSIGN(const std::string prefix, StorePrefixOf(settings_, out));
    struct stat info{};
    return ::stat((prefix + out + "/metadata.json").c_str(), &info) == 0 && S_ISREG(info.st_mode);
  }

  Result<std::string> Make() {
    if (wanted_.kind == Kind::kPackage) {
      IGLOO_ASSIGN(std::string out, BuildAttribute("target"));
      IGLOO_ASSIGN(artifact_, IsArtifact(out));
      if (artifact_) return out;
    }
    if (packages_ == Packages::kOfFlake) {
      IGLOO_ASSIGN(const std::string answer,
                   Ask({"eval", "--json", "--no-update-lock-file", Attribute("hasPackages")}));
      if (!answer.starts_with("true")) {
        packages_ = Packages::kOwn;
        IGLOO_TRY(ReplaceFile(place_.staged() + "/flake.nix",
                              FlakeFiles(wanted_, settings_, packages_).at("flake.nix")));
        IGLOO_TRY(Lock());
      }
    }
    return BuildAttribute("environment");
  }

  /// Puts the staged flake where it counts and writes down what was made, in this order: whoever
  /// looks in between finds a record that does not fit its lock, and makes it again.
  Result<Built> Install(const std::string& out) const {
    const std::string staged = place_.staged();
    IGLOO_ASSIGN(const std::string lock, ReadFile(staged + "/flake.lock", kMostOfFlake * 16));
    IGLOO_ASSIGN(const std::string prefix, StorePrefixOf(settings_, out));
    const bool exchanged = ::renameat2(AT_FDCWD, staged.c_str(), AT_FDCWD, place_.flake().c_str(),
                                       RENAME_EXCHANGE) == 0;
    if (!exchanged && ::rename(staged.c_str(), place_.flake().c_str()) != 0) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot put '" + place_.flake() + "' in its place");
    }
    std::error_code ignored;
    fs::remove_all(staged, ignored);
    Built built{.digest = DigestOf(wanted_, settings_),
                .lock = Sha256Hex(lock),
                .out = out,
                .prefix = prefix,
                .reference = ToText(wanted_.reference),
                .flake = wanted_.reference.flake,
                .locked = LockedSource(lock),
                .artifact = artifact_,
                .own_packages = packages_ == Packages::kOwn,
                .trusted = wanted_.trusted};
    IGLOO_TRY(place_.Write({.project = wanted_.project, .built = built}));
    place_.DropLinks(place_.link(out));
    return built;
  }

  const Settings& settings_;
  const Wanted& wanted_;
  const BuildOptions& options_;
  Place place_;
  Packages packages_ = Packages::kOfFlake;
  bool artifact_ = false;
};

/// For whoever lists environments. What is usable stays so when only its renewal failed.
void WriteDown(const Settings& settings, const Wanted& wanted, const Error& error) {
  const Place place(settings, wanted.key);
  Record record = place.ReadRecord();
  const std::string digest = DigestOf(wanted, settings);
  record.project = wanted.project;
  record.failure = Failure{.digest = digest, .what = error.what, .hint = error.hint};
  (void)place.Write(record);
}

}  // namespace

Result<Built> Build(const Settings& settings, const Wanted& wanted, const BuildOptions& options) {
  if (options.pins == Pins::kKeep) {
    State state = Look(settings, wanted);
    if (state.kind == State::Kind::kReady) return std::move(state.built);
  }
  const Place place(settings, wanted.key);
  IGLOO_TRY(place.Make());
  IGLOO_ASSIGN(const UniqueFd lock, place.Lock(Place::Wait::kYes));
  // Somebody else may have been at it meanwhile.
  if (options.pins == Pins::kKeep) {
    State state = Look(settings, wanted);
    if (state.kind == State::Kind::kReady) return std::move(state.built);
  }
  auto built = Attempt(settings, wanted, options).Run();
  std::error_code ignored;
  fs::remove_all(place.staged(), ignored);
  if (built) return built;
  const bool interrupted = built.error().sys_errno == EINTR;
  if (!interrupted) {
    if (built.error().hint.empty()) {
      built.error().hint = AgainHint(wanted);
    }
    WriteDown(settings, wanted, built.error());
  }
  return built;
}

}  // namespace igloo::nix

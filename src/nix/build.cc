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
    IGLOO_TRY(Lock());
    const bool guarded = wanted_.kind == Kind::kShell || !wanted_.trusted.empty();
    if (guarded) IGLOO_TRY(CheckTrusted());
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

  /// SECURITY: what Nix copied is what will be evaluated, and code in a sandbox that may write to
  /// the project could have changed the files since the user's yes was looked up.
  Result<void> CheckTrusted() const {
    IGLOO_ASSIGN(const std::string path,
                 Ask({"eval", "--raw", "--no-update-lock-file", Attribute("path")}));
    const std::string store =
        path.substr(0, path.find('/', std::string_view("/nix/store/").size()));
    IGLOO_ASSIGN(const std::string prefix, StorePrefixOf(settings_, store));
    const auto flake = ReadFile(prefix + path + "/flake.nix", kMostOfFlake);
    const auto lock = ReadFile(prefix + path + "/flake.lock", kMostOfFlake);
    const bool same = flake && FlakeDigest(*flake, lock.value_or("")) == wanted_.trusted &&
                      !wanted_.trusted.empty();
    if (same) return {};
    return Fail(
        Errc::kPermissionDenied, "the flake that Nix sees is not the one that you trust",
        "look at flake.nix and flake.lock (git sees only files that were added to it), then: "
        "igloo trust --flake " +
            ShellQuote(wanted_.project));
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
      built.error().hint = "correct it or try again: igloo env build " + ShellQuote(wanted.name);
    }
    WriteDown(settings, wanted, built.error());
  }
  return built;
}

}  // namespace igloo::nix

#include "nix/home.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <filesystem>

#include "base/file.h"
#include "base/private_directory.h"
#include "base/replace_file.h"
#include "base/sha256.h"
#include "base/text.h"

namespace igloo::nix {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr std::size_t kMostRecord = 1U << 20;
constexpr std::size_t kMostLock = 16U << 20;
constexpr std::string_view kLink = "result-";

Result<UniqueFd> OpenLock(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd) return fd;
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot open '" + path + "'");
}

/// False: somebody else has it.
Result<bool> TryLock(const UniqueFd& fd, int operation) {
  while (::flock(fd.get(), operation | LOCK_NB) != 0) {
    const int saved_errno = errno;
    if (saved_errno == EINTR) continue;
    if (saved_errno == EWOULDBLOCK) return false;
    return FailSys(saved_errno, "cannot lock a directory of igloo's own");
  }
  return true;
}

}  // namespace

std::string BuildCommand(const Wanted& wanted) {
  return "igloo env build " + ShellQuote(wanted.name) +
         (wanted.project.empty() ? "" : " --project " + ShellQuote(wanted.project));
}

std::string AgainHint(const Wanted& wanted) {
  return "correct it or try again: " + BuildCommand(wanted);
}

std::string Place::link(const std::string& out) const {
  constexpr std::size_t kHash = 32;
  return path_ + "/" + std::string(kLink) +
         out.substr(std::string_view("/nix/store/").size(), kHash);
}

Record Place::ReadRecord() const {
  const auto text = ReadFile(path_ + "/record.json", kMostRecord);
  if (!text) return {};
  return ParseRecord(*text).value_or(Record{});
}

Result<void> Place::Write(const Record& record) const {
  return ReplaceFile(path_ + "/record.json", ToJson(record));
}

std::optional<std::string> Place::ReadAdded() const {
  const auto text = ReadFile(path_ + "/added.json", kMostRecord);
  if (!text) return std::nullopt;
  boost::system::error_code error;
  const json::value value = json::parse(*text, error);
  const json::object* object = error ? nullptr : value.if_object();
  const json::value* reference = object != nullptr ? object->if_contains("reference") : nullptr;
  if (reference == nullptr || !reference->is_string()) return std::nullopt;
  return std::string(reference->get_string());
}

Result<void> Place::WriteAdded(const std::string& reference) const {
  return ReplaceFile(path_ + "/added.json",
                     json::serialize(json::object{{"reference", reference}}) + "\n");
}

Result<std::string> Place::ReadLock() const { return ReadFile(flake() + "/flake.lock", kMostLock); }

Result<void> Place::Make() const {
  IGLOO_TRY(OpenPrivateDirectory(path_, OwnLevels::kTwo));
  return {};
}

Result<UniqueFd> Place::Lock(Wait wait) const {
  IGLOO_ASSIGN(UniqueFd fd, OpenLock(path_ + "/lock"));
  IGLOO_ASSIGN(const bool free, TryLock(fd, LOCK_EX));
  if (free) return fd;
  if (wait == Wait::kNo) {
    return Fail(Errc::kFailedPrecondition, "'" + path_ + "' is being made at this moment",
                "wait until that is done");
  }
  while (::flock(fd.get(), LOCK_EX) != 0) {
    const int saved_errno = errno;
    if (saved_errno != EINTR) return FailSys(saved_errno, "cannot lock '" + path_ + "'");
  }
  return fd;
}

Result<UniqueFd> Place::Use() const {
  IGLOO_ASSIGN(UniqueFd fd, OpenLock(path_ + "/use"));
  IGLOO_ASSIGN(const bool shared, TryLock(fd, LOCK_SH));
  if (!shared) {
    return Fail(Errc::kFailedPrecondition, "'" + path_ + "' is being removed",
                "make it again: igloo env build");
  }
  return fd;
}

bool Place::Busy() const {
  const UniqueFd fd(::open((path_ + "/lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return false;
  const auto free = TryLock(fd, LOCK_SH);
  return free && !*free;
}

void Place::DropLinks(const std::string& kept) const {
  const auto use = OpenLock(path_ + "/use");
  if (!use) return;
  const auto unused = TryLock(*use, LOCK_EX);
  if (!unused || !*unused) return;
  std::vector<std::string> old;
  std::error_code failure;
  for (fs::directory_iterator at(path_, failure), end; !failure && at != end;
       at.increment(failure)) {
    const bool is_link = at->path().filename().native().starts_with(kLink);
    if (is_link && at->path().native() != kept) old.push_back(at->path().native());
  }
  for (const std::string& each : old) ::unlink(each.c_str());
}

Result<void> Place::Remove() const {
  IGLOO_ASSIGN(const UniqueFd lock, Lock(Wait::kNo));
  IGLOO_ASSIGN(const UniqueFd use, OpenLock(path_ + "/use"));
  IGLOO_ASSIGN(const bool unused, TryLock(use, LOCK_EX));
  if (!unused) {
    return Fail(Errc::kFailedPrecondition, "'" + path_ + "' is in use",
                "end the server, session or run that uses it first");
  }
  // Out of the way first: whoever comes now finds nothing instead of half of it.
  const fs::path path(path_);
  const std::string aside = path.parent_path().native() + "/.removed-" + path.filename().native() +
                            "-" + std::to_string(::getpid());
  if (::rename(path_.c_str(), aside.c_str()) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot remove '" + path_ + "'");
  }
  std::error_code failure;
  fs::remove_all(aside, failure);
  if (failure) return FailSys(failure.value(), "cannot remove '" + aside + "'");
  return {};
}

State Look(const Settings& settings, const Wanted& wanted) {
  const Place place(settings, wanted.key);
  const std::string what =
      "environment '" + wanted.name + "' (flake " + ToText(wanted.reference) + ")";
  const Record record = place.ReadRecord();
  const std::string digest = DigestOf(wanted, settings);
  struct stat info{};
  if (record.built && record.built->digest == digest) {
    const auto lock = place.ReadLock();
    // Nix's collector takes what nobody links to; somebody may have removed the link, too.
    const bool whole = lock && Sha256Hex(*lock) == record.built->lock &&
                       ::lstat((record.built->prefix + record.built->out).c_str(), &info) == 0 &&
                       ::lstat(place.link(record.built->out).c_str(), &info) == 0;
    if (whole) return {.kind = State::Kind::kReady, .built = *record.built};
  }
  if (place.Busy()) {
    return {.kind = State::Kind::kBuilding,
            .error = {Errc::kFailedPrecondition, what + " is being built by Nix at this moment",
                      "try again when that is done", 0}};
  }
  if (record.failure && record.failure->digest == digest) {
    return {
        .kind = State::Kind::kFailed,
        .error = {Errc::kFailedPrecondition, what + " could not be built: " + record.failure->what,
                  record.failure->hint, 0}};
  }
  return {.error = {Errc::kFailedPrecondition, what + " has not been built yet",
                    "build it: " + BuildCommand(wanted), 0}};
}

std::vector<std::string> Keys(const Settings& settings) {
  std::vector<std::string> keys;
  std::error_code failure;
  for (fs::directory_iterator at(settings.home, failure), end; !failure && at != end;
       at.increment(failure)) {
    std::error_code ignored;
    std::string name = at->path().filename();
    if (!name.starts_with('.') && at->is_directory(ignored)) keys.push_back(std::move(name));
  }
  std::ranges::sort(keys);
  return keys;
}

std::vector<Wanted> Added(const Settings& settings) {
  std::vector<Wanted> all;
  for (const std::string& key : Keys(settings)) {
    const auto text = Place(settings, key).ReadAdded();
    const auto reference = text ? ParseReference(*text, "/") : Result<Reference>();
    if (!text || !reference) continue;
    all.push_back({.key = key, .name = key, .reference = *reference});
  }
  return all;
}

}  // namespace igloo::nix

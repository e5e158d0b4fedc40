// A list of hundreds of artifacts is wanted at every completion of a name. Those in a store never
// change, so that what was read of them once is kept, with the stamps of the directories that tell
// whether they are still there.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>

#include "base/file.h"
#include "base/private_directory.h"
#include "base/replace_file.h"
#include "environment/artifact.h"
#include "environment/artifact_places.h"
#include "environment/names.h"

namespace igloo::environment {
namespace {

namespace fs = std::filesystem;
using Time = std::chrono::system_clock::time_point;

/// Of the format, and of what igloo refuses: one that refuses more has another one.
constexpr std::string_view kHeader = "igloo artifacts 1";
constexpr std::size_t kMaxMemory = 4U << 20;
constexpr std::size_t kWorthIt = 32;  ///< artifacts in a place; fewer are read as quickly

/// What changes when a name in a directory is added, removed or replaced. Empty: it is not there,
/// or so young that a change may not change it.
std::string StampOf(const std::string& directory, Time now) {
  struct stat info{};
  if (::stat(directory.c_str(), &info) != 0) return {};
  const struct timespec at = info.st_ctim;
  const auto changed = std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec);
  // Kernels count ticks of 10 ms or less, and some file systems whole seconds or two of them.
  const auto settled = std::chrono::milliseconds(at.tv_nsec == 0 ? 2000 : 50);
  if (now.time_since_epoch() - changed <= settled) return {};
  return fmt::format("{}:{}:{}:{}", info.st_dev, info.st_ino, at.tv_sec, at.tv_nsec);
}

/// One place as it was.
struct Place {
  struct Entry {
    std::string_view directory = {};
    std::string_view name = {}, description = {}, aliases = {};  ///< no name: it may change
  };
  std::string_view path = {}, stamp = {};
  std::vector<std::pair<std::string_view, std::string_view>> stores = {};  ///< with their stamps
  std::vector<Entry> entries = {};
  std::string_view text = {};  ///< all of this
};

/// Every field ends with a zero byte: no text of an artifact has one.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}
  std::optional<std::string_view> Next() {
    const std::size_t end = rest_.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view field = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return field;
  }
  /// Fills all of them. False: there are too few.
  bool Next(std::initializer_list<std::string_view*> fields) {
    return std::ranges::all_of(fields, [this](std::string_view* field) {
      const auto next = Next();
      if (next) *field = *next;
      return next.has_value();
    });
  }
  const char* at() const { return rest_.data(); }

 private:
  std::string_view rest_;
};

/// All places, or none when anything is not as igloo writes it.
std::vector<Place> Parse(std::string_view text) {
  Fields fields(text);
  std::vector<Place> places;
  if (fields.Next() != kHeader) return {};
  for (const char* begin = fields.at();; begin = fields.at()) {
    const auto kind = fields.Next();
    if (!places.empty() && kind != "P" && kind != "end") {
      const std::string_view before = places.back().text;
      Place& place = places.back();
      Place::Entry entry;
      std::pair<std::string_view, std::string_view> store;
      if (kind == "S" && fields.Next({&store.first, &store.second})) {
        place.stores.push_back(store);
      } else if (kind == "L" && fields.Next({&entry.directory})) {
        place.entries.push_back(entry);
      } else if (kind == "A" &&
                 fields.Next({&entry.directory, &entry.name, &entry.description, &entry.aliases}) &&
                 IsName(entry.name)) {
        place.entries.push_back(entry);
      } else {
        return {};
      }
      place.text = {before.data(), fields.at()};
      continue;
    }
    if (kind == "end") return places;
    Place place;
    if (kind != "P" || !fields.Next({&place.path, &place.stamp})) return {};
    place.text = {begin, fields.at()};
    places.push_back(std::move(place));
  }
}

/// Somebody else's file, or one that others can write, says nothing.
std::string ReadMemory(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info{};
  const bool ours = fd && ::fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode) &&
                    info.st_uid == ::geteuid() && (info.st_mode & 022U) == 0;
  if (!ours) return {};
  return ReadAll(fd.get(), kMaxMemory).value_or("");
}

/// Failing to remember is no failure.
void WriteMemory(const std::string& path, std::string_view places) {
  const fs::path directory = fs::path(path).parent_path();
  std::error_code ignored;
  fs::path nearest = directory;
  while (!nearest.empty() && nearest != "/" && !fs::exists(nearest, ignored)) {
    nearest = nearest.parent_path();
  }
  // A home that is another user's is no place for files of ours.
  struct stat info{};
  if (::stat(nearest.c_str(), &info) != 0 || info.st_uid != ::geteuid()) return;
  if (!OpenPrivateDirectory(directory)) return;
  std::string text(kHeader);
  text += '\0';
  text += places;
  text += std::string_view("end\0", 4);
  static_cast<void>(ReplaceFile(path, text));
}

Artifact Recall(std::string directory, const Place::Entry& entry) {
  Artifact artifact{.directory = std::move(directory), .remembered = true};
  artifact.metadata.name = entry.name;
  artifact.metadata.description = entry.description;
  for (std::string_view rest = entry.aliases; !rest.empty();) {
    const std::string_view alias = rest.substr(0, rest.find(','));
    if (IsName(alias)) artifact.metadata.aliases.emplace_back(alias);
    rest.remove_prefix(std::min(rest.size(), alias.size() + 1));
  }
  return artifact;
}

class Lister {
 public:
  Lister(const Store& store, std::span<const Place> known, Time now)
      : store_(store), known_(known), now_(now) {}

  void Look(const std::string& path) {
    const auto known = std::ranges::find(known_, path, &Place::path);
    const bool same = known != known_.end() && IsAsBefore(path, known->stamp) &&
                      std::ranges::all_of(known->stores, [this](const auto& each) {
                        return IsAsBefore(each.first, each.second);
                      });
    if (!same) return LookAnew(path);
    scan_.BeginPlace(known->entries.size());
    memory_ += known->text;
    for (const Place::Entry& entry : known->entries) {
      std::string directory = path + "/" + std::string(entry.directory);
      auto artifact =
          entry.name.empty() ? ReadArtifact(directory, store_) : Recall(directory, entry);
      scan_.Take(std::move(directory), std::move(artifact));
    }
  }

  /// Whether there is something new to remember.
  bool changed() const { return changed_; }
  std::string_view memory() const { return memory_; }
  ArtifactScan Finish() && { return std::move(scan_).Finish(); }

 private:
  bool IsAsBefore(std::string_view directory, std::string_view stamp) const {
    return !stamp.empty() && StampOf(std::string(directory), now_) == stamp;
  }

  void LookAnew(const std::string& path) {
    // Before anything is read: what changes from now on changes the stamps.
    const std::string stamp = StampOf(path, now_);
    Candidates candidates = CandidatesIn(path);
    scan_.BeginPlace(candidates.names.size());
    if (candidates.error) scan_.Refuse(path, *std::move(candidates.error));
    const bool worth_it = !stamp.empty() && candidates.names.size() >= kWorthIt;
    std::map<std::string, std::string> stores;  // their stamps
    std::string entries;
    std::error_code error;
    const fs::path real = worth_it ? fs::canonical(path, error) : fs::path();
    for (const std::string& name : candidates.names) {
      std::string directory = path + "/" + name;
      const bool fixed = worth_it && !error && IsFixed(real / name, stores);
      auto artifact = ReadArtifact(directory, store_);
      if (worth_it) Remember(name, fixed && artifact ? &*artifact : nullptr, entries);
      scan_.Take(std::move(directory), std::move(artifact));
    }
    if (stores.empty()) return;
    changed_ = true;
    Add({"P", path, stamp}, memory_);
    for (const auto& [directory, its_stamp] : stores) Add({"S", directory, its_stamp}, memory_);
    memory_ += entries;
  }

  /// Whether it is a link right into a store whose stamp is known. What lies there never changes;
  /// it can only be deleted.
  /// `link` has no links before its last name, so that ".." leads where it seems to.
  bool IsFixed(const fs::path& link, std::map<std::string, std::string>& stores) const {
    const auto points_to = ReadLink(link.native());
    if (!points_to) return false;
    const std::string target = (link.parent_path() / *points_to).lexically_normal().native();
    const auto place = FindStorePlace(target);
    if (!place || place->prefix + place->path != target) return false;
    const std::string store = place->prefix + "/nix/store";
    if (stores.contains(store)) return true;
    std::string stamp = StampOf(store, now_);
    return !stamp.empty() && stores.emplace(store, std::move(stamp)).second;
  }

  /// Only what can be used, and says so itself: nothing else is decided by the artifact alone.
  static void Remember(std::string_view name, const Artifact* artifact, std::string& entries) {
    const bool told =
        artifact != nullptr && !artifact->unavailable &&
        (!artifact->metadata.closure.empty() || !artifact->metadata.closure_file.empty());
    if (!told) return Add({"L", name}, entries);
    std::string aliases;
    for (const std::string& alias : artifact->metadata.aliases) {
      aliases += (aliases.empty() ? "" : ",") + alias;
    }
    Add({"A", name, artifact->metadata.name, artifact->metadata.description, aliases}, entries);
  }

  static void Add(std::initializer_list<std::string_view> fields, std::string& out) {
    for (const std::string_view field : fields) {
      out += field;
      out += '\0';
    }
  }

  const Store& store_;
  std::span<const Place> known_;
  Time now_;
  Scan scan_ = {};
  std::string memory_ = {};
  bool changed_ = false;
};

}  // namespace

ArtifactScan ListArtifacts(const std::vector<std::string>& places, const Store& store,
                           const ListMemory& memory) {
  // What another prefix makes of them is not remembered.
  if (memory.file.empty() || store.prefix) return ScanArtifacts(places, store);
  const std::string text = ReadMemory(memory.file);
  const std::vector<Place> known = Parse(text);
  Lister lister(store, known, memory.now);
  for (const std::string& place : places) lister.Look(place);
  if (lister.changed()) WriteMemory(memory.file, lister.memory());
  return std::move(lister).Finish();
}

}  // namespace igloo::environment

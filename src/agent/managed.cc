#include "agent/managed.h"

#include <sys/stat.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

/// igloo writes them into memory of one megabyte for each directory.
constexpr std::size_t kMostSettings = 512U << 10;

std::unexpected<Error> Unusable(const std::string& path, const std::string& why) {
  return Fail(
      Errc::kFailedPrecondition,
      "the settings that this machine's administrator made for the agent cannot hold in the "
      "box: '" +
          Printable(path) + "' " + why,
      "have it put right, or ask for a box without a key of a provider's in the environment");
}

/// The administrator's, with igloo's keys where there are none.
Result<std::string> MergeJson(const std::string& path, const std::string& theirs,
                              const std::string& ours) {
  boost::system::error_code error;
  json::value all = json::parse(theirs, error);
  const json::value own = json::parse(ours);
  if (error || !all.is_object()) return Unusable(path, "is no JSON object");
  for (const auto& [key, value] : own.as_object()) all.as_object().emplace(key, value);
  return json::serialize(all);
}

/// Files in a directory and in those below it.
std::vector<std::string> FilesBelow(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) files.push_back(it->path().string());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

Result<void> AddManagedSettings(const Profile& profile, const Owner& owner, Box& box) {
  if (profile.managed.empty()) return {};
  const std::string source = owner.settings + "/" + std::string(profile.managed);
  const std::string target = "/etc/" + std::string(profile.managed);
  struct stat info{};
  if (::stat(source.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return {};
  if (!profile.managed_lacks.empty()) {
    box.remarks.push_back("the settings of this machine in " + target +
                          " do not hold inside: " + std::string(profile.managed_lacks));
    return {};
  }
  const auto written = [&](const File& file) { return file.path.starts_with(target + "/"); };
  if (std::ranges::none_of(box.files, written)) {
    box.mounts.push_back(
        {sandbox::HostTree{
             .source = source, .target = target, .covering = sandbox::Covering::kIntended},
         "settings by this machine's administrator"});
    return {};
  }
  std::size_t bytes = 0;
  for (const std::string& path : FilesBelow(source)) {
    auto text = ReadFile(path, kMostSettings);
    // What this user may not read, the agent outside does not read either.
    if (!text && text.error().code != Errc::kExhausted) continue;
    if (!text || (bytes += text->size()) > kMostSettings) return Unusable(path, "is too large");
    const std::string inside = target + path.substr(source.size());
    const auto own = std::ranges::find(box.files, inside, &File::path);
    if (own == box.files.end()) {
      box.files.push_back({inside, *std::move(text)});
    } else if (inside.ends_with(".json")) {
      IGLOO_ASSIGN(own->text, MergeJson(path, *text, own->text));
    } else {
      box.remarks.push_back("'" + Printable(inside) +
                            "' of this machine does not count inside: igloo says there where the "
                            "provider is");
    }
  }
  box.remarks.push_back("the settings by this machine's administrator in " + target +
                        " hold inside, as copies");
  return {};
}

}  // namespace igloo::agent

#include "environment/etc.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <functional>
#include <memory>

#include "base/text.h"
#include "base/unique_fd.h"
#include "environment/basics.h"

namespace igloo::environment {
namespace {

constexpr std::array<EtcRow, 33> kRows = {{
    {"ld.so.cache", "where the loader finds libraries"},
    {"alternatives", "Debian's links from /usr/bin to the programs that were chosen"},
    {"ssl/certs", "certificates of public authorities, for TLS"},
    {"ssl/openssl.cnf", "OpenSSL's settings"},
    {"pki/tls/certs", "certificates of public authorities, where Fedora has them"},
    {"pki/ca-trust/extracted", "the files that Fedora's certificates lead to"},
    {"crypto-policies/back-ends", "settings of TLS libraries, where Fedora has them"},
    {"os-release", "which distribution the programs belong to"},
    {"debian_version", "the same, as older programs ask for it"},
    {"locale.alias", "names of locales"},
    {"mime.types", "kinds of files by their endings"},
    {"magic", "the user's additions to what 'file' knows"},
    {"magic.mime", "the same for kinds of files"},
    {"inputrc", "keys at a prompt"},
    {"fonts", "fontconfig: which fonts there are"},
    {"matplotlibrc", "matplotlib does not start without it"},
    {"ImageMagick-*", "ImageMagick's formats, colours, fonts and limits"},
    {"java-*-openjdk", "Java does not start without its settings"},
    {"perl", "a directory of Perl's modules"},
    {"python3", "which versions of Python there are"},
    {"python3.*", "Python's sitecustomize"},
    {"R", "R's settings"},
    {"octave.conf", "Octave's settings"},
    {"julia", "Julia's settings"},
    {"mono", "settings of the runtime Mono"},
    {"fpc*.cfg", "Free Pascal does not find its units without it"},
    {"gnucobol", "GnuCOBOL does not start without it"},
    {"xml", "where XML's catalogs are"},
    {"sgml", "where SGML's catalogs are"},
    {"texmf", "TeX's settings"},
    {"papersize", "the paper that documents are made for"},
    {"ghostscript", "Ghostscript's fonts"},
    {"dictionaries-common", "links from /usr/share/dict to the word lists that were chosen"},
}};

/// Nothing that packages need is deeper or larger, and looking takes time.
constexpr int kMostDeep = 8;
constexpr std::size_t kMostNames = 4096;

using Directory = std::unique_ptr<DIR, int (*)(DIR*)>;

Directory OpenDirectory(int parent, const char* name) {
  // SECURITY: O_NOFOLLOW, so that a link in the place of a directory shows nothing.
  UniqueFd fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  Directory directory(fd ? ::fdopendir(fd.get()) : nullptr, ::closedir);
  if (directory) (void)fd.Release();
  return directory;
}

/// The names in it, until `look` returns false; whether that never happened.
bool ForEachName(const Directory& directory, const std::function<bool(const dirent&)>& look) {
  ::rewinddir(directory.get());
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && !look(*entry)) return false;
  }
  return true;
}

std::vector<std::string> SortedNames(const Directory& directory) {
  std::vector<std::string> names;
  ForEachName(directory, [&](const dirent& entry) {
    // What is not text would have to be shown in plans, which are.
    if (Printable(entry.d_name) == entry.d_name) names.emplace_back(entry.d_name);
    return true;
  });
  std::ranges::sort(names);
  return names;
}

/// SECURITY: the caller's own rights do not count: code in a sandbox has the caller's id when a
/// user starts it, and no user's file of /etc is for code.
bool IsForEverybody(const struct stat& info) {
  if (S_ISREG(info.st_mode)) return (info.st_mode & 0004) != 0;
  return S_ISDIR(info.st_mode) && (info.st_mode & 0005) == 0005;
}

/// Whether all that is in a directory is for everybody. Links are: what they lead to is looked up
/// inside.
bool IsOpen(const Directory& directory, int depth, std::size_t& names) {
  if (!directory || depth > kMostDeep) return false;
  const int fd = ::dirfd(directory.get());
  return ForEachName(directory, [&](const dirent& entry) {
    if (++names > kMostNames) return false;
    if (entry.d_type == DT_LNK) return true;
    struct stat info{};
    if (::fstatat(fd, entry.d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
    if (S_ISLNK(info.st_mode)) return true;
    if (!IsForEverybody(info)) return false;
    return !S_ISDIR(info.st_mode) || IsOpen(OpenDirectory(fd, entry.d_name), depth + 1, names);
  });
}

std::string ReadLink(int parent, const char* name) {
  std::array<char, PATH_MAX> target;
  const ssize_t size = ::readlinkat(parent, name, target.data(), target.size());
  return {target.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

/// What is being put together.
struct Collection {
  Reader reader;
  std::vector<EtcPart> parts = {};
};

void Collect(int parent, const std::string& name, const std::string& path, int depth,
             Collection& all) {
  std::vector<EtcPart>& parts = all.parts;
  struct stat info{};
  if (::fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (S_ISLNK(info.st_mode)) {
    // SECURITY: it is never followed here, so it shows no file that it leads to.
    std::string target = ReadLink(parent, name.c_str());
    if (!target.empty()) parts.push_back({.path = path, .points_to = std::move(target)});
    return;
  }
  if (!IsForEverybody(info)) return;
  if (S_ISREG(info.st_mode)) return parts.push_back({.path = path});
  // Code that is nobody's cannot open what is not for everybody, wherever it lies.
  if (all.reader == Reader::kNobody) return parts.push_back({.path = path, .directory = true});
  const Directory directory = OpenDirectory(parent, name.c_str());
  std::size_t names = 0;
  if (IsOpen(directory, depth, names)) return parts.push_back({.path = path, .directory = true});
  if (!directory || depth > kMostDeep || names > kMostNames) return;
  for (const std::string& each : SortedNames(directory)) {
    Collect(::dirfd(directory.get()), each, fmt::format("{}/{}", path, each), depth + 1, all);
  }
}

bool Matches(std::string_view pattern, const std::string& name) {
  return ::fnmatch(std::string(pattern).c_str(), name.c_str(), FNM_PERIOD) == 0;
}

/// Those that match a pattern; all other rows are looked up by their names.
std::vector<std::string> NamesWithVersions(const Directory& root) {
  std::vector<std::string> names;
  ForEachName(root, [&](const dirent& entry) {
    const bool matches = std::ranges::any_of(kRows, [&](const EtcRow& row) {
      return row.pattern.contains('*') &&
             std::string_view(entry.d_name)
                 .starts_with(row.pattern.substr(0, row.pattern.find('*')));
    });
    if (matches) names.emplace_back(entry.d_name);
    return true;
  });
  std::ranges::sort(names);
  return names;
}

/// Below `root`, without a link on the way.
UniqueFd OpenBelow(int root, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
}

void CollectRow(int root, std::string_view pattern, Collection& all) {
  const std::size_t slash = pattern.rfind('/');
  if (slash == std::string_view::npos) {
    return Collect(root, std::string(pattern), std::string(pattern), 0, all);
  }
  const UniqueFd parent = OpenBelow(root, std::string(pattern.substr(0, slash)));
  if (!parent) return;
  Collect(parent.get(), std::string(pattern.substr(slash + 1)), std::string(pattern), 0, all);
}

}  // namespace

std::span<const EtcRow> EtcRows() { return kRows; }

std::string_view WhyInEtc(std::string_view target) {
  constexpr std::string_view kPlace = "/etc/";
  if (!target.starts_with(kPlace)) return {};
  const std::string path(target.substr(kPlace.size()));
  for (const EtcRow& row : kRows) {
    // A row stands for all that is below it.
    const bool below = path.starts_with(std::string(row.pattern) + "/");
    if (below || Matches(row.pattern, path.substr(0, path.find('/'))) || path == row.pattern) {
      return row.reason;
    }
  }
  return {};
}

Reader UsualReader() { return ::geteuid() == 0 ? Reader::kNobody : Reader::kCaller; }

std::vector<EtcPart> ReadEtc(const std::string& directory, Reader reader) {
  Collection all{.reader = reader};
  const Directory root = OpenDirectory(AT_FDCWD, directory.c_str());
  if (!root) return {};
  const std::vector<std::string> versioned = NamesWithVersions(root);
  for (const EtcRow& row : kRows) {
    if (!row.pattern.contains('*')) {
      CollectRow(::dirfd(root.get()), row.pattern, all);
      continue;
    }
    for (const std::string& name : versioned) {
      if (Matches(row.pattern, name)) CollectRow(::dirfd(root.get()), name, all);
    }
  }
  return std::move(all.parts);
}

void AddEtc(const std::string& directory, const std::vector<EtcPart>& parts,
            std::vector<sandbox::Entry>& contents) {
  for (const EtcPart& part : parts) {
    const std::string target = "/etc/" + part.path;
    if (part.points_to.empty()) {
      // All directories are parts of one overlay: one of each costs a start and an end of its own.
      AddTree(contents, directory + "/" + part.path, sandbox::Presence::kOptional, target,
              part.directory ? directory : "");
    } else {
      contents.emplace_back(sandbox::Link{.path = target, .points_to = part.points_to});
    }
  }
}

}  // namespace igloo::environment

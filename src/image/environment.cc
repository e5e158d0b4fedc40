#include "image/environment.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <span>
#include <sstream>

#include "base/text.h"
#include "environment/basics.h"
#include "language/language.h"
#include "sandbox/path.h"

namespace igloo::image {
namespace {

using environment::Environment;
using sandbox::Presence;

constexpr std::string_view kUsualPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What igloo itself puts there. What lies there in an image is of the time when it was made.
constexpr std::string_view kOwn[] = {".igloo",  "dev", "proc", "project",  "run",
                                     "sandbox", "sys", "tmp",  "workspace"};
constexpr std::string_view kOwnEtc[] = {"group",  "hosts",       "mtab",  "nsswitch.conf",
                                        "passwd", "resolv.conf", "shadow"};

/// Each name of the root becomes a mount, or a link; real ones have some twenty.
constexpr std::size_t kMostTop = 128, kMostEtc = 1024;

UniqueFd OpenInside(int root, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  // SECURITY: an absolute link leads to the image's own files, never to the host's.
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
}

bool IsProgram(int root, const std::string& path) {
  const UniqueFd fd = OpenInside(root, path);
  struct stat info{};
  return fd && ::fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 0111) != 0;
}

std::string PathVariable(const Record& record) {
  const auto found = record.variables.find("PATH");
  return found == record.variables.end() ? std::string(kUsualPath) : found->second;
}

std::vector<std::string> ProgramPlaces(const std::string& path) {
  std::vector<std::string> places;
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, ':') && places.size() < 32;) {
    if (part.starts_with('/')) places.push_back(part);
  }
  return places;
}

std::optional<RootName> NameAt(int directory, const char* name) {
  struct stat info{};
  if (::fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  RootName out{.name = name};
  if (S_ISDIR(info.st_mode)) {
    out.kind = RootName::Kind::kDirectory;
  } else if (S_ISLNK(info.st_mode)) {
    out.kind = RootName::Kind::kLink;
    std::array<char, PATH_MAX> target;
    const ssize_t size = ::readlinkat(directory, name, target.data(), target.size());
    if (size <= 0) return std::nullopt;
    out.points_to.assign(target.data(), static_cast<std::size_t>(size));
  } else if (!S_ISREG(info.st_mode)) {
    return std::nullopt;  // devices and pipes of a directory that somebody else unpacked
  }
  return out;
}

Result<std::vector<RootName>> NamesIn(UniqueFd directory, std::size_t most) {
  const int fd = directory.get();
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(fd), ::closedir);
  if (!stream) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot list the image");
  }
  (void)directory.Release();
  std::vector<RootName> names;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    // What is not text would have to be shown in plans, which are.
    if (name == "." || name == ".." || Printable(name) != name) continue;
    if (auto found = NameAt(fd, entry->d_name)) names.push_back(*std::move(found));
    if (names.size() > most) {
      return Fail(Errc::kFailedPrecondition, "the image has more than " + std::to_string(most) +
                                                 " names in its root or its /etc");
    }
  }
  std::ranges::sort(names, {}, &RootName::name);
  return names;
}

/// `source` is `root` or a directory of it.
void AddNames(const std::vector<RootName>& names, const std::string& root,
              const std::string& source, const std::string& target,
              std::span<const std::string_view> own, std::vector<sandbox::Entry>& contents) {
  for (const RootName& each : names) {
    if (std::ranges::find(own, each.name) != own.end()) continue;
    const std::string path = target + "/" + each.name;
    if (each.kind == RootName::Kind::kLink) {
      // SECURITY: a link stays a link and means something inside only.
      contents.emplace_back(sandbox::Link{.path = path, .points_to = each.points_to});
    } else {
      environment::AddTree(contents, source + "/" + each.name, Presence::kRequired, path, root);
    }
  }
}

std::vector<sandbox::Entry> Contents(const std::string& root, const RootLayout& layout) {
  // /etc is made name by name, for some of it is igloo's.
  std::vector<std::string_view> own(std::begin(kOwn), std::end(kOwn));
  own.emplace_back("etc");
  std::vector<sandbox::Entry> contents;
  AddNames(layout.top, root, root, "", own, contents);
  AddNames(layout.etc, root, root + "/etc", "/etc", kOwnEtc, contents);
  environment::AddBasics(contents);
  return contents;
}

std::string FindProgram(std::string_view program, const Image& image, const RootLayout& layout) {
  for (const std::string& place : ProgramPlaces(PathVariable(image.record))) {
    std::string path = place + "/" + std::string(program);
    if (layout.programs.contains(path)) return path;
  }
  return {};
}

/// SECURITY: what is shown as an image is shown as a whole. The root directory and a home have
/// keys and passwords in them; whoever names one wants something else.
Result<void> CheckServable(int root, const std::string& path) {
  std::vector<std::string> private_places = {"/"};
  const char* home = std::getenv("HOME");
  const std::unique_ptr<char, decltype(&std::free)> real(
      home != nullptr ? ::realpath(home, nullptr) : nullptr, &std::free);
  if (real) {
    std::ranges::move(sandbox::Ancestors(real.get()), std::back_inserter(private_places));
    private_places.emplace_back(real.get());
  }
  struct stat own{};
  if (::fstat(root, &own) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot look at '" + Printable(path) + "'");
  }
  for (const std::string& each : private_places) {
    // Not by its name: links and other mounts give it several.
    struct stat info{};
    if (::stat(each.c_str(), &info) != 0) continue;
    if (info.st_dev != own.st_dev || info.st_ino != own.st_ino) continue;
    return Fail(
        Errc::kInvalidArgument,
        "'" + Printable(path) + "' is no image: it " +
            (each == "/" ? "is the root of this machine" : "is or holds your home directory") +
            ", and code would see all of it",
        "name a directory with an unpacked root file system, such as /srv/rootfs; to run "
        "with this machine's programs, use preset = \"shell\"");
  }
  return {};
}

}  // namespace

Result<RootLayout> ReadRoot(const std::string& root, const Record& record) {
  UniqueFd fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open the image at '" + Printable(root) + "'");
  }
  IGLOO_TRY(CheckServable(fd.get(), root));
  RootLayout layout;
  for (const std::string& place : ProgramPlaces(PathVariable(record))) {
    for (const language::Language& each : language::All()) {
      const std::string path = place + "/" + std::string(each.programs[0]);
      if (each.in_images && IsProgram(fd.get(), path)) layout.programs.insert(path);
    }
  }
  UniqueFd etc(::openat(fd.get(), "etc", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (etc) {
    IGLOO_ASSIGN(layout.etc, NamesIn(std::move(etc), kMostEtc));
  }
  IGLOO_ASSIGN(layout.top, NamesIn(std::move(fd), kMostTop));
  return layout;
}

Result<Environment> MakeEnvironment(const std::string& name, const Image& image,
                                    const RootLayout& layout) {
  const auto has = [&](std::string_view file) {
    return std::ranges::find(layout.top, file, &RootName::name) != layout.top.end();
  };
  if (has("oci-layout") && has("blobs")) {
    return Fail(Errc::kInvalidArgument,
                "'" + Printable(image.root) + "' is an image that is not unpacked",
                "write it as oci:" + Printable(image.root));
  }
  if (layout.top.empty()) {
    return Fail(Errc::kFailedPrecondition, "the image at '" + Printable(image.root) + "' is empty");
  }
  Environment environment{.name = name,
                          .description = "programs of an image",
                          .provider = "image",
                          .contents = Contents(image.root, layout),
                          .variables = image.record.variables,
                          .code_file = "main",
                          .entrypoint = image.record.entrypoint,
                          .notes = image.record.notes};
  for (const RootName& each : layout.top) {
    const bool own = std::ranges::find(kOwn, each.name) != std::end(kOwn) || each.name == "etc";
    if (each.kind != RootName::Kind::kDirectory || own) continue;
    environment.copied.push_back("/" + each.name);
  }
  environment.variables["PATH"] = PathVariable(image.record);
  environment.variables.emplace("LANG", "C.UTF-8");
  for (const language::Language& each : language::All()) {
    if (!each.in_images) continue;
    const std::string program = FindProgram(each.programs[0], image, layout);
    if (program.empty()) continue;
    environment.interpreter = {program};
    environment.code_file = each.code_file;
    if (each.driver) environment.language = each.name;
    break;
  }
  for (const std::string_view each : {"bash", "sh"}) {
    const std::string program = FindProgram(each, image, layout);
    if (program.empty() || !environment.shell.empty()) continue;
    environment.shell = {program};
  }
  if (environment.interpreter.empty()) {
    environment.notes.emplace_back(
        "it has none of python3, node, bash and sh: it runs programs, "
        "but no code");
  }
  return environment;
}

}  // namespace igloo::image

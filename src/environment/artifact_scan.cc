#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "environment/artifact.h"

namespace igloo::environment {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxMetadata = 4U << 20;

/// A pipe or a device in the place of a file would keep us waiting.
constexpr int kReading = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

/// A regular file's text. `path` is for people; `fd` is not valid when errno says why.
Result<std::string> ReadOpened(const UniqueFd& fd, const std::string& path) {
  if (!fd) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open '" + path + "'");
  }
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Fail(Errc::kInvalidArgument, "'" + path + "' is not a file");
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size > kMaxMetadata) {
    return Fail(Errc::kExhausted, "'" + path + "': more than " + HumanBytes(kMaxMetadata));
  }
  // There may be hundreds: no call more than it takes.
  std::string text(size, '\0');
  for (std::size_t at = 0; at < size;) {
    const ssize_t count = ::pread(fd.get(), text.data() + at, size - at, static_cast<off_t>(at));
    const int saved_errno = errno;
    if (count < 0 && saved_errno == EINTR) continue;
    if (count < 0) return FailSys(saved_errno, "cannot read '" + path + "'");
    if (count == 0) text.resize(at);  // it has become shorter
    if (count == 0) break;
    at += static_cast<std::size_t>(count);
  }
  return text;
}

Result<std::string> ReadRegular(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), kReading));
  return ReadOpened(fd, path);
}

/// A file right below a store path. SECURITY: links are not followed, neither of the file nor of
/// the store path: who made them would have us read any file of the host.
Result<std::string> ReadInStore(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string owner = path.substr(0, slash), name = path.substr(slash + 1);
  const UniqueFd directory(::open(owner.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) return ReadOpened(directory, path);
  const UniqueFd fd(::openat(directory.get(), name.c_str(), kReading | O_NOFOLLOW));
  return ReadOpened(fd, path);
}

StorePath LookAt(const std::string& physical, const std::vector<std::string>& programs) {
  StorePath found;
  struct stat info{};
  if (::lstat(physical.c_str(), &info) != 0) return found;
  if (S_ISLNK(info.st_mode)) {
    found.kind = StorePath::Kind::kLink;
    if (auto target = ReadLink(physical)) found.points_to = *std::move(target);
    return found;
  }
  found.kind = StorePath::Kind::kTree;
  const std::string bin = physical + "/bin/";
  found.has_bin = ::access(bin.c_str(), F_OK) == 0;
  for (const std::string& program : programs) {
    // Not followed: below another prefix a link points to where the file will be inside.
    if (found.has_bin && ::lstat((bin + program).c_str(), &info) == 0) {
      found.programs.emplace(program);
    }
  }
  return found;
}

/// What the metadata asks for and igloo does not have yet. SECURITY: nothing weaker stands in.
std::optional<Error> NotYet(const ArtifactMetadata& metadata) {
  const auto refuse = [&](const std::string& what, const std::string& fix) {
    return Error{
        Errc::kFailedPrecondition,
        "environment '" + metadata.name + "' asks for " + what + ", which is not available yet",
        "build it with " + fix + ", or use a newer igloo", 0};
  };
  // SECURITY: a right that only the user's own configuration names.
  if (metadata.network == "host") {
    return Error{
        Errc::kFailedPrecondition,
        "environment '" + metadata.name + "' asks for the host's network, which no artifact gets",
        "build it with network = \"internet\" or \"none\"", 0};
  }
  const wall::Wall* const wall = wall::Find(metadata.backend);
  if (wall == nullptr) {
    Error error = wall::Choose(metadata.backend).error();
    error.what = "environment '" + metadata.name + "': " + error.what;
    return error;
  }
  if (!wall->served) {
    return refuse("the backend '" + metadata.backend + "'",
                  "backend = \"" + std::string(wall::kDefault.name) + "\"");
  }
  return std::nullopt;
}

/// Where in a store an artifact lies; people collect links to results of builds.
std::optional<StorePlace> PlaceOf(const std::string& directory) {
  std::error_code error;
  const fs::path real = fs::canonical(directory, error);
  return error ? std::nullopt : FindStorePlace(real.native());
}

/// Nothing else is said about an original that lies in no store.
Error NoClosure(const Artifact& artifact) {
  return MakeArtifactEnvironment(artifact.metadata, artifact.directory, {}).error();
}

/// The closure of an artifact that says nothing about it itself, as Nix knows it.
Result<void> AskForClosure(const Artifact& artifact, const ClosureOf& closure_of,
                           ArtifactMetadata& metadata) {
  // Links could lead into another store than the one that is meant.
  const auto place =
      artifact.prefix_is_final ? FindStorePlace(artifact.directory) : PlaceOf(artifact.directory);
  if (!place || !closure_of) return std::unexpected(NoClosure(artifact));
  auto closure = closure_of(*place);
  if (!closure) {
    Error error =
        Wrap("asking Nix for the closure of '" + place->path + "'", std::move(closure).error())
            .error();
    if (error.hint.empty()) error.hint = NoClosure(artifact).hint;
    return std::unexpected(std::move(error));
  }
  if (!artifact.prefix_is_final) metadata.store_prefix = place->prefix;
  metadata.closure = *std::move(closure);
  // The wrapper scripts are for the host: its own bin is not one of programs.
  std::erase(metadata.closure, place->path);
  // What is needed comes before what needs it; an interpreter with its packages is of the latter.
  std::ranges::reverse(metadata.closure);
  return {};
}

/// The closure of an artifact that names a file with it.
Result<std::vector<std::string>> ReadClosure(const Artifact& artifact,
                                             const ArtifactMetadata& metadata) {
  const auto text = ReadInStore(metadata.store_prefix + metadata.closure_file);
  auto list = text ? ParseClosure(*text) : std::unexpected(text.error());
  if (list) return list;
  Error error = Wrap("environment '" + metadata.name + "'", std::move(list).error()).error();
  error.hint = NoClosure(artifact).hint;
  return std::unexpected(std::move(error));
}

}  // namespace

Artifact Assess(const std::string& directory, ArtifactMetadata metadata, const Store& store) {
  Artifact artifact{.directory = directory, .metadata = std::move(metadata)};
  artifact.unavailable = NotYet(artifact.metadata);
  const ArtifactMetadata& read = artifact.metadata;
  const bool told = !read.closure.empty() || !read.closure_file.empty() || !read.image.empty();
  if (!artifact.unavailable && !told && (!store.closure_of || !PlaceOf(directory))) {
    artifact.unavailable = NoClosure(artifact);
  }
  return artifact;
}

Result<Artifact> ReadArtifact(const std::string& directory, const Store& store) {
  IGLOO_ASSIGN(const std::string text, ReadRegular(directory + "/metadata.json"));
  IGLOO_ASSIGN(ArtifactMetadata metadata, ParseArtifactMetadata(text));
  if (store.prefix) metadata.store_prefix = *store.prefix;
  while (metadata.store_prefix.ends_with('/')) metadata.store_prefix.pop_back();
  const bool original =
      metadata.closure.empty() && metadata.closure_file.empty() && metadata.image.empty();
  if (original && ::access((directory + "/bin/run").c_str(), F_OK) != 0) {
    return Fail(Errc::kInvalidArgument, "it has neither a closure nor bin/run");
  }
  Artifact artifact = Assess(directory, std::move(metadata), store);
  artifact.prefix_is_final = store.prefix.has_value();
  return artifact;
}

Result<Environment> OpenArtifact(const Artifact& artifact, const ClosureOf& closure_of) {
  if (artifact.unavailable) return std::unexpected(*artifact.unavailable);
  if (artifact.remembered) {
    IGLOO_ASSIGN(const Artifact read, ReadArtifact(artifact.directory, {.closure_of = closure_of}));
    return OpenArtifact(read, closure_of);
  }
  ArtifactMetadata metadata = artifact.metadata;
  if (metadata.store_prefix.empty() && !artifact.prefix_is_final) {
    // One that lies in a store of its own needs what lies beside it.
    if (auto place = PlaceOf(artifact.directory)) metadata.store_prefix = std::move(place->prefix);
  }
  if (!metadata.closure_file.empty()) {
    IGLOO_ASSIGN(metadata.closure, ReadClosure(artifact, metadata));
  } else if (metadata.closure.empty()) {
    IGLOO_TRY(AskForClosure(artifact, closure_of, metadata));
  }
  const std::vector<std::string> programs = ProgramsOf(metadata);
  std::vector<StorePath> store;
  store.reserve(metadata.closure.size());
  for (const std::string& path : metadata.closure) {
    store.push_back(LookAt(metadata.store_prefix + path, programs));
  }
  return MakeArtifactEnvironment(metadata, artifact.directory, store);
}

}  // namespace igloo::environment

#include "bench/artifacts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "bench/stopwatch.h"
#include "environment/artifact.h"

namespace igloo::bench {
namespace {

namespace fs = std::filesystem;

/// Static: a closure of one's own has nothing of the host's.
constexpr const char* kProgram = "/bin/bash-static";

std::string StorePath(std::size_t number) { return fmt::format("/nix/store/{:032d}-pkg", number); }

void MakeStore(const std::string& prefix, std::size_t packages) {
  fs::create_directories(prefix + StorePath(0) + "/bin");
  fs::copy_file(kProgram, prefix + StorePath(0) + "/bin/bash");
  std::ofstream list(prefix + StorePath(0) + "/store-paths");
  for (std::size_t i = 0; i < packages; ++i) {
    fs::create_directories(prefix + StorePath(i));
    list << StorePath(i) << "\n";
  }
}

}  // namespace

Result<FakeArtifacts> FakeArtifacts::Make(std::size_t artifacts, std::size_t packages) {
  if (::access(kProgram, X_OK) != 0) {
    return Fail(Errc::kNotFound, "not installed; get it with: apt install bash-static");
  }
  IGLOO_ASSIGN(TempDir directory, TempDir::Make("/tmp"));
  FakeArtifacts made(std::move(directory), artifacts);
  const std::string root = made.directory_.path();
  try {
    fs::permissions(root, fs::perms(0755));
    MakeStore(root + "/prefix", packages);
    for (std::size_t i = 0; i < artifacts; ++i) {
      // As 'nix build --out-link' leaves them: in the store, and a link.
      const std::string artifact =
          fmt::format("{}/prefix/nix/store/{:032d}-sandbox-{}", root, i, i);
      fs::create_directories(artifact);
      fs::create_directories(made.place());
      fs::create_directory_symlink(artifact, fmt::format("{}/{:04d}", made.place(), i));
      std::ofstream(artifact + "/metadata.json") << fmt::format(
          R"({{"schema":1,"name":"artifact-{0}","aliases":["a{0}"],"description":"Number {0} of many","interpreter_type":"bash",)"
          R"("timeout_seconds":30,"memory_mb":512,"env":{{"LANG":"C.UTF-8"}},"root":"{1}","closure":"{1}/store-paths","store_prefix":"{2}/prefix"}})",
          i, StorePath(0), root);
    }
  } catch (const fs::filesystem_error& error) {
    return Fail(Errc::kFailedPrecondition, error.what());
  }
  return made;
}

Result<environment::Environment> FakeArtifacts::Open() const {
  IGLOO_ASSIGN(const auto artifact, environment::ReadArtifact(place() + "/0000"));
  return environment::OpenArtifact(artifact);
}

Result<double> FakeArtifacts::Scan() const {
  const Stopwatch watch;
  const auto scan = environment::ScanArtifacts({place()});
  const double micros = watch.micros();
  if (scan.found.size() != count_) return Fail(Errc::kInternal, "not all artifacts were found");
  return micros;
}

}  // namespace igloo::bench

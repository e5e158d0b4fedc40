#include <algorithm>
#include <string_view>

#include "language/language.h"
#include "tools/per_environment.h"

namespace igloo::tools {
namespace {

using Words = std::vector<std::string>;

// Before version 22 Java takes preview features from a source file only together with the version
// that it has itself, which stands in its file 'release'. Heap and collector are chosen because
// Java would choose them by the host's memory and processors; what the sandbox's own command says
// comes later and counts.
constexpr const char* kJava = R"sh(heap=$1; shift
home=$(readlink -f "$(command -v "$0")")
home=${home%/bin/java}
while IFS='=' read -r key value; do
  if [ "$key" = JAVA_VERSION ]; then version=${value#\"}; version=${version%%[!0-9]*}; fi
done 2>/dev/null <"$home/release"
if [ "${version:-99}" -lt 22 ]; then set -- --source "$version" "$@"; fi
export JAVA_HOME="$home"
exec "$0" "-Xmx${heap}m" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData "$@"
)sh";

// Of its words the first $1 are started beside, where nobody hears them; the rest is the command.
constexpr const char* kBeside = R"sh(count=$1; shift
if ! command -v "$1" >/dev/null; then echo "before: $1: not found" >&2; exit 127; fi
(
  others=$(($# - count))
  while [ "$count" -gt 0 ]; do word=$1; shift; set -- "$@" "$word"; count=$((count - 1)); done
  shift "$others"
  exec "$@"
) </dev/null >/dev/null 2>&1 &
shift "$count"
exec "$@"
)sh";

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool NeedsSource(const Words& command) {
  const auto says_version = [](std::string_view word) {
    return word.starts_with("--source") || word.starts_with("--release");
  };
  return BaseName(command[0]) == "java" &&
         std::ranges::find(command, "--enable-preview") != command.end() &&
         std::ranges::none_of(command, says_version);
}

Words Script(std::string_view script, std::string_view name, std::string parameter) {
  return {"sh", "-c", std::string(script), std::string(name), std::move(parameter)};
}

void Append(Words& words, const Words& more, std::size_t from = 0) {
  words.insert(words.end(), more.begin() + static_cast<std::ptrdiff_t>(from), more.end());
}

Words Adapt(const config::SandboxSpec& spec) {
  Words command = spec.command;
  // Debian has no program 'python'.
  if (const auto* known = language::FindByProgram(command[0])) command[0] = known->programs[0];
  if (NeedsSource(command)) {
    const std::uint64_t heap = spec.resources.memory_mb.value_or(512) / 2;
    Words java = Script(kJava, command[0], std::to_string(heap));
    Append(java, command, 1);
    return java;
  }
  return command;
}

}  // namespace

Words CommandLine(const config::SandboxSpec& spec, const Words& entrypoint) {
  Words first = entrypoint;
  if (spec.before.empty()) {
    Append(first, Adapt(spec));
    return first;
  }
  Append(first, spec.before);
  Words both = Script(kBeside, "sh", std::to_string(first.size()));
  Append(both, first);
  Append(both, Adapt(spec));
  return both;
}

}  // namespace igloo::tools

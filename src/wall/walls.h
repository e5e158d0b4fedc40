#pragma once

// The walls that igloo knows: their names and what each can do. Data alone; src/backend/registry.h
// makes them. Nothing outside of these two asks for a wall's name to decide something.

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/error.h"

namespace igloo::wall {

/// What a wall can do beside a run that gets its input, prints and ends.
struct Capabilities {
  bool sessions = false;          ///< interpreters that remember from call to call
  bool waiting_programs = false;  ///< interpreters that are loaded and wait for their code
  bool hands_out = false;         ///< directories of a sandbox that igloo reads and writes
  bool listeners = false;         ///< sockets of a sandbox, so a network through igloo-proxy
  bool device = false;            ///< a network device, for programs that know no proxy
  bool own_kernel = false;        ///< a sandbox does not share the host's
  bool needs_root = false;        ///< only root can start one
  /// Limits on the number of files in memory ('disk_files'), and memory without programs in it.
  bool fine_memory_limits = false;
  bool views = false;         ///< copy-on-write trees, and shared ones with inodes of their own
  bool timeline = false;      ///< tells where a start-up spent its time
  bool tells_start = false;   ///< tells whether a sandbox was made, so a lost start is repeated
  bool starts_ahead = false;  ///< has something to start while a run is still planned
  bool prepares = false;      ///< keeps what sandboxes of one environment have in common
};

/// One row.
struct Wall {
  std::string_view name;
  std::string_view description;
  bool served = false;  ///< in this igloo; a known name that is not is refused as such
  Capabilities can = {};
  std::string_view shown_as = {};  ///< the word of --as that prints a plan as its command
  std::string_view caveat = {};    ///< what is weaker behind it, said to whoever chooses it
  std::string_view launcher = {};  ///< the older program that igloo stands in for behind it
};

/// INVARIANT: the first one is served, and is what counts where nobody names a wall.
inline constexpr Wall kWalls[] = {
    {.name = "jail",
     .description = "namespaces of the kernel, made by igloo-jail",
     .served = true,
     .can = {.sessions = true,
             .waiting_programs = true,
             .hands_out = true,
             .listeners = true,
             .device = true,
             .fine_memory_limits = true,
             .views = true,
             .timeline = true,
             .tells_start = true,
             .starts_ahead = true,
             .prepares = true},
     .launcher = "claude-sandbox"},
    {.name = "bubblewrap",
     .description = "namespaces of the kernel, made by /usr/bin/bwrap",
     .served = true,
     .shown_as = "bwrap",
     .caveat =
         "bubblewrap cannot limit the number of files in memory nor forbid programs in /dev/shm, a "
         "socket that lies in a project can be reached, and code can watch which files of /usr "
         "others use, and lock them"},
    {.name = "container",
     .description = "a container that an engine of this machine runs",
     .launcher = "claude-sandbox-container"},
    {.name = "microvm",
     .description = "a virtual machine with a kernel of its own, made by QEMU",
     .served = true,
     .can = {.sessions = true, .own_kernel = true, .fine_memory_limits = true, .views = true},
     .launcher = "claude-sandbox-vm"},
};

inline constexpr const Wall& kDefault = kWalls[0];
static_assert(kDefault.served);

/// What this igloo knows. Tests bring lists of their own.
constexpr std::span<const Wall> All() { return kWalls; }

/// The row of a name; nullptr: there is no such wall.
const Wall* Find(std::string_view name, std::span<const Wall> walls = All());
/// The served wall of a name, as somebody typed it. Fails with the names that there are.
Result<const Wall*> Choose(std::string_view name, std::span<const Wall> walls = All());
/// The error for a row that is not served.
Error NotServed(const Wall& wall, std::span<const Wall> walls = All());
/// The wall whose command --as WORD prints; nullptr: there is none.
const Wall* FindShownAs(std::string_view word);
/// The wall behind an older launcher of this name; nullptr: igloo stands in for no such program.
const Wall* FindByLauncher(std::string_view launcher, std::span<const Wall> walls = All());

// The names as other tables of constants need them.
namespace names {

enum class Style { kWords, kSentence };  ///< "a b c", "the wall: a (default), b or c"

constexpr bool IsKnown(const Wall&) { return true; }
constexpr bool IsServed(const Wall& wall) { return wall.served; }
constexpr bool IsLater(const Wall& wall) { return !wall.served; }

/// Calls `put` with every piece of the text.
template <class Put>
constexpr void Write(bool (*wanted)(const Wall&), Style style, Put put) {
  std::size_t left = 0;
  for (const Wall& each : kWalls) left += wanted(each) ? 1 : 0;
  if (style == Style::kSentence) put(std::string_view("the wall: "));
  bool first = true;
  for (const Wall& each : kWalls) {
    if (!wanted(each)) continue;
    if (!first) put(style == Style::kWords ? std::string_view(" ") : left == 1 ? " or " : ", ");
    put(each.name);
    if (first && style == Style::kSentence) put(std::string_view(" (default)"));
    first = false;
    --left;
  }
}

template <bool (*kWanted)(const Wall&), Style kStyle>
struct Text {
  static constexpr std::size_t Size() {
    std::size_t size = 0;
    Write(kWanted, kStyle, [&](std::string_view piece) { size += piece.size(); });
    return size;
  }
  static constexpr auto Make() {
    std::array<char, Size()> text{};
    std::size_t at = 0;
    Write(kWanted, kStyle, [&](std::string_view piece) {
      for (const char c : piece) text[at++] = c;
    });
    return text;
  }
  static constexpr auto kText = Make();
  static constexpr std::string_view kView{kText.data(), kText.size()};
};

}  // namespace names

inline constexpr std::string_view kNames = names::Text<names::IsKnown, names::Style::kWords>::kView;
inline constexpr std::string_view kServedNames =
    names::Text<names::IsServed, names::Style::kWords>::kView;
inline constexpr std::string_view kLaterNames =
    names::Text<names::IsLater, names::Style::kWords>::kView;
/// Of an option that names one: "the wall: jail (default) or bubblewrap".
inline constexpr std::string_view kOptionText =
    names::Text<names::IsServed, names::Style::kSentence>::kView;

}  // namespace igloo::wall

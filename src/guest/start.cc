#include "guest/start.h"

namespace igloo::guest {
namespace {

/// Takes the room of a view for one list after the other. INVARIANT: each is asked for once, within
/// its bound.
class Room {
 public:
  explicit Room(StartView& view) : at_(view.room) {}
  template <class T>
  T* Take(size_t count) {
    static_assert(sizeof(T) % 8 == 0 && alignof(T) <= 8);
    T* const taken = reinterpret_cast<T*>(at_);
    at_ += count * sizeof(T);
    return taken;
  }

 private:
  unsigned char* at_;
};

/// Null when there are too many.
const char* const* TakeStrings(wire::Fields& fields, Room& room) {
  const uint32_t count = fields.U32();
  if (count > StartView::kMaxStrings) return nullptr;
  const char** const strings = room.Take<const char*>(count + 1);
  for (uint32_t i = 0; i < count; ++i) strings[i] = fields.Text();
  strings[count] = nullptr;
  return strings;
}

/// One of the values from `first` to `last`; false when it is another one.
template <class Enum>
bool Take(wire::Fields& fields, Enum& value, Enum last, Enum first = {}) {
  value = static_cast<Enum>(fields.U8());
  return value >= first && value <= last;
}

}  // namespace

bool DecodeStart(const void* payload, size_t size, StartView& view) {
  wire::Fields fields(payload, size);
  Room room(view);
  if (fields.U8() != static_cast<uint8_t>(wire::ToInit::kStart)) return false;
  view.nonce.high = fields.U64();
  view.nonce.low = fields.U64();
  view.time_limit_ms = fields.U64();
  view.grace_ms = fields.U64();
  view.memory_limit_bytes = fields.U64();
  if (!Take(fields, view.memory, wire::MemoryWatch::kCgroup) ||
      !Take(fields, view.seccomp, wire::SeccompProfile::kRawSockets,
            wire::SeccompProfile::kDefault)) {
    return false;
  }
  view.limit_count = fields.U32();
  if (view.limit_count > StartView::kMaxLimits) return false;
  auto* const limits = room.Take<StartView::Limit>(view.limit_count);
  for (uint32_t i = 0; i < view.limit_count; ++i) {
    limits[i].resource = fields.U32();
    limits[i].value = fields.U64();
  }
  view.limits = limits;
  view.path_count = fields.U32();
  if (view.path_count > StartView::kMaxPaths) return false;
  auto* const paths = room.Take<StartView::Path>(view.path_count);
  for (uint32_t i = 0; i < view.path_count; ++i) {
    // SECURITY: a right that nobody knows must not become whatever a later switch falls through to.
    if (!Take(fields, paths[i].right, wire::PathRight::kDevice, wire::PathRight::kRead)) {
      return false;
    }
    paths[i].path = fields.Text();
  }
  view.paths = paths;
  view.cwd = fields.Text();
  view.extra_descriptors = fields.U32();
  if (view.extra_descriptors > wire::kMaxExtraDescriptors) return false;
  if (!Take(fields, view.terminal, wire::Terminal::kOwn) ||
      !Take(fields, view.life, wire::Life::kStays) ||
      !Take(fields, view.birth, wire::Birth::kRestored) ||
      !Take(fields, view.sockets, wire::SocketWatch::kOwn) ||
      !Take(fields, view.watched, wire::Watched::kFiles)) {
    return false;
  }
  view.argv = TakeStrings(fields, room);
  if (view.argv == nullptr) return false;
  view.env = TakeStrings(fields, room);
  return view.env != nullptr && fields.AtEnd() && view.argv[0] != nullptr;
}

}  // namespace igloo::guest

// Sockets of the caller's desktop: X11, Wayland, sound; and the system's bus.

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <optional>

#include "agent/grants/grant.h"
#include "base/file.h"
#include "base/replace_file.h"
#include "base/text.h"

namespace igloo::agent {
namespace {

constexpr std::size_t kMostAuthority = 1U << 20;

/// ":1.0" and "unix:1" are the display 1 of this machine.
std::string LocalDisplay(std::string_view display) {
  const std::size_t colon = display.find(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view host = display.substr(0, colon);
  const std::string_view number = display.substr(colon + 1, display.find('.', colon) - colon - 1);
  const bool local = host.empty() || host == "unix";
  const bool digits = !number.empty() && number.size() < 6 &&
                      number.find_first_not_of("0123456789") == std::string_view::npos;
  return local && digits ? std::string(number) : std::string();
}

/// One line of an Xauthority file.
struct Cookie {
  std::string number = {}, name = {}, data = {};
};

/// Takes the next one; nothing at the end, or where the file is damaged.
std::optional<Cookie> TakeCookie(std::string_view& bytes) {
  std::array<std::string_view, 4> fields;  // address, number, name, data
  if (bytes.size() < 2) return std::nullopt;
  bytes.remove_prefix(2);  // the family of the address
  for (std::string_view& field : fields) {
    if (bytes.size() < 2) return std::nullopt;
    const std::size_t size =
        static_cast<std::uint8_t>(bytes[0]) << 8U | static_cast<std::uint8_t>(bytes[1]);
    bytes.remove_prefix(2);
    if (bytes.size() < size) return std::nullopt;
    field = bytes.substr(0, size);
    bytes.remove_prefix(size);
  }
  return Cookie{std::string(fields[1]), std::string(fields[2]), std::string(fields[3])};
}

/// The cookies of one display alone, for a client whose machine has another name: programs look
/// for the cookie of their own host, or for one that counts everywhere.
std::string CookiesFor(std::string_view authority, std::string_view number) {
  std::string out;
  const auto put = [&](std::string_view field) {
    out += static_cast<char>(field.size() >> 8U & 0xff);
    out += static_cast<char>(field.size() & 0xff);
    out += field;
  };
  while (auto cookie = TakeCookie(authority)) {
    if (!cookie->number.empty() && cookie->number != number) continue;
    out += "\xff\xff";  // FamilyWild
    put("");
    put(number);
    put(cookie->name);
    put(cookie->data);
  }
  return out;
}

Result<void> ShowCookies(const GrantContext& context, const std::string& number) {
  std::string from = context.Variable("XAUTHORITY");
  if (from.empty()) from = context.caller.owner.home + "/.Xauthority";
  const std::string cookies = CookiesFor(ReadFile(from, kMostAuthority).value_or(""), number);
  if (cookies.empty()) return {};  // a server that asks for none
  const std::string own = context.places.own + "/Xauthority";
  IGLOO_TRY(ReplaceFile(own, cookies));
  context.AddTree(own, InsidePath("Xauthority"), sandbox::Access::kReadOnly,
                  "the cookie of this display alone");
  context.Set("XAUTHORITY", InsidePath("Xauthority"));
  return {};
}

/// A socket in the caller's own runtime directory; empty: it is not there.
std::string RuntimeSocket(const GrantContext& context, const std::string& name) {
  const std::string directory = context.Variable("XDG_RUNTIME_DIR");
  const std::string path = name.starts_with('/') ? name : directory + "/" + name;
  if (name.empty() || (directory.empty() && !name.starts_with('/'))) return {};
  const std::string real = RealPathOf(path);
  return TypeAt(real) == FileType::kSocket ? real : std::string();
}

}  // namespace

Result<void> GrantX11(const GrantContext& context) {
  const std::string display = context.Variable("DISPLAY");
  const std::string number = LocalDisplay(display);
  const std::string socket = context.places.x11 + "/X" + number;
  if (number.empty() || TypeAt(socket) != FileType::kSocket) {
    return Fail(Errc::kFailedPrecondition,
                display.empty() ? std::string("'--x11' finds no display: DISPLAY is not set")
                                : "'--x11' cannot show the display '" + Printable(Quoted(display)) +
                                      "': no socket of this machine "
                                      "belongs to it",
                "start it where 'xdpyinfo' works with a display such as :0");
  }
  // Programs know the place by the display's number.
  context.AddSocket(Grant::kX11, socket, "/tmp/.X11-unix/X" + number);
  IGLOO_TRY(ShowCookies(context, number));
  context.Set("DISPLAY", ":" + number);
  context.Show(Grant::kX11, "the display :" + number);
  return {};
}

Result<void> GrantWayland(const GrantContext& context) {
  std::string name = context.Variable("WAYLAND_DISPLAY");
  if (name.empty()) name = "wayland-0";
  const std::string socket = RuntimeSocket(context, name);
  if (socket.empty()) {
    return Fail(Errc::kFailedPrecondition,
                "'--wayland' finds no socket of the display '" + Printable(Quoted(name)) + "'",
                "start it from a Wayland session: WAYLAND_DISPLAY and XDG_RUNTIME_DIR name it");
  }
  context.AddSocket(Grant::kWayland, socket, InsidePath("wayland"));
  context.Set("WAYLAND_DISPLAY", InsidePath("wayland"));
  context.Show(Grant::kWayland, "the display " + name);
  return {};
}

Result<void> GrantAudio(const GrantContext& context) {
  const std::string pipewire = RuntimeSocket(context, "pipewire-0");
  const std::string pulse = RuntimeSocket(context, "pulse/native");
  if (pipewire.empty() && pulse.empty()) {
    return Fail(Errc::kFailedPrecondition,
                "'--audio' finds no socket of PipeWire or PulseAudio in XDG_RUNTIME_DIR",
                "start it from a session with sound");
  }
  std::string shown;
  if (!pipewire.empty()) {
    context.AddSocket(Grant::kAudio, pipewire, InsidePath("pipewire-0"));
    context.Set("PIPEWIRE_REMOTE", InsidePath("pipewire-0"));
    shown = "PipeWire";
  }
  if (!pulse.empty()) {
    context.AddSocket(Grant::kAudio, pulse, InsidePath("pulse"));
    context.Set("PULSE_SERVER", "unix:" + InsidePath("pulse"));
    shown += (shown.empty() ? "" : ", ") + std::string("PulseAudio");
    const std::string cookie = RealPathOf(context.caller.owner.home + "/.config/pulse/cookie");
    if (TypeAt(cookie) == FileType::kFile) {
      context.AddTree(cookie, InsidePath("pulse-cookie"), sandbox::Access::kReadOnly,
                      "PulseAudio asks for it");
      context.Set("PULSE_COOKIE", InsidePath("pulse-cookie"));
    }
  }
  context.Show(Grant::kAudio, shown);
  return {};
}

Result<void> GrantSystemBus(const GrantContext& context) {
  const std::string& socket = context.places.system_bus;
  if (TypeAt(socket) != FileType::kSocket) {
    return Fail(Errc::kFailedPrecondition,
                "'--dbus-system' finds no system bus: '" + socket + "' is not there",
                "start the system's D-Bus, or leave out --dbus-system");
  }
  context.AddSocket(Grant::kSystemBus, socket, InsidePath("system-bus"));
  context.Set("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=" + InsidePath("system-bus"));
  context.Show(Grant::kSystemBus, "the system's D-Bus; never that of your session");
  if (context.caller.root || ::getuid() != 1000) {
    context.Remark(
        "--dbus-system: the bus refuses programs that name another user id than their "
        "own; inside it is 1000, outside another one. Those that name none work");
  }
  return {};
}

}  // namespace igloo::agent

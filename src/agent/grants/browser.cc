// Chromium, with a profile for each project in igloo's own state.

#include <array>
#include <utility>

#include "agent/grants/grant.h"
#include "base/private_directory.h"
#include "base/sha256.h"
#include "base/text.h"
#include "sandbox/path.h"

namespace igloo::agent {
namespace {

constexpr std::array<const char*, 4> kNames = {"chromium", "chromium-browser", "google-chrome",
                                               "google-chrome-stable"};
/// Root's, and for everybody.
constexpr std::array<std::pair<const char*, const char*>, 2> kSettings = {{
    {"/etc/chromium/policies", "which extensions Chromium may have"},
    {"/etc/chromium.d", "the program that starts Chromium reads it"},
}};
constexpr std::size_t kKeyDigits = 16;

std::string FindBrowser(const GrantContext& context) {
  for (const char* name : kNames) {
    if (const std::string found = context.caller.find(name); !found.empty()) return found;
  }
  return {};
}

}  // namespace

Result<void> GrantBrowser(const GrantContext& context) {
  const std::string program = FindBrowser(context);
  const std::string real = RealPathOf(program);
  if (real.empty()) {
    return Fail(Errc::kFailedPrecondition, "'--browser' finds no Chromium on PATH",
                "install it: apt install chromium");
  }
  // What lies elsewhere would need all that it loads, and nobody knows what that is.
  if (!sandbox::IsWithin(real, "/usr") && !sandbox::IsWithin(real, "/nix/store")) {
    return Fail(Errc::kFailedPrecondition,
                "'--browser' can show no Chromium that lies in '" + Printable(real) + "'",
                "install one in /usr, or with Nix");
  }
  const std::string profiles = context.places.state + "/browser";
  IGLOO_TRY(OpenPrivateDirectory(profiles, OwnLevels::kTwo));
  const std::string profile = profiles + "/" + Sha256Hex(context.box.project).substr(0, kKeyDigits);
  IGLOO_TRY(MakeMissingDirectories(profile));
  const std::string inside = context.caller.owner.home + "/.config/chromium";
  context.AddTree(profile, inside, sandbox::Access::kReadWrite, "this project's browser profile");
  for (const auto& [path, reason] : kSettings) {
    if (TypeAt(path) != FileType::kDirectory) continue;
    context.AddTree(RealPathOf(path), path, sandbox::Access::kReadOnly, reason);
  }
  const std::string wrapper =
      "#!/bin/sh\nexec " + ShellQuote(program) +
      " --no-sandbox --disable-dev-shm-usage --user-data-dir=" + ShellQuote(inside) + " \"$@\"\n";
  for (const char* name : {"chromium", "google-chrome"}) {
    context.Add(
        sandbox::TextFile{.path = InsidePath("bin/") + name, .content = wrapper, .mode = 0555}, "");
  }
  context.PrependPath(InsidePath("bin"));
  context.Set("BROWSER", InsidePath("bin/chromium"));
  context.Set("CHROME_PATH", InsidePath("bin/chromium"));
  context.Show(Grant::kBrowser, program + ", with a profile for this project");
  const auto& asked = context.request.asked;
  if (!asked.contains(Grant::kX11) && !asked.contains(Grant::kWayland)) {
    context.Remark("--browser: without --x11 or --wayland it has no window (--headless works)");
  }
  return {};
}

}  // namespace igloo::agent

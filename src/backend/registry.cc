#include "backend/registry.h"

#include <unistd.h>

#include <algorithm>

#include "backend/bubblewrap/bubblewrap.h"
#include "backend/bubblewrap/render.h"
#include "backend/jail/explain.h"
#include "backend/jail/jail.h"
#include "backend/microvm/microvm.h"

namespace igloo::backend {
namespace {

Result<std::unique_ptr<Backend>> MakeJail(Options options) {
  auto made = std::make_unique<jail::JailBackend>(std::move(options.programs), options.mode);
  made->set_timeline(options.timeline);
  made->set_note(std::move(options.note));
  return made;
}

Result<std::unique_ptr<Backend>> MakeBubblewrap(Options options) {
  return bubblewrap::Make(std::move(options.programs.init));
}

/// The emulator has a jail of its own, made for each machine.
Result<std::unique_ptr<Backend>> MakeMicrovm(Options options) {
  microvm::Settings settings{.relay = options.programs.machine,
                             .jail = options.programs.jail,
                             .kernel = options.programs.kernel,
                             .note = std::move(options.note)};
  auto around = std::make_unique<jail::JailBackend>(std::move(options.programs), Mode::kCold);
  return microvm::Make(std::move(settings), std::move(around), jail::Explain);
}

Result<std::string> ShowBubblewrap(const sandbox::Plan& plan, const Programs& programs) {
  IGLOO_ASSIGN(const bubblewrap::Command command, bubblewrap::Render(plan, programs.init));
  return bubblewrap::ToShell(command);
}

constexpr Factory kFactories[] = {
    {.wall = "jail", .make = MakeJail},
    {.wall = "bubblewrap", .make = MakeBubblewrap, .show = ShowBubblewrap},
    {.wall = "microvm", .make = MakeMicrovm},
};

const Factory* FindFactory(const wall::Wall& wall, std::span<const Factory> factories) {
  const auto found = std::ranges::find(factories, wall.name, &Factory::wall);
  return found == factories.end() ? nullptr : &*found;
}

}  // namespace

std::span<const Factory> Factories() { return kFactories; }

Result<std::unique_ptr<Backend>> Make(const wall::Wall& wall, Options options,
                                      std::span<const Factory> factories) {
  const Factory* const factory = FindFactory(wall, factories);
  if (!wall.served || factory == nullptr) return std::unexpected(wall::NotServed(wall));
  if (wall.can.needs_root && ::geteuid() != 0) {
    return Fail(Errc::kFailedPrecondition,
                "the backend '" + std::string(wall.name) + "' can only be started by root",
                "start igloo as root, or use another backend");
  }
  return factory->make(std::move(options));
}

Result<std::string> Show(const wall::Wall& wall, const sandbox::Plan& plan,
                         const Programs& programs) {
  const Factory* const factory = FindFactory(wall, kFactories);
  if (factory == nullptr || factory->show == nullptr) {
    return Fail(Errc::kInvalidArgument,
                "the backend '" + std::string(wall.name) + "' has no command to show");
  }
  return factory->show(plan, programs);
}

}  // namespace igloo::backend

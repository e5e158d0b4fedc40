#include "cli/agent/running.h"

#include "agent/control.h"
#include "agent/registry.h"
#include "cli/agent/collect.h"
#include "cli/agent/enter.h"
#include "cli/agent/launch.h"
#include "cli/agent/tmux_launch.h"

namespace igloo::cli {
namespace {

/// The name of the one box that the words are about.
Result<std::string> TakeName(const ParsedArgs& args) {
  if (args.words.size() == 2) return args.words[1];
  return Fail(Errc::kInvalidArgument,
              "'igloo agent " + args.words[0] + "' takes the name of one box",
              "'igloo agent list' shows those that run");
}

Result<int> Stop(const ParsedArgs& args, Console& console) {
  IGLOO_ASSIGN(const std::string name, TakeName(args));
  IGLOO_ASSIGN(const agent::BoxRegistry registry, OpenBoxes());
  const auto box = registry.Find(name);
  if (box) IGLOO_TRY(registry.Stop(*box));
  // How it ended is of no interest to whoever ends it.
  const auto forgotten = ForgetEnded(registry, name);
  if (!box && (!forgotten || !*forgotten)) return std::unexpected(box.error());
  console.Out("box '" + name + "' has ended\n");
  return 0;
}

Result<int> Enter(const ParsedArgs& args, Console&) {
  IGLOO_ASSIGN(const std::string name, TakeName(args));
  IGLOO_ASSIGN(const agent::BoxRegistry registry, OpenBoxes());
  IGLOO_ASSIGN(const agent::BoxInfo box, registry.Find(name));
  return EnterBox(registry.SocketOf(box.name),
                  args.rest.value_or(std::vector<std::string>{"/bin/bash"}));
}

Result<int> Attach(const ParsedArgs& args, Console& console) {
  IGLOO_ASSIGN(const std::string name, TakeName(args));
  return AttachToBox(name, console);
}

Result<int> Ask(const ParsedArgs& args, std::string_view done, Console& console) {
  IGLOO_ASSIGN(const std::string name, TakeName(args));
  IGLOO_ASSIGN(const agent::BoxRegistry registry, OpenBoxes());
  IGLOO_ASSIGN(const agent::BoxInfo box, registry.Find(name));
  IGLOO_TRY(agent::AskFor(registry.SocketOf(box.name), args.words[0]));
  console.Out("box '" + name + "' " + std::string(done) + "\n");
  return 0;
}

Result<int> Pause(const ParsedArgs& args, Console& console) {
  return Ask(args, "is paused", console);
}
Result<int> Resume(const ParsedArgs& args, Console& console) {
  return Ask(args, "goes on", console);
}

struct Row {
  std::string_view word;
  BoxVerb act;
};
constexpr Row kVerbs[] = {{"enter", Enter},   {"attach", Attach}, {"pause", Pause},
                          {"resume", Resume}, {"stop", Stop},     {"gc", CollectLeftovers}};

}  // namespace

BoxVerb FindBoxVerb(std::string_view word) {
  for (const Row& row : kVerbs) {
    if (row.word == word) return row.act;
  }
  return nullptr;
}

}  // namespace igloo::cli

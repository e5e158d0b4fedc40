#include "cli/commands.h"
#include "cli/console.h"
#include "service/changes/change_set.h"

namespace igloo::cli {
namespace {

Result<int> RunDiscard(const ParsedArgs& args, Console& console) {
  if (args.words.size() != 1 || args.rest) {
    return Fail(Errc::kInvalidArgument, "'igloo discard' takes the name of some changes",
                "igloo changes list shows all of them");
  }
  IGLOO_ASSIGN(auto held, service::changes::Find(args.words[0]));
  const std::string name = held.set.name;
  IGLOO_TRY(service::changes::Discard(std::move(held)));
  console.Out("discarded " + name + "\n");
  return 0;
}

}  // namespace

const Command kDiscardCommand = {
    .name = "discard",
    .summary = "give up what code changed in a copy of a project",
    .usage = "NAME",
    .flags = {},
    .words = {},
    .details =
        "Removes the changes from this machine. What was applied stays in the project.\n\n"
        "Example:\n"
        "  igloo discard tidy\n",
    .run = RunDiscard,
    .first_word = Values::kChangeSet,
};

}  // namespace igloo::cli

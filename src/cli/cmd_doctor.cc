#include "cli/commands.h"
#include "cli/console.h"
namespace igloo::cli {
namespace {
Result<int> RunDoctor(const ParsedArgs&, Console&) { return 0; }
}  // namespace
const Command kDoctorCommand = {.name = "doctor", .summary = "try every wall", .usage = "", .flags = {}, .details = "", .run = RunDoctor};
}  // namespace igloo::cli

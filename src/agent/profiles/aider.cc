#include "agent/profiles/profiles.h"

namespace igloo::agent {
namespace {

constexpr std::string_view kArguments[] = {"--read", "{notice}"};

constexpr SetVariable kSet[] = {
    {"AIDER_CHECK_UPDATE", "false", "its program is read-only here"},
    {"AIDER_INPUT_HISTORY_FILE", "{home}/.aider/input.history", "or else it is in the project"},
    {"AIDER_CHAT_HISTORY_FILE", "{home}/.aider/chat.history.md", "or else it is in the project"},
    {"AIDER_GITIGNORE", "false", "nothing of its own is in the project to be ignored"},
    {"AIDER_MAP_TOKENS", "0", "it keeps its map of the repository in the project"},
};

constexpr std::string_view kVariables[] = {"OPENAI_API_BASE", "AIDER_MODEL"};

constexpr ApiKey kKeys[] = {
    {.variable = "OPENAI_API_KEY",
     .host = "api.openai.com",
     .header = "authorization",
     .address_variable = "OPENAI_API_BASE",
     .path = "/v1"},
    {.variable = "ANTHROPIC_API_KEY",
     .host = "api.anthropic.com",
     .header = "x-api-key",
     .address_variable = "ANTHROPIC_API_BASE"},
};

constexpr std::string_view kDomains[] = {"api.openai.com", "api.anthropic.com", "openrouter.ai"};

}  // namespace

const Profile kAider = {
    .name = "aider",
    .title = "aider",
    .program = "aider",
    .install = "pipx install aider-chat",
    .arguments = kArguments,
    .set = kSet,
    .variables = kVariables,
    .keys = kKeys,
    .files_of = "aider",
    .domains = kDomains,
    .remark =
        "it has no map of the repository, which it keeps in the project; --map-tokens 1024 "
        "gives it back",
};

}  // namespace igloo::agent

#include "agent/profiles/profiles.h"

namespace igloo::agent {
namespace {

// The box is the wall: asking for each command inside of it would only teach people to say yes.
constexpr std::string_view kArguments[] = {"--dangerously-skip-permissions", "--settings",
                                           R"({"skipDangerousModePermissionPrompt":true})",
                                           "--append-system-prompt", "{notice-text}"};

constexpr SetVariable kSet[] = {
    {"IS_SANDBOX", "1", "lets --dangerously-skip-permissions be used by any user inside"},
    {"DISABLE_AUTOUPDATER", "1", "its program is read-only here"},
};

constexpr std::string_view kVariables[] = {"ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL",
                                           "ANTHROPIC_SMALL_FAST_MODEL",
                                           "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"};

// About a key in the usual variable it asks a person whether that one may be used.
constexpr WrittenFile kKeyHelper = {"/etc/claude-code/managed-settings.json",
                                    R"({"apiKeyHelper":"printenv IGLOO_ANTHROPIC_KEY"})"};

constexpr ApiKey kKeys[] = {{.variable = "ANTHROPIC_API_KEY",
                             .inside = "IGLOO_ANTHROPIC_KEY",
                             .host = "api.anthropic.com",
                             .header = "x-api-key,authorization",
                             .address_variable = "ANTHROPIC_BASE_URL",
                             .file = kKeyHelper}};

constexpr std::string_view kDomains[] = {"api.anthropic.com",     "console.anthropic.com",
                                         "platform.claude.com",   "claude.ai",
                                         "statsig.anthropic.com", "mcp-proxy.anthropic.com"};

}  // namespace

const Profile kClaude = {
    .name = "claude",
    .title = "Claude Code",
    .program = "claude",
    .install = "npm install -g @anthropic-ai/claude-code",
    .arguments = kArguments,
    .set = kSet,
    .variables = kVariables,
    .keys = kKeys,
    .files_of = "claude",
    .history = ".claude/projects",
    .domains = kDomains,
    .managed = "claude-code",
    .remark = "it does not ask before each command: the box is the wall",
};

}  // namespace igloo::agent

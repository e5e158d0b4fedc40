#include "agent/profiles/profiles.h"

namespace igloo::agent {
namespace {

// Codex builds a sandbox of its own from user namespaces, which nothing inside a box can make. Of
// what it reads, instructions of the command line come first, so that it is told where it is even
// where its settings have instructions, too.
constexpr std::string_view kArguments[] = {"--dangerously-bypass-approvals-and-sandbox", "-c",
                                           "check_for_update_on_startup=false", "-c",
                                           "developer_instructions={notice-text}"};

constexpr std::string_view kVariables[] = {"OPENAI_ORGANIZATION", "OPENAI_PROJECT"};

// Codex has no variable for the provider's address. This is the last place that it looks into: a
// provider of the user's own settings counts, and gets nothing of the key. igloo-proxy carries no
// WebSockets for a key, and Codex would try several times.
constexpr WrittenFile kProvider = {"/etc/codex/config.toml",
                                   R"(model_provider = "igloo"

[model_providers.igloo]
name = "OpenAI"
base_url = "{address}"
env_key = "OPENAI_API_KEY"
env_http_headers = { "OpenAI-Organization" = "OPENAI_ORGANIZATION", "OpenAI-Project" = "OPENAI_PROJECT" }
wire_api = "responses"
supports_websockets = false
)"};

constexpr ApiKey kKeys[] = {{.variable = "OPENAI_API_KEY",
                             .host = "api.openai.com",
                             .header = "authorization",
                             .path = "/v1",
                             .file = kProvider,
                             .sign_in = ".codex/auth.json"}};

constexpr std::string_view kDomains[] = {"api.openai.com", "auth.openai.com", "chatgpt.com",
                                         "*.chatgpt.com"};

}  // namespace

const Profile kCodex = {
    .name = "codex",
    .title = "Codex",
    .program = "codex",
    .install = "npm install -g @openai/codex",
    .arguments = kArguments,
    .variables = kVariables,
    .keys = kKeys,
    .files_of = "codex",
    .domains = kDomains,
    .managed = "codex",
    .remark = "its own sandbox is off: it needs user namespaces, which a box forbids",
};

}  // namespace igloo::agent

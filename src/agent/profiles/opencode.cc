#include "agent/profiles/profiles.h"

namespace igloo::agent {
namespace {

constexpr SetVariable kSet[] = {
    {"OPENCODE_DISABLE_AUTOUPDATE", "true", "its program is read-only here"},
    {"OPENCODE_CONFIG_CONTENT", R"({"instructions":["{notice}"]})", "tells it where it is"},
    {"OPENCODE_PERMISSION", R"({"external_directory":"allow"})",
     "outside of the project is nothing of yours"},
};

constexpr std::string_view kVariables[] = {"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"};

constexpr ApiKey kKeys[] = {
    {.variable = "ANTHROPIC_API_KEY",
     .host = "api.anthropic.com",
     .header = "x-api-key,authorization",
     .address_variable = "ANTHROPIC_BASE_URL",
     .path = "/v1"},
    {.variable = "OPENAI_API_KEY",
     .host = "api.openai.com",
     .header = "authorization",
     .address_variable = "OPENAI_BASE_URL",
     .path = "/v1"},
};

constexpr std::string_view kDomains[] = {"opencode.ai", "*.opencode.ai", "models.dev",
                                         "api.anthropic.com", "api.openai.com"};

}  // namespace

const Profile kOpencode = {
    .name = "opencode",
    .title = "opencode",
    .program = "opencode",
    .install = "npm install -g opencode-ai",
    .set = kSet,
    .variables = kVariables,
    .keys = kKeys,
    .files_of = "opencode",
    .domains = kDomains,
    .managed = "opencode",
    .remark = "it does not ask before it reads outside of the project: nothing of yours is there",
};

}  // namespace igloo::agent

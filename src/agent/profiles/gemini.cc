#include "agent/profiles/profiles.h"

namespace igloo::agent {
namespace {

constexpr std::string_view kArguments[] = {"--approval-mode=yolo", "--include-directories",
                                           "/run/igloo"};

// It hides ~/.gitconfig from the git that its commands start, but keeps these.
constexpr SetVariable kSet[] = {
    {"GIT_CONFIG_COUNT", "2", "or else it could not commit"},
    {"GIT_CONFIG_KEY_0", "user.name", "likewise"},
    {"GIT_CONFIG_VALUE_0", "{git-name}", "likewise"},
    {"GIT_CONFIG_KEY_1", "user.email", "likewise"},
    {"GIT_CONFIG_VALUE_1", "{git-email}", "likewise"},
    {"GEMINI_SANDBOX", "false", "its own sandbox is a container, which a box cannot start"},
    {"GEMINI_CLI_TRUST_WORKSPACE", "true", "the project is the one that it was started for"},
};

// It reads the GEMINI.md of every directory that belongs to its work space.
constexpr WrittenFile kFiles[] = {{"/run/igloo/GEMINI.md", "{notice-text}"}};

constexpr std::string_view kVariables[] = {"GOOGLE_GEMINI_BASE_URL", "GEMINI_MODEL",
                                           "GOOGLE_CLOUD_PROJECT",   "GOOGLE_CLOUD_LOCATION",
                                           "GOOGLE_GENAI_USE_GCA",   "GOOGLE_GENAI_USE_VERTEXAI"};

// Only settings can say that the key counts at another address; a box cannot have settings of the
// system's, which it takes from root alone.
constexpr ApiKey kKeys[] = {{.variable = "GEMINI_API_KEY",
                             .host = "generativelanguage.googleapis.com",
                             .header = "x-goog-api-key",
                             .address_variable = "GOOGLE_GEMINI_BASE_URL",
                             .needs = ".gemini/settings.json"}};

constexpr std::string_view kDomains[] = {"generativelanguage.googleapis.com",
                                         "cloudcode-pa.googleapis.com", "oauth2.googleapis.com",
                                         "accounts.google.com", "play.googleapis.com"};

}  // namespace

const Profile kGemini = {
    .name = "gemini",
    .title = "Gemini CLI",
    .program = "gemini",
    .install = "npm install -g @google/gemini-cli",
    .arguments = kArguments,
    .set = kSet,
    .files = kFiles,
    .variables = kVariables,
    .keys = kKeys,
    .files_of = "gemini",
    .domains = kDomains,
    .managed = "gemini-cli",
    .managed_lacks =
        "Gemini CLI takes them from files of root's alone, and inside no file is root's",
    .remark = "its own sandbox is off: the box takes its place",
};

}  // namespace igloo::agent

// What agents keep below the home directory, and what of it the host would run or trust. A file or
// a key without a row is proposed: agents learn new keys faster than this table.

#include <array>

#include "agent/state/guarded.h"

namespace igloo::agent {
namespace {

using enum FileFormat;
using enum Handing;
using enum Treatment;

constexpr std::string_view kUnknownKey = "igloo does not know what the agent does with this key";
constexpr std::string_view kUnknownFile = "igloo does not know what the agent does with this file";
constexpr std::string_view kCommands = "the agent runs these commands on the host";
constexpr std::string_view kServers = "the agent starts these servers on the host";
constexpr std::string_view kRights = "it decides what the agent may do without asking";
constexpr std::string_view kTrust = "it makes the agent trust what a project brings along";
constexpr std::string_view kPrompts = "the agent follows these instructions on the host";
constexpr std::string_view kPrograms = "the agent runs these programs on the host";
constexpr std::string_view kShell = "the agent's shell reads these files";
constexpr std::string_view kSessions = "it records sessions";
constexpr std::string_view kToken = "the agent's sign-in, which it refreshes";
constexpr std::string_view kRemote = "the agent fetches it again by itself";
constexpr std::string_view kRepository = "the agent runs git in this repository on the host";
constexpr std::string_view kTemporary = "it lasts as long as the session";

// Claude Code. Of ~/.claude.json most are counters and what was shown before.
constexpr std::array kClaudeStateKeys = {
    KeyRule{"mcpServers", kProposed, kServers},
    KeyRule{"projects/*/mcpServers", kProposed, kServers},
    KeyRule{"projects/*/allowedTools", kProposed, kRights},
    KeyRule{"projects/*/*Mcp*", kProposed, kServers},
    KeyRule{"projects/*/*mcp*", kProposed, kServers},
    KeyRule{"projects/*/has*Seen*", kHarmless, {}},
    KeyRule{"projects/*/hasCompletedProjectOnboarding", kHarmless, {}},
    KeyRule{"projects/*/has*Shown", kHarmless, {}},
    KeyRule{"projects/*/has*", kProposed, kTrust},
    KeyRule{"projects/*/last*", kHarmless, {}},
    KeyRule{"projects/*/history", kHarmless, {}},
    KeyRule{"projects/*/example*", kHarmless, {}},
    KeyRule{"projects/*/*Count", kHarmless, {}},
    KeyRule{"projects/*/dontCrawlDirectory", kHarmless, {}},
    KeyRule{"projects/*/reactVulnerabilityCache", kDropped, kRemote},
    KeyRule{"projects/*/activeWorktreeSession", kDropped, kTemporary},
    KeyRule{"customApiKeyResponses", kDropped, "it says which keys in variables the user allowed"},
    KeyRule{"primaryApiKey", kHarmless, kToken},
    KeyRule{"cached*", kDropped, kRemote},
    KeyRule{"*Cache", kDropped, kRemote},
    KeyRule{"hasSeen*", kHarmless, {}},
    KeyRule{"hasShown*", kHarmless, {}},
    KeyRule{"hasUsed*", kHarmless, {}},
    KeyRule{"hasCompletedOnboarding", kHarmless, {}},
    KeyRule{"hasAvailableSubscription", kHarmless, {}},
    KeyRule{"last*", kHarmless, {}},
    KeyRule{"*Count", kHarmless, {}},
    KeyRule{"*LastFetched", kHarmless, {}},
    KeyRule{"*LastUsed", kHarmless, {}},
    KeyRule{"numStartups", kHarmless, {}},
    KeyRule{"first*Time", kHarmless, {}},
    KeyRule{"*FirstTokenDate", kHarmless, {}},
    KeyRule{"tipsHistory", kHarmless, {}},
    KeyRule{"toolUsage", kHarmless, {}},
    KeyRule{"skillUsage", kHarmless, {}},
    KeyRule{"userID", kHarmless, {}},
    KeyRule{"anonymousId", kHarmless, {}},
    KeyRule{"oauthAccount", kHarmless, {}},
    KeyRule{"theme", kHarmless, {}},
    KeyRule{"editorMode", kHarmless, {}},
    KeyRule{"verbose", kHarmless, {}},
    KeyRule{"preferredNotifChannel", kHarmless, {}},
    KeyRule{"autoCompactEnabled", kHarmless, {}},
    KeyRule{"migrationVersion", kHarmless, {}},
    KeyRule{"shiftEnterKeyBindingInstalled", kHarmless, {}},
    KeyRule{"optionAsMetaKeyInstalled", kHarmless, {}},
    KeyRule{"installMethod", kDropped, "it says how the agent was installed on the host"},
    KeyRule{"autoUpdates*", kDropped, "it says how the agent was installed on the host"},
};
constexpr std::array kClaudeSettingsKeys = {
    KeyRule{"hooks", kProposed, kCommands},
    KeyRule{"permissions", kProposed, kRights},
    KeyRule{"env", kProposed, "every program that the agent starts gets these variables"},
    KeyRule{"apiKeyHelper", kProposed, kCommands},
    KeyRule{"awsAuthRefresh", kProposed, kCommands},
    KeyRule{"awsCredentialExport", kProposed, kCommands},
    KeyRule{"gcpAuthRefresh", kProposed, kCommands},
    KeyRule{"otelHeadersHelper", kProposed, kCommands},
    KeyRule{"statusLine", kProposed, kCommands},
    KeyRule{"subagentStatusLine", kProposed, kCommands},
    KeyRule{"fileSuggestion", kProposed, kCommands},
    KeyRule{"mcpServers", kProposed, kServers},
    KeyRule{"enableAllProjectMcpServers", kProposed, kServers},
    KeyRule{"enabledMcpjsonServers", kProposed, kServers},
    KeyRule{"enabledPlugins", kProposed, kPrograms},
    KeyRule{"extraKnownMarketplaces", kProposed, kPrograms},
    KeyRule{"sandbox", kProposed, kRights},
    KeyRule{"skipDangerousModePermissionPrompt", kProposed, kRights},
    KeyRule{"$schema", kHarmless, {}},
    KeyRule{"model", kHarmless, {}},
    KeyRule{"theme", kHarmless, {}},
    KeyRule{"effortLevel", kHarmless, {}},
    KeyRule{"alwaysThinkingEnabled", kHarmless, {}},
    KeyRule{"cleanupPeriodDays", kProposed, "the agent removes sessions that are older"},
    KeyRule{"includeCoAuthoredBy", kHarmless, {}},
    KeyRule{"spinnerTipsEnabled", kHarmless, {}},
    KeyRule{"language", kProposed, kPrompts},
};
constexpr std::array kClaudeFiles = {
    FileRule{".claude.json", kCopied, kJson, kProposed, kUnknownKey, kClaudeStateKeys},
    FileRule{".claude/.credentials.json", kKeptEqual, kJson, kHarmless, kToken, {}, 1, true},
    FileRule{".claude/settings.json", kCopied, kJson, kProposed, kUnknownKey, kClaudeSettingsKeys},
    FileRule{".claude/settings.local.json", kCopied, kJson, kProposed, kUnknownKey,
             kClaudeSettingsKeys},
    FileRule{".claude/history.jsonl", kCopied, kLines, kHarmless, kSessions},
    FileRule{".claude/stats-cache.json", kAbsent, kWhole, kDropped, kRemote},
    FileRule{".claude/mcp-needs-auth-cache.json", kAbsent, kWhole, kDropped, kRemote},
    FileRule{".claude/projects/", kOfProject, kWhole, kHarmless, kSessions},
    FileRule{".claude/todos/", kOfProject, kWhole, kHarmless, kSessions},
    FileRule{".claude/tasks/", kOfProject, kWhole, kHarmless, kSessions},
    FileRule{".claude/plans/", kOfProject, kWhole, kHarmless, kSessions},
    FileRule{".claude/file-history/", kOfProject, kWhole, kHarmless, kSessions},
    FileRule{".claude/CLAUDE.md", kCopied, kWhole, kProposed, kPrompts},
    FileRule{".claude/commands/", kSeen, kWhole, kProposed, kPrompts},
    FileRule{".claude/agents/", kSeen, kWhole, kProposed, kPrompts},
    FileRule{".claude/skills/", kSeen, kWhole, kProposed, kPrompts},
    FileRule{".claude/rules/", kSeen, kWhole, kProposed, kPrompts},
    FileRule{".claude/output-styles/", kSeen, kWhole, kProposed, kPrompts},
    FileRule{".claude/agent-memory/", kSeen, kWhole, kProposed, kPrompts},
    FileRule{".claude/plugins/", kSeen, kWhole, kProposed, kPrograms},
    FileRule{".claude/hooks/", kSeen, kWhole, kProposed, kPrograms},
    FileRule{".claude/local/", kSeen, kWhole, kProposed, kPrograms},
    FileRule{".claude/themes/", kSeen, kWhole, kProposed, "it is only shown"},
    FileRule{".claude/shell-snapshots/", kAbsent, kWhole, kDropped, kShell},
    FileRule{".claude/session-env/", kAbsent, kWhole, kDropped, kShell},
    FileRule{".claude/sessions/", kAbsent, kWhole, kDropped, kTemporary},
    FileRule{".claude/ide/", kAbsent, kWhole, kDropped, kTemporary},
    FileRule{".claude/backups/", kAbsent, kWhole, kDropped, "the agent makes its settings of them"},
    FileRule{".claude/cache/", kAbsent, kWhole, kDropped, kRemote},
    FileRule{".claude/statsig/", kAbsent, kWhole, kDropped, kRemote},
    FileRule{".claude/debug/", kAbsent, kWhole, kDropped, kTemporary},
    FileRule{".claude/telemetry/", kAbsent, kWhole, kDropped, kTemporary},
    FileRule{".claude/paste-cache/", kAbsent, kWhole, kDropped, kTemporary},
    FileRule{".claude/image-cache/", kAbsent, kWhole, kDropped, kTemporary},
    FileRule{".claude/", kAbsent, kWhole, kProposed, kUnknownFile},
};

constexpr std::array kCodexKeys = {
    KeyRule{"mcp_servers", kProposed, kServers},
    KeyRule{"notify", kProposed, kCommands},
    KeyRule{"hooks", kProposed, kCommands},
    KeyRule{"sandbox_mode", kProposed, kRights},
    KeyRule{"sandbox_workspace_write", kProposed, kRights},
    KeyRule{"approval_policy", kProposed, kRights},
    KeyRule{"approvals_reviewer", kProposed, kRights},
    KeyRule{"default_permissions", kProposed, kRights},
    KeyRule{"permissions", kProposed, kRights},
    KeyRule{"projects", kProposed, kTrust},
    KeyRule{"profiles", kProposed, kRights},
    KeyRule{"profile", kProposed, kRights},
    KeyRule{"shell_environment_policy", kProposed, "every program that the agent starts gets it"},
    KeyRule{"model_providers", kProposed, "it says where the agent sends its key and the code"},
    KeyRule{"model_provider", kProposed, "it says where the agent sends its key and the code"},
    KeyRule{"*base_url", kProposed, "it says where the agent sends its key and the code"},
    KeyRule{"otel", kProposed, "it says where the agent sends what it does"},
    KeyRule{"*instructions*", kProposed, kPrompts},
    KeyRule{"plugins", kProposed, kPrograms},
    KeyRule{"marketplaces", kProposed, kPrograms},
    KeyRule{"skills", kProposed, kPrompts},
    KeyRule{"features", kProposed, kRights},
    KeyRule{"model", kHarmless, {}},
    KeyRule{"model_reasoning_*", kHarmless, {}},
    KeyRule{"model_verbosity", kHarmless, {}},
    KeyRule{"personality", kHarmless, {}},
    KeyRule{"service_tier", kHarmless, {}},
    KeyRule{"hide_agent_reasoning", kHarmless, {}},
    KeyRule{"show_raw_agent_reasoning", kHarmless, {}},
    KeyRule{"disable_paste_burst", kHarmless, {}},
    KeyRule{"tui", kHarmless, {}},
    KeyRule{"notice/hide_full_access*", kProposed, kRights},
    KeyRule{"notice/hide_world_writable*", kProposed, kRights},
    KeyRule{"notice", kHarmless, {}},
};
constexpr std::array kCodexFiles = {
    FileRule{".codex/config.toml", kCopied, kToml, kProposed, kUnknownKey, kCodexKeys},
    FileRule{".codex/auth.json", kKeptEqual, kJson, kHarmless, kToken, {}, 0, true},
    FileRule{".codex/history.jsonl", kCopied, kLines, kHarmless, kSessions},
    FileRule{".codex/sessions/", kOfProject, kWhole, kHarmless, kSessions},
    FileRule{".codex/archived_sessions/", kOfProject, kWhole, kHarmless, kSessions},
    FileRule{".codex/AGENTS*.md", kCopied, kWhole, kProposed, kPrompts},
    FileRule{".codex/hooks.json", kCopied, kWhole, kProposed, kCommands},
    FileRule{".codex/prompts/", kSeen, kWhole, kProposed, kPrompts},
    FileRule{".codex/skills/", kSeen, kWhole, kProposed, kPrompts},
    FileRule{".codex/memories/", kSeen, kWhole, kProposed, kPrompts},
    FileRule{".codex/rules/", kSeen, kWhole, kProposed, kRights},
    FileRule{".codex/plugins/", kSeen, kWhole, kProposed, kPrograms},
    FileRule{".codex/packages/", kSeen, kWhole, kProposed, kPrograms},
    FileRule{".codex/shell_snapshots/", kAbsent, kWhole, kDropped, kShell},
    FileRule{".codex/tmp/", kAbsent, kWhole, kDropped, kPrograms},
    FileRule{".codex/log/", kAbsent, kWhole, kDropped, kTemporary},
    FileRule{".codex/cache/", kAbsent, kWhole, kDropped, kRemote},
    FileRule{".codex/models_cache.json", kAbsent, kWhole, kDropped, kRemote},
    FileRule{".codex/version.json", kAbsent, kWhole, kDropped, kRemote},
    FileRule{".codex/installation_id", kAbsent, kWhole, kDropped, kRemote},
    FileRule{".codex/*.sqlite*", kAbsent, kWhole, kDropped, kTemporary},
    FileRule{".codex/", kAbsent, kWhole, kProposed, kUnknownFile},
};

constexpr std::array kGeminiKeys = {
    KeyRule{"mcpServers", kProposed, kServers},
    KeyRule{"mcp", kProposed, kServers},
    KeyRule{"tools", kProposed,
            "its commands run on the host, and it says which tools need no "
            "question"},
    KeyRule{"hooks", kProposed, kCommands},
    KeyRule{"hooksConfig", kProposed, kCommands},
    KeyRule{"security/auth/selectedType", kHarmless, {}},
    KeyRule{"security", kProposed, kTrust},
    KeyRule{"general/vimMode", kHarmless, {}},
    KeyRule{"general/previewFeatures", kHarmless, {}},
    KeyRule{"ui", kHarmless, {}},
    KeyRule{"model/name", kHarmless, {}},
    KeyRule{"ide/hasSeenNudge", kHarmless, {}},
    KeyRule{"$schema", kHarmless, {}},
};
constexpr std::array kGeminiFiles = {
    FileRule{".gemini/settings.json", kCopied, kJson, kProposed, kUnknownKey, kGeminiKeys},
    FileRule{".gemini/oauth_creds.json", kKeptEqual, kJson, kHarmless, kToken, {}, 0, true},
    FileRule{".gemini/mcp-oauth-tokens*.json", kKeptEqual, kWhole, kHarmless, kToken, {}, 0, true},
    FileRule{".gemini/google_accounts.json", kCopied, kJson, kHarmless, "names of accounts"},
    FileRule{".gemini/installation_id", kCopied, kWhole, kHarmless, "a number"},
    FileRule{".gemini/user_id", kCopied, kWhole, kHarmless, "a number"},
    FileRule{".gemini/state.json", kCopied, kJson, kHarmless, "what was shown before"},
    FileRule{".gemini/projects.json", kCopied, kWhole, kDropped,
             "it names directories to which the agent writes"},
    FileRule{".gemini/tmp/", kAbsent, kWhole, kDropped, "the agent runs the programs in its bin/"},
    FileRule{".gemini/trustedFolders.json", kCopied, kWhole, kProposed, kTrust},
    FileRule{
        ".gemini/.env", kCopied, kWhole, kProposed, "the agent takes these variables", {}, 0, true},
    FileRule{".gemini/*.md", kCopied, kWhole, kProposed, kPrompts},
    FileRule{".gemini/extensions/", kSeen, kWhole, kProposed, kPrograms},
    FileRule{".gemini/hooks/", kSeen, kWhole, kProposed, kPrograms},
    FileRule{".gemini/commands/", kSeen, kWhole, kProposed, kPrompts},
    FileRule{".gemini/skills/", kSeen, kWhole, kProposed, kPrompts},
    FileRule{".gemini/agents/", kSeen, kWhole, kProposed, kPrompts},
    FileRule{".gemini/policies/", kSeen, kWhole, kProposed, kRights},
    FileRule{".gemini/history/", kAbsent, kWhole, kDropped, kRepository},
    FileRule{".gemini/", kAbsent, kWhole, kProposed, kUnknownFile},
};

constexpr std::array kOpencodeKeys = {
    KeyRule{"mcp", kProposed, kServers},
    KeyRule{"plugin*", kProposed, kPrograms},
    KeyRule{"permission*", kProposed, kRights},
    KeyRule{"tools", kProposed, kRights},
    KeyRule{"command*", kProposed, kPrompts},
    KeyRule{"agent*", kProposed, kPrompts},
    KeyRule{"mode", kProposed, kPrompts},
    KeyRule{"instructions", kProposed, kPrompts},
    KeyRule{"formatter", kProposed, kCommands},
    KeyRule{"lsp", kProposed, kCommands},
    KeyRule{"shell", kProposed, kCommands},
    KeyRule{"provider*", kProposed, "it loads packages, and says where the agent sends its key"},
    KeyRule{"$schema", kHarmless, {}},
    KeyRule{"model", kHarmless, {}},
    KeyRule{"small_model", kHarmless, {}},
    KeyRule{"theme", kHarmless, {}},
    KeyRule{"username", kHarmless, {}},
    KeyRule{"keybinds", kHarmless, {}},
};
constexpr std::array kOpencodeFiles = {
    FileRule{".config/opencode/opencode.json", kCopied, kJson, kProposed, kUnknownKey,
             kOpencodeKeys},
    FileRule{".config/opencode/opencode.jsonc", kCopied, kJson, kProposed, kUnknownKey,
             kOpencodeKeys},
    FileRule{".config/opencode/AGENTS.md", kCopied, kWhole, kProposed, kPrompts},
    FileRule{".config/opencode/node_modules/", kSeen, kWhole, kProposed, kPrograms},
    FileRule{".config/opencode/", kSeen, kWhole, kProposed,
             "plugins and tools run on the host, commands and agents are instructions"},
    FileRule{".local/share/opencode/auth.json", kKeptEqual, kJson, kHarmless, kToken, {}, 1, true},
    FileRule{
        ".local/share/opencode/mcp-auth.json", kKeptEqual, kJson, kHarmless, kToken, {}, 1, true},
    FileRule{".local/share/opencode/storage/session/", kOfProject, kWhole, kHarmless, kSessions},
    FileRule{".local/share/opencode/storage/message/", kOfProject, kWhole, kHarmless, kSessions},
    FileRule{".local/share/opencode/storage/part/", kOfProject, kWhole, kHarmless, kSessions},
    FileRule{".local/share/opencode/storage/todo/", kOfProject, kWhole, kHarmless, kSessions},
    FileRule{".local/share/opencode/storage/permission/", kAbsent, kWhole, kProposed, kRights},
    FileRule{".local/share/opencode/storage/", kAbsent, kWhole, kDropped,
             "it names commands that the agent runs for a project"},
    FileRule{".local/share/opencode/snapshot/", kAbsent, kWhole, kDropped, kRepository},
    FileRule{".local/share/opencode/bin/", kAbsent, kWhole, kDropped, kPrograms},
    FileRule{".local/share/opencode/log/", kAbsent, kWhole, kDropped, kTemporary},
    FileRule{".local/share/opencode/*.db*", kAbsent, kWhole, kDropped, kSessions},
    FileRule{".local/share/opencode/", kAbsent, kWhole, kProposed, kUnknownFile},
    FileRule{".local/state/opencode/prompt-history.jsonl", kCopied, kLines, kHarmless, kSessions},
    FileRule{".local/state/opencode/kv.json", kCopied, kJson, kHarmless, "what was shown before"},
    FileRule{".local/state/opencode/model.json", kCopied, kJson, kHarmless, "models used before"},
    FileRule{".cache/opencode/", kAbsent, kWhole, kDropped, kPrograms},
};

constexpr std::array kAiderFiles = {
    FileRule{".aider.conf.yml", kCopied, kWhole, kProposed,
             "its test, lint and notification commands run on the host"},
    FileRule{".aider.model.settings.yml", kCopied, kWhole, kProposed,
             "it says where the agent sends its key and the code"},
    FileRule{".aider/oauth-keys.env", kKeptEqual, kWhole, kHarmless, kToken, {}, 0, true},
    FileRule{".aider/analytics.json", kCopied, kJson, kHarmless, "a number"},
    FileRule{".aider/caches/", kAbsent, kWhole, kDropped, kRemote},
    FileRule{".aider/", kAbsent, kWhole, kProposed, kUnknownFile},
};

constexpr std::array kAgents = {
    AgentFiles{"claude", kClaudeFiles}, AgentFiles{"codex", kCodexFiles},
    AgentFiles{"gemini", kGeminiFiles}, AgentFiles{"opencode", kOpencodeFiles},
    AgentFiles{"aider", kAiderFiles},
};

// git's keys that run programs are many (git-config(1)), so those that do not are listed.
constexpr std::string_view kGitPrograms = "git runs this program on the host";
constexpr std::array kGitKeys = {
    KeyRule{"core/fsmonitor", kProposed, kGitPrograms},
    KeyRule{"core/hookspath", kProposed, "git runs the programs in this directory on the host"},
    KeyRule{"core/sshcommand", kProposed, kGitPrograms},
    KeyRule{"core/pager", kProposed, kGitPrograms},
    KeyRule{"core/editor", kProposed, kGitPrograms},
    KeyRule{"core/askpass", kProposed, kGitPrograms},
    KeyRule{"core/gitproxy", kProposed, kGitPrograms},
    KeyRule{"core/worktree", kProposed, "git works on the files of another directory"},
    KeyRule{"alias", kProposed, kGitPrograms},
    KeyRule{"pager", kProposed, kGitPrograms},
    KeyRule{"filter", kProposed, kGitPrograms},
    KeyRule{"diff", kProposed, kGitPrograms},
    KeyRule{"difftool", kProposed, kGitPrograms},
    KeyRule{"merge", kProposed, kGitPrograms},
    KeyRule{"mergetool", kProposed, kGitPrograms},
    KeyRule{"credential", kProposed, "git asks this program for passwords"},
    KeyRule{"include", kProposed, "git takes settings from this file"},
    KeyRule{"includeif", kProposed, "git takes settings from this file"},
    KeyRule{"gpg", kProposed, kGitPrograms},
    KeyRule{"uploadpack", kProposed, kGitPrograms},
    KeyRule{"remote", kProposed,
            "git gets code from there, sends code there, and runs the "
            "programs that it names"},
    KeyRule{"url", kProposed, "git takes another address instead"},
    KeyRule{"protocol", kProposed, "git takes addresses that run programs"},
    KeyRule{"branch/*/remote", kHarmless, "a branch gets commits from this address"},
    KeyRule{"branch/*/merge", kHarmless, {}},
    KeyRule{"branch/*/rebase", kHarmless, {}},
    KeyRule{"branch/*/description", kHarmless, {}},
    KeyRule{"branch/*", kProposed, "igloo does not know what git does with this key"},
    KeyRule{"core/repositoryformatversion", kHarmless, {}},
    KeyRule{"core/filemode", kHarmless, {}},
    KeyRule{"core/ignorecase", kHarmless, {}},
    KeyRule{"core/logallrefupdates", kHarmless, {}},
};
constexpr FileRule kGitConfigFile{".git/config",
                                  kCopied,
                                  kGitConfig,
                                  kProposed,
                                  "igloo does not know what git does with this key",
                                  kGitKeys};

}  // namespace

std::span<const AgentFiles> AllAgentFiles() { return kAgents; }
const FileRule& GitConfigRule() { return kGitConfigFile; }

}  // namespace igloo::agent

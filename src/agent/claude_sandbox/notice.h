#pragma once

#include <string>

#include "agent/box.h"

namespace igloo::agent::claude_sandbox {

/// What Claude Code is told about a sandbox of claude-sandbox's.
std::string NoticeText(const Box& box);
/// The same with --minimal.
std::string MinimalNoticeText(const Box& box);

}  // namespace igloo::agent::claude_sandbox

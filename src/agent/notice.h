#pragma once

#include <string>

#include "agent/box.h"

namespace igloo::agent {

/// SANDBOX.md: where the agent is, what it can do there, and what to ask its user for; or what
/// Box::notice says instead.
std::string NoticeText(const Box& box);

// Parts of it, for those.

/// What the box reaches, as a sentence or two.
std::string NetworkLine(const network::Wanted& wanted);
/// What the user added, as an entry of a list; empty: nothing.
std::string GrantedLine(const Box& box);

}  // namespace igloo::agent

#pragma once

#include "agent/profile.h"

namespace igloo::agent {

extern const Profile kClaude, kCodex, kGemini, kOpencode, kAider;

}  // namespace igloo::agent

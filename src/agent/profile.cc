#include "agent/profile.h"

#include <algorithm>
#include <array>

#include "agent/profiles/profiles.h"

namespace igloo::agent {
namespace {

constexpr std::array<const Profile*, 5> kProfiles = {&kClaude, &kCodex, &kGemini, &kOpencode,
                                                     &kAider};

}  // namespace

std::span<const Profile* const> Profiles() { return kProfiles; }

const Profile* FindProfile(std::string_view name) {
  const auto found = std::ranges::find(kProfiles, name, &Profile::name);
  return found == kProfiles.end() ? nullptr : *found;
}

}  // namespace igloo::agent

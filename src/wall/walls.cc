#include "wall/walls.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"

namespace igloo::wall {
namespace {

std::vector<std::string_view> ServedAmong(std::span<const Wall> walls) {
  std::vector<std::string_view> names;
  for (const Wall& each : walls) {
    if (each.served) names.push_back(each.name);
  }
  return names;
}

/// "choose jail or bubblewrap"
std::string ChooseAmong(std::span<const Wall> walls) {
  const auto names = ServedAmong(walls);
  std::string text = "choose ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i != 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace

const Wall* Find(std::string_view name, std::span<const Wall> walls) {
  const auto found = std::ranges::find(walls, name, &Wall::name);
  return found == walls.end() ? nullptr : &*found;
}

Result<const Wall*> Choose(std::string_view name, std::span<const Wall> walls) {
  const Wall* const found = Find(name, walls);
  if (found == nullptr) {
    const auto names = ServedAmong(walls);
    const std::string nearest = Nearest(name, names.data(), names.size());
    return Fail(Errc::kInvalidArgument, "there is no backend '" + Printable(name) + "'",
                nearest.empty() ? ChooseAmong(walls) : "did you mean '" + nearest + "'?");
  }
  if (!found->served) return std::unexpected(NotServed(*found, walls));
  return found;
}

Error NotServed(const Wall& wall, std::span<const Wall> walls) {
  return {Errc::kFailedPrecondition,
          "the backend '" + std::string(wall.name) + "' is not available yet",
          ChooseAmong(walls) + ", or use a newer igloo", 0};
}

const Wall* FindShownAs(std::string_view word) {
  const auto found = std::ranges::find(kWalls, word, &Wall::shown_as);
  return found == std::end(kWalls) || word.empty() ? nullptr : found;
}

const Wall* FindByLauncher(std::string_view launcher, std::span<const Wall> walls) {
  const auto found = std::ranges::find(walls, launcher, &Wall::launcher);
  return found == walls.end() || launcher.empty() ? nullptr : &*found;
}

}  // namespace igloo::wall

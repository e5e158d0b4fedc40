#include "scene.h"

#include <sys/stat.h>

#include <stdexcept>

#include "support/igloo.h"

namespace igloo::testing {
namespace {

/// A scene that is not complete would let walls look strong.
prove::Scene MakeOpen() {
  auto scene = prove::Scene::Make(TempParent(), BinDirectory() + "/igloo-attack");
  if (!scene) throw std::runtime_error(scene.error().what);
  if (::chmod(scene->project().c_str(), 0777) != 0 ||
      ::chmod((scene->path() + "/scratch").c_str(), 01777) != 0) {
    throw std::runtime_error("cannot open the scene to everybody");
  }
  return *std::move(scene);
}

}  // namespace

Scene::Scene() : prove::Scene(MakeOpen()) {}

}  // namespace igloo::testing

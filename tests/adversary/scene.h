#pragma once

#include "prove/scene.h"

namespace igloo::testing {

using prove::Side;

/// The scene of `igloo doctor --prove`, in which all users of the host may also write, so that it
/// is never the rights of files that hold an attack. On a machine of tests nobody misuses that.
class Scene : public prove::Scene {
 public:
  Scene();
};

}  // namespace igloo::testing

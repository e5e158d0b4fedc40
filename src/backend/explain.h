#pragma once

#include "base/error.h"
#include "ops/ops.h"
#include "sandbox/plan.h"

namespace igloo::backend {

/// Turns the launcher's step and errno into an error that says what to do next.
Error Explain(const ops::Reply& reply, const sandbox::Plan& plan);

}  // namespace igloo::backend

#pragma once

namespace igloo::container {

/// The life of a container's first process: does what the plan says and becomes igloo-init.
[[noreturn]] void LiveInside(void (*init)());

}  // namespace igloo::container

#pragma once

namespace igloo::guest {

/// PID 1 of a sandbox: runs one payload, reports once, and takes everything with it when it ends.
/// Never returns.
[[noreturn]] void InitMain();

}  // namespace igloo::guest

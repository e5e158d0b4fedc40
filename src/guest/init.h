#pragma once

namespace igloo::guest {

/// PID 1 of a sandbox: runs one payload, reports once, and takes everything with it when it ends.
/// Never returns.
[[noreturn]] void InitMain();

/// Beside a sandbox's maker: becomes an interpreter whose forks are adopted by sandboxes. Reads its
/// orders as InitMain does. Never returns.
[[noreturn]] void ZygoteMain();

}  // namespace igloo::guest

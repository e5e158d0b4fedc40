#pragma once

// What igloo and igloo-container agree on.

namespace igloo::container {

/// The program that makes containers.
inline constexpr const char* kEngine = "/usr/bin/systemd-nspawn";
/// The container's first root, in igloo-container's own mount namespace: memory, and no more in it
/// than the engine asks for. The plan's root takes its place inside.
inline constexpr const char* kRoot = "/run/root";
/// igloo-container itself, as the container sees it.
inline constexpr const char* kProgram = "/igloo-container";

/// What igloo-container is started with.
inline constexpr int kSocket = 3;  ///< to igloo; inside, to the one outside
inline constexpr int kLease = 4;   ///< held, and no more

}  // namespace igloo::container

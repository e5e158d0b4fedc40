# Compiles for aarch64 on another machine, with libraries of Debian's that tools/install-packages unpacks. What is
# built for it runs in the emulator for single programs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_SYSROOT $ENV{IGLOO_CROSS_ROOT})
if(NOT EXISTS "${CMAKE_SYSROOT}/usr/include/stdio.h")
  message(FATAL_ERROR "IGLOO_CROSS_ROOT names no tree of libraries for aarch64; 'make cross' makes one")
endif()
set(CMAKE_FIND_ROOT_PATH ${CMAKE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static;-L;${CMAKE_SYSROOT})

# The compiler knows where Debian keeps these on a machine of that kind, and not where the launcher's musl is.
set(IGLOO_MUSL_INCLUDE ${CMAKE_SYSROOT}/usr/include/aarch64-linux-musl CACHE PATH "musl's headers")
set(IGLOO_KERNEL_INCLUDE ${CMAKE_SYSROOT}/usr/include ${CMAKE_SYSROOT}/usr/include/aarch64-linux-gnu
  CACHE STRING "where linux/ and asm/ are")

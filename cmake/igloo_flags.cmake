# Compiler and linker flags every host-side target shares.
add_library(igloo_flags INTERFACE)
target_include_directories(igloo_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(igloo_flags INTERFACE -Wall -Wextra -Wshadow)
if(IGLOO_WERROR)
  target_compile_options(igloo_flags INTERFACE -Werror)
endif()
target_compile_definitions(igloo_flags INTERFACE
  BOOST_ASIO_NO_DEPRECATED=1 BOOST_ASIO_DISABLE_SERIAL_PORT=1
  IGLOO_VERSION="${PROJECT_VERSION}")

if(IGLOO_SANITIZE)
  target_compile_options(igloo_flags INTERFACE -fsanitize=${IGLOO_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(igloo_flags INTERFACE -fsanitize=${IGLOO_SANITIZE})
endif()

if(IGLOO_FUZZ)
  target_compile_options(igloo_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(igloo_flags INTERFACE -O2 -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS
    -fstack-protector-strong -fstack-clash-protection -ffunction-sections -fdata-sections)
  # Where calls may lead to and return to: each kind of processor has its own name for it.
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    target_compile_options(igloo_flags INTERFACE -fcf-protection)
  elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    target_compile_options(igloo_flags INTERFACE -mbranch-protection=standard)
  endif()
  target_link_options(igloo_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--gc-sections)
endif()
if(IGLOO_STATIC)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  target_compile_options(igloo_flags INTERFACE -fPIE)
  # getaddrinfo, getpw* and dlopen warn when linked statically and crash with another glibc:
  # fatal warnings keep them out of the program for good.
  # Packed relocations: 4,000 of them are one page instead of 27. Linkers know them for x86_64.
  # A program that says so itself (IGLOO_DYNAMIC) is linked as usual.
  set(dynamic $<BOOL:$<TARGET_PROPERTY:IGLOO_DYNAMIC>>)
  target_link_options(igloo_flags INTERFACE $<IF:${dynamic},-pie,-static-pie>
    $<$<NOT:${dynamic}>:-Wl,--fatal-warnings>)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    target_link_options(igloo_flags INTERFACE $<$<NOT:${dynamic}>:-Wl,-z,pack-relative-relocs>)
  endif()
endif()

find_program(IGLOO_CCACHE ccache)
if(IGLOO_CCACHE)
  # Sloppiness is what ccache needs to cache files that use a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1 CCACHE_DEPEND=1
    ${PROJECT_SOURCE_DIR}/cmake/compile-with-ccache ${IGLOO_CCACHE})
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(igloo_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()

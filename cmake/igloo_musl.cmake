# igloo_musl_program(NAME sources...): a static program on musl without libstdc++.
#
# The launcher and init start once per run; glibc's start-up alone costs 0.67 T, musl's 0.11 T.
# The objects are made by the project's compiler with libstdc++'s headers over musl's; only
# `musl-gcc -static` links, so any libstdc++ or glibc symbol is a link error.
# Where none of this lies in the usual places, a shell for developing says where it does.
foreach(name IGLOO_MUSL_GCC IGLOO_MUSL_INCLUDE IGLOO_KERNEL_INCLUDE)
  if(DEFINED ENV{${name}})
    set(${name} $ENV{${name}} CACHE STRING "from the environment")
  endif()
endforeach()

if(CMAKE_CROSSCOMPILING)
  # There is no musl-gcc for another machine; what it would say to the linker is this.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} --target=${CMAKE_CXX_COMPILER_TARGET} --sysroot=${CMAKE_SYSROOT}
    -rtlib=libgcc -print-libgcc-file-name OUTPUT_VARIABLE _libgcc OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(_musl ${CMAKE_SYSROOT}/usr/lib/${CMAKE_SYSTEM_PROCESSOR}-linux-musl)
  set(IGLOO_MUSL_LINK ${CMAKE_CXX_COMPILER} --target=${CMAKE_CXX_COMPILER_TARGET} --sysroot=${CMAKE_SYSROOT} -nostdlib
    ${_musl}/crt1.o ${_musl}/crti.o)
  set(IGLOO_MUSL_LIBRARIES ${_musl}/libc.a ${_libgcc} ${_musl}/libc.a ${_musl}/crtn.o)
else()
  find_program(IGLOO_MUSL_GCC musl-gcc REQUIRED)
  set(IGLOO_MUSL_LINK ${IGLOO_MUSL_GCC} -no-pie)
  set(IGLOO_MUSL_LIBRARIES "")
endif()

execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-resource-dir OUTPUT_VARIABLE _resource
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(CMAKE_CXX_COMPILER_ID MATCHES GNU)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=include OUTPUT_VARIABLE _builtin
    OUTPUT_STRIP_TRAILING_WHITESPACE)
else()
  set(_builtin ${_resource}/include)
endif()
set(_triple ${CMAKE_SYSTEM_PROCESSOR}-linux)
set(IGLOO_MUSL_INCLUDE /usr/include/${_triple}-musl CACHE PATH "musl's headers")
set(IGLOO_KERNEL_INCLUDE /usr/include /usr/include/${_triple}-gnu CACHE STRING "where linux/ and asm/ are")

# libstdc++'s directories are those of the compiler's own list that speak of C++; `backward` has
# nothing that is still to be used.
set(_target "")
if(CMAKE_CROSSCOMPILING)
  set(_target --target=${CMAKE_CXX_COMPILER_TARGET} --sysroot=${CMAKE_SYSROOT})
endif()
execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${_target} -E -x c++ -v /dev/null OUTPUT_QUIET
  ERROR_VARIABLE _search)
string(REGEX MATCHALL "\n /[^\n]*/c\\+\\+[^\n]*" _search "${_search}")
set(_libstdcxx "")
foreach(dir ${_search})
  string(STRIP "${dir}" dir)
  get_filename_component(dir "${dir}" ABSOLUTE)
  if(IS_DIRECTORY ${dir} AND NOT dir MATCHES "/backward$")
    list(APPEND _libstdcxx ${dir})
  endif()
endforeach()
if(NOT _libstdcxx)
  set(_libstdcxx /usr/include/c++/12 /usr/include/${_triple}-gnu/c++/12)
endif()

set(IGLOO_MUSL_INCLUDES "")
foreach(dir ${_libstdcxx} ${IGLOO_MUSL_INCLUDE} ${_builtin})
  list(APPEND IGLOO_MUSL_INCLUDES "SHELL:-isystem ${dir}")
endforeach()
# Kernel headers come last, so that nothing of glibc's shadows musl's.
foreach(dir ${IGLOO_KERNEL_INCLUDE})
  list(APPEND IGLOO_MUSL_INCLUDES "SHELL:-idirafter ${dir}")
endforeach()

# igloo_musl_objects(NAME sources...): compiled for such a program.
function(igloo_musl_objects objects)
  add_library(${objects} OBJECT ${ARGN})
  target_include_directories(${objects} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${objects} PRIVATE -nostdinc ${IGLOO_MUSL_INCLUDES}
    "SHELL:-D'__GLIBC_PREREQ(a,b)=0'" -D_GNU_SOURCE -fno-exceptions -fno-rtti
    -fno-asynchronous-unwind-tables -fno-threadsafe-statics -ffunction-sections -fdata-sections
    -fno-stack-protector -U_FORTIFY_SOURCE -Wall -Wextra -Wshadow)
  if(IGLOO_WERROR)
    target_compile_options(${objects} PRIVATE -Werror)
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(${objects} PRIVATE -O1 -g -fsanitize=undefined -fsanitize-undefined-trap-on-error
      -fno-sanitize=vptr)
  else()
    target_compile_options(${objects} PRIVATE -O2)
  endif()
endfunction()

function(igloo_musl_program name)
  set(objects ${name}_objects)
  igloo_musl_objects(${objects} ${ARGN})
  # Static non-PIE on purpose: no relocation work at start. The hostile side never runs in them.
  target_compile_options(${objects} PRIVATE -fno-pie)
  set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  set(output ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name})
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
    COMMAND ${IGLOO_MUSL_LINK} -static -Wl,--gc-sections -Wl,-z,noexecstack -Wl,-z,noseparate-code -o ${output}
      $<TARGET_OBJECTS:${objects}> ${IGLOO_MUSL_LIBRARIES}
    DEPENDS ${objects} $<TARGET_OBJECTS:${objects}> COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Linking ${name} with musl")
  add_custom_target(${name} ALL DEPENDS ${output})
endfunction()

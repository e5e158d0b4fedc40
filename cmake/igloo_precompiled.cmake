# The headers of libraries that are precompiled: those that many files include and that take long. A file includes what
# it uses all the same; the preset `gcc` builds without precompiled headers and finds what was forgotten.
# Which they should be: CONTRIBUTING.md, "What a build costs".
set(IGLOO_PRECOMPILED
  <algorithm> <array> <charconv> <chrono> <coroutine> <cstdint> <deque> <filesystem> <fstream> <functional> <map>
  <memory> <mutex> <optional> <random> <ranges> <set> <span> <sstream> <string> <string_view> <thread> <tuple>
  <unordered_map> <utility> <variant> <vector>
  <fmt/format.h>
  <boost/asio/any_io_executor.hpp> <boost/asio/awaitable.hpp> <boost/asio/buffer.hpp> <boost/asio/co_spawn.hpp>
  <boost/asio/detached.hpp> <boost/asio/io_context.hpp> <boost/asio/posix/stream_descriptor.hpp>
  <boost/asio/post.hpp> <boost/asio/redirect_error.hpp> <boost/asio/steady_timer.hpp> <boost/asio/this_coro.hpp>
  <boost/asio/use_awaitable.hpp>
  <boost/json.hpp>)

# igloo_precompiled(TARGET): compiles the target's files with them.
function(igloo_precompiled target)
  target_precompile_headers(${target} REUSE_FROM igloo_libraries)
endfunction()

# igloo_precompiled_tests(TARGET): the same with GoogleTest.
function(igloo_precompiled_tests target)
  target_precompile_headers(${target} REUSE_FROM igloo_test_support)
endfunction()

#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "support/mcp.h"

namespace igloo::testing {

/// A client of the server that is shipped, for what is done in sessions.
class McpSessions : public ::testing::Test {
 protected:
  McpSessions() { client_.Initialize(); }
  JsonObject In(std::string_view session, std::string_view env, std::string_view code,
                JsonObject more = {}) {
    more["session"] = session;
    return client_.Run(env, code, std::move(more));
  }
  std::string Text(std::string_view session, std::string_view env, std::string_view code) {
    return TextOf(In(session, env, code));
  }

  McpClient client_;
};

}  // namespace igloo::testing

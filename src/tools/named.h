#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mcp/types.h"
#include "service/output_store.h"
#include "service/runner.h"

namespace igloo::tools {

/// How many bytes of each stream of a run stand in its result.
struct Room {
  std::size_t output = 0, error = 0, value = 0;
  std::size_t parts = 0;  ///< of those that are text, together
};

/// A file, or a part that a session showed.
struct NamedItem {
  std::string name = {};  ///< a file's path; any bytes
  std::string type = {};
  std::uint64_t size = 0;
  session::LeftFile::State state = session::LeftFile::State::kRead;
  std::string uri = {};                 ///< to read it from; empty: it is not kept
  std::optional<mcp::Blob> shown = {};  ///< a picture, or a text, that stands in the result
};

/// Everything of one run that its result only names.
struct Named {
  std::vector<std::string> output = {}, error = {}, value = {};  ///< where it is, in its order
  std::vector<NamedItem> files = {}, parts = {};
};

/// Keeps what is not shown whole in the store, and chooses the pictures that are shown. Takes the
/// bytes of files and parts out of `finished`.
Named NameAll(service::Finished& finished, const Room& room, service::OutputStore& store);

}  // namespace igloo::tools

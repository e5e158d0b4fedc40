// Completion of arguments: the suite asks for it, and igloo has nothing to complete.

#include <string_view>

#include "mcp/methods.h"
#include "mcp/pch.h"
#include "tests/mcp/fixture_service.h"

namespace igloo::mcp::fixture {

namespace {

Answer<JsonObject> Complete(Context& context) {
  const Json* ref = context.params.if_contains("ref");
  const Json* argument = context.params.if_contains("argument");
  if (ref == nullptr || !ref->is_object() || argument == nullptr || !argument->is_object()) {
    return Refuse(RpcCode::kInvalidParams, "'ref' and 'argument' are required");
  }
  const auto typed = DecodeText(argument->get_object(), "value");
  if (!typed) return std::unexpected(typed.error());
  boost::json::array values;
  for (const std::string_view value : {"paris", "park", "party"}) {
    if (value.starts_with(*typed)) values.emplace_back(value);
  }
  const std::size_t count = values.size();
  return JsonObject{
      {"completion",
       JsonObject{{"values", std::move(values)}, {"total", count}, {"hasMore", false}}}};
}

constexpr Method kComplete{.name = "completion/complete", .now = Complete};

}  // namespace

const Method* FixtureService::OwnMethod(std::string_view name) const {
  return name == kComplete.name ? &kComplete : nullptr;
}

}  // namespace igloo::mcp::fixture

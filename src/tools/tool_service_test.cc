#include "tools/tool_service.h"

#include <gmock/gmock.h>

#include "mcp/pch.h"

namespace igloo::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Lists tools, and runs none.
class Fixed : public Contract {
 public:
  explicit Fixed(const std::vector<mcp::Tool>& tools) : tools_(tools) {}
  std::vector<mcp::Tool> Tools(const service::Setup&) const override { return tools_; }
  boost::asio::awaitable<mcp::Answer<mcp::ToolResult>> Run(mcp::Call&, mcp::ToolCall,
                                                           std::shared_ptr<const service::Setup>,
                                                           service::Trace&) override {
    co_return mcp::ToolResult{};
  }

 private:
  const std::vector<mcp::Tool>& tools_;
};

class ServiceTest : public ::testing::Test {
 protected:
  ToolService::Parts Parts() {
    ToolService::Parts parts{
        .face = {.instructions = [](const auto&, const auto&) { return std::string(); }},
        .load = [] { return service::Setup::Nothing(); },
        .note = [this](std::string_view note) { notes_.emplace_back(note); }};
    parts.contracts.push_back(std::make_unique<Fixed>(first_));
    parts.contracts.push_back(std::make_unique<Fixed>(second_));
    return parts;
  }

  std::vector<mcp::Tool> first_ = {{.name = "run"}}, second_ = {};
  std::vector<std::string> notes_ = {};
  service::OutputStore store_ = {};
};

TEST_F(ServiceTest, OfOneNameTheFirstCountsAndTheUserIsTold) {
  first_[0].title = "igloo's";
  second_ = {{.name = "python"}, {.name = "run", .title = "the user's"}};
  ToolService service(Parts(), store_);
  const auto tools = service.Tools();
  ASSERT_EQ(tools.size(), 2U);
  EXPECT_EQ(tools[0].title, "igloo's");
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("two tools have the name 'run'")));
}

TEST_F(ServiceTest, EverythingThatClientsSeeIsAChange) {
  ToolService service(Parts(), store_);
  EXPECT_TRUE(service.Reload().value()) << "the first";
  EXPECT_FALSE(service.Reload().value());
  first_[0].title = "another";
  EXPECT_TRUE(service.Reload().value());
  EXPECT_FALSE(service.Reload().value());
  first_[0].output_schema = mcp::JsonObject{{"type", "object"}};
  EXPECT_TRUE(service.Reload().value());
  first_[0].meta = {{"a", 1}};
  EXPECT_TRUE(service.Reload().value());
  EXPECT_FALSE(service.Reload().value());
}

}  // namespace
}  // namespace igloo::tools

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

class ToolServiceTest : public ::testing::Test {
 protected:
  ToolService::Parts Parts() {
    ToolService::Parts parts{
        .face = {.instructions = [](const auto&, const auto&) { return std::string(); }},
        .note = [this](std::string_view note) { notes_.emplace_back(note); }};
    parts.contracts.push_back(std::make_unique<Fixed>(first_));
    parts.contracts.push_back(std::make_unique<Fixed>(second_));
    return parts;
  }

  std::vector<mcp::Tool> first_ = {{.name = "run"}}, second_ = {};
  std::vector<std::string> notes_ = {};
  bool broken_ = false;
  service::LiveSetup setup_{[this]() -> Result<std::shared_ptr<const service::Setup>> {
    if (broken_) return Fail(Errc::kInvalidArgument, "line 3 is wrong", "mend it");
    return service::Setup::Nothing();
  }};
  service::OutputStore store_ = {};
};

TEST_F(ToolServiceTest, OfOneNameTheFirstCountsAndTheUserIsTold) {
  first_[0].title = "igloo's";
  second_ = {{.name = "python"}, {.name = "run", .title = "the user's"}};
  ToolService service(Parts(), setup_, store_);
  const auto tools = service.Tools();
  ASSERT_EQ(tools.size(), 2U);
  EXPECT_EQ(tools[0].title, "igloo's");
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("two tools have the name 'run'")));
}

TEST_F(ToolServiceTest, EverythingThatClientsSeeIsAChange) {
  ToolService service(Parts(), setup_, store_);
  EXPECT_TRUE(service.Refresh()) << "the first";
  EXPECT_FALSE(service.Refresh());
  first_[0].title = "another";
  EXPECT_TRUE(service.Refresh());
  EXPECT_FALSE(service.Refresh());
  first_[0].output_schema = mcp::JsonObject{{"type", "object"}};
  EXPECT_TRUE(service.Refresh());
  first_[0].meta = {{"a", 1}};
  EXPECT_TRUE(service.Refresh());
  EXPECT_FALSE(service.Refresh());
}

TEST_F(ToolServiceTest, SaysWhyNothingRunsUntilTheConfigurationIsMended) {
  broken_ = true;
  ToolService service(Parts(), setup_, store_);
  EXPECT_THAT(service.Info().instructions, HasSubstr("line 3 is wrong; mend it"));
  broken_ = false;
  ASSERT_TRUE(setup_.Reload());
  EXPECT_TRUE(service.Refresh()) << "the same tools, but now they run";
  EXPECT_EQ(service.Info().instructions, "");
}

}  // namespace
}  // namespace igloo::tools

#include "mcp/tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "mcp/testing.h"

namespace igloo::mcp {
namespace {

using testing::Conversation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Modern;

constexpr char kTasks[] = R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})";

class Tasks : public ::testing::Test {
 protected:
  void Offer(Background background) {
    talk_.service.features.tasks = true;
    talk_.service.background = background;
  }
  std::vector<std::string> Say(std::string_view id, std::string_view method,
                               std::string_view more) {
    return talk_.Say(Modern(id, method, more, kTasks));
  }
  /// The result of a call, or an object with its error.
  JsonObject Call(std::string_view name) {
    return Only(Say("1", "tools/call", R"("name":")" + std::string(name) + "\""));
  }
  JsonObject Ask(std::string_view method, const JsonObject& task, std::string_view more = "") {
    return Only(Say(
        "2", method,
        R"("taskId":")" + std::string(task.at("taskId").as_string()) + "\"" + std::string(more)));
  }
  static JsonObject Only(const std::vector<std::string>& said) {
    if (said.size() != 1) return {{"messages", said.size()}};
    JsonObject message = boost::json::parse(said[0]).as_object();
    return message.contains("result") ? message.at("result").as_object() : message;
  }

  Conversation talk_ = Conversation(
      {.progress_interval = std::chrono::seconds(0), .task_grace = std::chrono::milliseconds(0)});
};

TEST_F(Tasks, ACallBecomesATaskAndIsAskedForUntilItEnds) {
  Offer(Background::kAlways);
  const JsonObject task = Call("wait");
  EXPECT_EQ(task.at("resultType"), "task");
  EXPECT_EQ(task.at("status"), "working");
  EXPECT_EQ(task.at("taskId").as_string().size(), 32U);
  EXPECT_EQ(Ask("tasks/get", task).at("status"), "working");
  talk_.service.LetGo(0);
  EXPECT_THAT(talk_.Listen(), ElementsAre()) << "its request was answered already";
  const JsonObject done = Ask("tasks/get", task);
  EXPECT_EQ(done.at("status"), "completed");
  EXPECT_EQ(done.at("resultType"), "complete");
  EXPECT_EQ(done.at("result").at("content").at(0).at("text"), "wait");
}

TEST_F(Tasks, OnlyWhatIsSlowBecomesOneIfTheToolSaysSo) {
  Offer(Background::kWhenSlow);
  EXPECT_EQ(Call("wait").at("resultType"), "task") << "the grace time is over at once";
  Conversation patient({.task_grace = std::chrono::hours(1)});
  patient.service.features.tasks = true;
  patient.service.background = Background::kWhenSlow;
  EXPECT_EQ(
      Only(patient.Say(Modern("1", "tools/call", R"("name":"echo")", kTasks))).at("resultType"),
      "complete");
}

TEST_F(Tasks, AClientThatDoesNotKnowThemWaitsOrIsRefused) {
  Offer(Background::kAlways);
  EXPECT_EQ(Only(talk_.Say(Modern("1", "tools/call", R"("name":"echo")"))).at("resultType"),
            "complete");
  EXPECT_THAT(talk_.Say(Modern("1", "tasks/get", R"("taskId":"x")")),
              ElementsAre(HasSubstr("-32021")));
  Offer(Background::kOnly);
  EXPECT_THAT(
      talk_.Say(Modern("1", "tools/call", R"("name":"echo")")),
      ElementsAre(HasSubstr(
          R"("requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}})")));
}

TEST_F(Tasks, AFailureOfTheToolIsAResultAndABugIsAFailure) {
  Offer(Background::kOnly);
  EXPECT_EQ(Ask("tasks/get", Call("fail")).at("result").at("isError"), true);
  const JsonObject broken = Ask("tasks/get", Call("throw"));
  EXPECT_EQ(broken.at("status"), "failed");
  EXPECT_EQ(broken.at("error").at("code"), -32603);
}

TEST_F(Tasks, CancellingEndsTheCall) {
  Offer(Background::kAlways);
  const JsonObject task = Call("wait");
  EXPECT_EQ(Ask("tasks/cancel", task).at("resultType"), "complete");
  EXPECT_EQ(Ask("tasks/get", task).at("status"), "cancelled");
  EXPECT_EQ(talk_.service.ended, 1);
  EXPECT_EQ(talk_.core->running(), 0U);
  EXPECT_EQ(Ask("tasks/cancel", task).at("resultType"), "complete") << "once more does no harm";
}

TEST_F(Tasks, AQuestionIsAskedByTheTaskAndAnsweredByUpdate) {
  Offer(Background::kAlways);
  const JsonObject task = Call("ask");
  EXPECT_FALSE(task.contains("inputRequests"));
  EXPECT_EQ(Ask("tasks/get", task).at("inputRequests").at("q").at("method"), "roots/list");
  Ask("tasks/update", task, R"(,"inputResponses":{"other":{}})");
  EXPECT_EQ(Ask("tasks/get", task).at("status"), "input_required") << "nobody asked for that";
  Ask("tasks/update", task, R"(,"inputResponses":{"q":{"roots":[]}})");
  EXPECT_EQ(Ask("tasks/get", task).at("status"), "completed");
  EXPECT_EQ(talk_.service.last_facts.request_state, "s1");
}

TEST_F(Tasks, AQuestionBeforeTheTaskIsAskedByTheRequest) {
  Offer(Background::kOnly);
  Conversation patient({.task_grace = std::chrono::hours(1)});
  patient.service.features.tasks = true;
  patient.service.background = Background::kOnly;
  const JsonObject asked = Only(patient.Say(Modern("1", "tools/call", R"("name":"ask")", kTasks)));
  EXPECT_EQ(asked.at("resultType"), "input_required");
  EXPECT_FALSE(asked.contains("taskId"));
}

TEST_F(Tasks, AListenerHearsHowItGoes) {
  Offer(Background::kAlways);
  const JsonObject task = Call("wait");
  const std::string id(task.at("taskId").as_string());
  EXPECT_THAT(Say("9", "subscriptions/listen",
                  R"("notifications":{"taskIds":[")" + id + R"(","unknown"]})"),
              ElementsAre(HasSubstr(R"("taskIds":[")" + id + "\"]")));
  talk_.service.LetGo(0);
  EXPECT_THAT(talk_.Listen(), ElementsAre(::testing::AllOf(HasSubstr("notifications/tasks"),
                                                           HasSubstr(R"("status":"completed")"),
                                                           HasSubstr(R"(subscriptionId":9)"))));
  EXPECT_THAT(
      talk_.Say(Modern("8", "subscriptions/listen", R"("notifications":{"taskIds":["x"]})")),
      ElementsAre(HasSubstr("-32021")));
}

TEST_F(Tasks, TheyEndWithTheirClient) {
  Offer(Background::kAlways);
  Call("wait");
  talk_.dispatcher->Close();
  EXPECT_THAT(talk_.Listen(), ElementsAre());
  EXPECT_EQ(talk_.service.ended, 1);
  EXPECT_EQ(talk_.core->running(), 0U);
}

TEST_F(Tasks, WithoutRoomForAnotherTheCallIsServedAsUsual) {
  Conversation full({.most_tasks = 0});
  full.service.features.tasks = true;
  full.service.background = Background::kAlways;
  EXPECT_EQ(Only(full.Say(Modern("1", "tools/call", R"("name":"echo")", kTasks))).at("resultType"),
            "complete");
}

TEST_F(Tasks, AnUnknownOneIsSaidToBeUnknown) {
  Offer(Background::kAlways);
  for (const char* method : {"tasks/get", "tasks/cancel", "tasks/update"}) {
    EXPECT_THAT(Say("1", method, R"("taskId":"x","inputResponses":{})"),
                ElementsAre(HasSubstr("-32602")));
  }
  for (const char* method : {"tasks/result", "tasks/list"}) {
    EXPECT_THAT(Say("1", method, R"("taskId":"x")"), ElementsAre(HasSubstr("-32601")));
  }
}

}  // namespace
}  // namespace igloo::mcp

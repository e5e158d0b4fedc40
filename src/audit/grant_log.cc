#include "audit/grant_log.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "audit/fields.h"

namespace igloo::audit {
namespace {

constexpr std::size_t kMaxText = 2000;

JournalOptions OfGrants(JournalOptions options) {
  options.file = kGrantFile;
  return options;
}

}  // namespace

std::string EncodeGrantUse(const GrantUse& use) {
  boost::json::object line;
  line["time"] = Iso8601(use.time);
  const auto text = [&](std::string_view name, std::string_view value) {
    line[name] = Shown(value, kMaxText);
  };
  text("box", use.box);
  text("grant", use.grant);
  text("event", use.event);
  text("what", use.what);
  return boost::json::serialize(line) + "\n";
}

Result<GrantUse> DecodeGrantUse(std::string_view line) {
  IGLOO_ASSIGN(const boost::json::value value, ParseLine(line));
  GrantUse use;
  Fields fields(value.get_object());
  use.time = fields.When();
  fields.Text("box", use.box);
  fields.Text("grant", use.grant);
  fields.Text("event", use.event);
  fields.Text("what", use.what);
  IGLOO_TRY(fields.Finish());
  return use;
}

GrantLog::GrantLog(JournalOptions options, Say say)
    : journal_(OfGrants(std::move(options))), say_(std::move(say)) {}

void GrantLog::Add(const GrantUse& use) {
  if (use.event == "refused" && refusals_++ >= kMostRefusals) return;
  const auto written = journal_.WriteLine(EncodeGrantUse(use));
  if (!written && !std::exchange(said_, true) && say_) say_(written.error());
}

}  // namespace igloo::audit

#include "audit/network_log.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "audit/fields.h"

namespace igloo::audit {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxText = 2000;
// What is made visible has backslashes, each of them two characters of JSON.
static_assert(2 * (16 + network::kMostSecrets) * kMaxText < kMaxLine);

JournalOptions OfDecisions(JournalOptions options) {
  options.file = kNetworkFile;
  return options;
}

}  // namespace

std::string EncodeDecision(const network::Record& record) {
  json::object line;
  const auto text = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) line[name] = Shown(value, kMaxText);
  };
  line["time"] = Iso8601(Time(std::chrono::milliseconds(record.time_ms)));
  line["event"] = ToText(record.event);
  line["protocol"] = ToText(record.protocol);
  text("sandbox", record.sandbox);
  line["connection"] = record.connection;
  text("host", record.host);
  line["port"] = record.port;
  text("address", record.address);
  text("method", record.method);
  text("path", record.path);
  text("rule", record.rule);
  text("refusal", record.refusal);
  text("remedy", record.remedy);
  json::array secrets;
  for (const std::string& each : record.secrets) secrets.emplace_back(Shown(each, kMaxText));
  if (!secrets.empty()) line["secrets"] = std::move(secrets);
  // What goes through a device is not counted.
  const bool counted = record.protocol != network::Record::Protocol::kDevice;
  if (counted && record.event == network::Record::Event::kEnded) {
    line["bytes_out"] = record.bytes_out;
    line["bytes_in"] = record.bytes_in;
  }
  if (record.lost != 0) line["lost"] = record.lost;
  return json::serialize(line) + "\n";
}

Result<network::Record> DecodeDecision(std::string_view line) {
  IGLOO_ASSIGN(const json::value value, ParseLine(line));
  network::Record record;
  Fields fields(value.get_object());
  record.time_ms = fields.When().time_since_epoch().count();
  std::string event, protocol;
  fields.Text("event", event);
  fields.Text("protocol", protocol);
  const auto known_event = network::FindEvent(event);
  const auto known_protocol = network::FindProtocol(protocol);
  if (!known_event) fields.Wrong("event", "refused, opened, ended, returned or unsearched");
  if (!known_protocol) fields.Wrong("protocol", "one that is known");
  record.event = known_event.value_or(record.event);
  record.protocol = known_protocol.value_or(record.protocol);
  fields.Text("sandbox", record.sandbox);
  fields.Number("connection", record.connection);
  fields.Text("host", record.host);
  fields.Number("port", record.port);
  fields.Text("address", record.address);
  fields.Text("method", record.method);
  fields.Text("path", record.path);
  fields.Text("rule", record.rule);
  fields.Text("refusal", record.refusal);
  fields.Text("remedy", record.remedy);
  fields.Texts("secrets", record.secrets);
  fields.Number("bytes_out", record.bytes_out);
  fields.Number("bytes_in", record.bytes_in);
  fields.Number("lost", record.lost);
  IGLOO_TRY(fields.Finish());
  return record;
}

NetworkLog::NetworkLog(JournalOptions options, Say say)
    : journal_(OfDecisions(std::move(options))), say_(std::move(say)) {}

void NetworkLog::Add(const network::Record& record) {
  const auto written = journal_.WriteLine(EncodeDecision(record));
  const bool said = std::exchange(said_, !written);
  if (!written && !said && say_) say_(written.error());
}

}  // namespace igloo::audit

#include "network/control.h"

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <optional>

#include "base/overloaded.h"
#include "base/text.h"
#include "network/json.h"

namespace igloo::network {

namespace json = boost::json;

namespace {

constexpr std::size_t kLongestId = 256, kLongestRuleText = 2048, kLongestText = 64U << 10;
constexpr std::uint64_t kAnyNumber = UINT64_MAX;

template <class E, std::size_t N>
using Words = std::array<std::pair<E, std::string_view>, N>;

constexpr Words<Tier, 2> kTiers = {{{Tier::kAllow, "allow"}, {Tier::kInternet, "internet"}}};
constexpr Words<AddForward::Kind, 2> kForwards = {
    {{AddForward::Kind::kPublish, "publish"}, {AddForward::Kind::kReach, "reach"}}};
constexpr Words<Record::Event, 6> kEvents = {{{Record::Event::kRefused, "refused"},
                                              {Record::Event::kOpened, "opened"},
                                              {Record::Event::kEnded, "ended"},
                                              {Record::Event::kUsed, "used"},
                                              {Record::Event::kReturned, "returned"},
                                              {Record::Event::kUnsearched, "unsearched"}}};
constexpr Words<Record::Protocol, 7> kProtocols = {{{Record::Protocol::kConnect, "connect"},
                                                    {Record::Protocol::kHttp, "http"},
                                                    {Record::Protocol::kHttps, "https"},
                                                    {Record::Protocol::kSocks, "socks5"},
                                                    {Record::Protocol::kPublish, "publish"},
                                                    {Record::Protocol::kReach, "reach"},
                                                    {Record::Protocol::kDevice, "device"}}};

template <class E, std::size_t N>
json::string_view WordOf(const Words<E, N>& words, E value) {
  for (const auto& [each, word] : words) {
    if (each == value) return {word.data(), word.size()};
  }
  return {};
}

template <class E, std::size_t N>
std::optional<E> Find(const Words<E, N>& words, std::string_view text) {
  for (const auto& [value, word] : words) {
    if (word == text) return value;
  }
  return std::nullopt;
}

template <class E, std::size_t N>
E ValueOf(const Words<E, N>& words, ObjectReader& reader, std::string_view key) {
  const auto value = Find(words, reader.Text(key, kLongestId));
  reader.Expect(value.has_value(), key);
  return value.value_or(words.front().first);
}

json::array ArrayOf(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

json::array EncodeSecrets(const std::vector<Secret>& secrets) {
  json::array array;
  for (const Secret& secret : secrets) {
    array.push_back(json::object{{"name", secret.name},
                                 {"value", secret.value},
                                 {"placeholder", secret.placeholder},
                                 {"domain", secret.domain.text()},
                                 {"headers", ArrayOf(secret.headers)}});
  }
  return array;
}

Result<std::vector<Secret>> DecodeSecrets(const json::array* array) {
  std::vector<Secret> secrets;
  if (array == nullptr) return secrets;  // what is wrong with it is told by its reader
  for (const json::value& each : *array) {
    ObjectReader reader(each);
    const std::string domain = reader.Text("domain", kLongestId);
    std::string name = reader.Text("name", kLongestId);
    std::string value = reader.Text("value", kLongestText);
    std::string placeholder = reader.Text("placeholder", kLongestText);
    auto headers = reader.Texts("headers", kMostSecretHeaders, kLongestId);
    IGLOO_TRY(reader.Finish());
    IGLOO_ASSIGN(Name place, Name::Parse(domain));
    secrets.push_back({.name = std::move(name),
                       .value = std::move(value),
                       .placeholder = std::move(placeholder),
                       .domain = std::move(place),
                       .headers = std::move(headers)});
    IGLOO_TRY(CheckSecret(secrets.back()));
  }
  return secrets;
}

json::object EncodeCommand(const AddSandbox& command) {
  return {{"do", "add"},
          {"sandbox", command.sandbox},
          {"tier", WordOf(kTiers, command.tier)},
          {"rules", ArrayOf(command.rules)},
          {"secrets", EncodeSecrets(command.secrets)},
          {"connections", command.max_connections}};
}

json::object EncodeCommand(const ReplaceRules& command) {
  return {{"do", "rules"},
          {"sandbox", command.sandbox},
          {"tier", WordOf(kTiers, command.tier)},
          {"rules", ArrayOf(command.rules)},
          {"once", ArrayOf(command.once)}};
}

json::object EncodeCommand(const AddForward& command) {
  return {{"do", WordOf(kForwards, command.kind)},
          {"sandbox", command.sandbox},
          {"port", command.port}};
}

json::object EncodeCommand(const RemoveSandbox& command) {
  return {{"do", "remove"}, {"sandbox", command.sandbox}};
}

Result<Command> DecodeCommand(const std::string& what, ObjectReader& reader) {
  std::string sandbox = reader.Text("sandbox", kLongestId);
  reader.Expect(!sandbox.empty(), "sandbox");
  if (what == "add" || what == "rules") {
    const Tier tier = ValueOf(kTiers, reader, "tier");
    auto rules = reader.Texts("rules", kMostRules, kLongestRuleText);
    if (what == "rules") {
      auto once = reader.Texts("once", kMostRules, kLongestRuleText);
      return ReplaceRules{std::move(sandbox), tier, std::move(rules), std::move(once)};
    }
    IGLOO_ASSIGN(auto secrets, DecodeSecrets(reader.Array("secrets", kMostSecrets)));
    const std::uint64_t connections = reader.Number("connections", 65536);
    reader.Expect(connections > 0, "connections");
    return AddSandbox{std::move(sandbox), tier, std::move(rules), std::move(secrets),
                      static_cast<std::uint32_t>(connections)};
  }
  for (const auto& [kind, word] : kForwards) {
    if (what != word) continue;
    const std::uint64_t port = reader.Number("port", UINT16_MAX);
    reader.Expect(port > 0, "port");
    return AddForward{kind, std::move(sandbox), static_cast<std::uint16_t>(port)};
  }
  reader.Expect(what == "remove", "do");
  return RemoveSandbox{std::move(sandbox)};
}

json::object EncodeNews(const Ready& ready) {
  return {{"say", "ready"}, {"version", ready.version}};
}
json::object EncodeNews(const Done& done) { return {{"say", "done"}, {"order", done.order}}; }
json::object EncodeNews(const Failed& failed) {
  return {{"say", "failed"}, {"order", failed.order}, {"what", failed.what}, {"hint", failed.hint}};
}
json::object EncodeNews(const Record& record) {
  return {{"say", "record"},
          {"event", WordOf(kEvents, record.event)},
          {"protocol", WordOf(kProtocols, record.protocol)},
          {"sandbox", record.sandbox},
          {"connection", record.connection},
          {"time_ms", record.time_ms},
          {"host", record.host},
          {"port", record.port},
          {"address", record.address},
          {"method", record.method},
          {"path", record.path},
          {"rule", record.rule},
          {"refusal", record.refusal},
          {"remedy", record.remedy},
          {"secrets", ArrayOf(record.secrets)},
          {"bytes_out", record.bytes_out},
          {"bytes_in", record.bytes_in},
          {"lost", record.lost}};
}

Record DecodeRecord(ObjectReader& reader) {
  Record record;
  record.event = ValueOf(kEvents, reader, "event");
  record.protocol = ValueOf(kProtocols, reader, "protocol");
  record.sandbox = reader.Text("sandbox", kLongestId);
  record.connection = reader.Number("connection", kAnyNumber);
  record.time_ms = static_cast<std::int64_t>(reader.Number("time_ms", INT64_MAX));
  record.host = reader.Text("host", kLongestText);
  record.port = static_cast<std::uint16_t>(reader.Number("port", UINT16_MAX));
  record.address = reader.Text("address", kLongestText);
  record.method = reader.Text("method", kLongestText);
  record.path = reader.Text("path", kLongestText);
  record.rule = reader.Text("rule", kLongestText);
  record.refusal = reader.Text("refusal", kLongestText);
  record.remedy = reader.Text("remedy", kLongestText);
  record.secrets = reader.Texts("secrets", kMostSecrets, kLongestId);
  record.bytes_out = reader.Number("bytes_out", kAnyNumber);
  record.bytes_in = reader.Number("bytes_in", kAnyNumber);
  record.lost = reader.Number("lost", kAnyNumber);
  return record;
}

Result<News> DecodeOne(std::string_view text) {
  IGLOO_ASSIGN(const json::value value, ObjectReader::Parse(text, kLongestMessage));
  ObjectReader reader(value);
  const std::string say = reader.Text("say", kLongestId);
  News news;
  if (say == "record") {
    news = DecodeRecord(reader);
  } else if (say == "ready") {
    const std::uint64_t version = reader.Number("version", INT64_MAX);
    reader.Expect(version == static_cast<std::uint64_t>(kControlVersion), "version");
    news = Ready{static_cast<std::int64_t>(version)};
  } else if (say == "done") {
    news = Done{reader.Number("order", kAnyNumber)};
  } else {
    reader.Expect(say == "failed", "say");
    Failed failed;
    failed.order = reader.Number("order", kAnyNumber);
    failed.what = reader.Text("what", kLongestText);
    failed.hint = reader.Text("hint", kLongestText);
    news = std::move(failed);
  }
  IGLOO_TRY(reader.Finish());
  return news;
}

}  // namespace

std::string_view ToText(Record::Event event) { return WordOf(kEvents, event); }
std::string_view ToText(Record::Protocol protocol) { return WordOf(kProtocols, protocol); }
std::optional<Record::Event> FindEvent(std::string_view text) { return Find(kEvents, text); }
std::optional<Record::Protocol> FindProtocol(std::string_view text) {
  return Find(kProtocols, text);
}

std::string Encode(const Order& order) {
  json::object object =
      std::visit([](const auto& each) { return EncodeCommand(each); }, order.command);
  object["version"] = kControlVersion;
  object["number"] = order.number;
  return json::serialize(object);
}

std::string Encode(const News& news) {
  return json::serialize(std::visit([](const auto& each) { return EncodeNews(each); }, news));
}

Result<Order> DecodeOrder(std::string_view text) {
  IGLOO_ASSIGN(const json::value value, ObjectReader::Parse(text, kLongestMessage));
  ObjectReader reader(value);
  reader.Expect(reader.Number("version", INT64_MAX) == static_cast<std::uint64_t>(kControlVersion),
                "version");
  Order order;
  order.number = reader.Number("number", kAnyNumber);
  const std::string what = reader.Text("do", kLongestId);
  IGLOO_ASSIGN(order.command, DecodeCommand(what, reader));
  IGLOO_TRY(reader.Finish());
  return order;
}

Result<std::vector<News>> DecodeNews(std::string_view text) {
  std::vector<News> all;
  while (true) {
    const std::size_t end = text.find('\n');
    IGLOO_ASSIGN(News news, DecodeOne(text.substr(0, end)));
    all.push_back(std::move(news));
    if (end == std::string_view::npos) return all;
    text.remove_prefix(end + 1);
  }
}

}  // namespace igloo::network

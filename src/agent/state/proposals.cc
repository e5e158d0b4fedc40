#include "agent/state/proposals.h"

#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <filesystem>
#include <tuple>

#include "agent/state/host_file.h"
#include "agent/state/json_merge.h"
#include "agent/state/json_text.h"
#include "base/base64.h"
#include "base/file.h"
#include "base/replace_file.h"
#include "base/sha256.h"
#include "base/text.h"

namespace igloo::agent {
namespace {

namespace json = boost::json;

constexpr std::size_t kIdSize = 12;
/// Two texts of a file's size, each of which may grow sixfold by escapes.
constexpr std::size_t kMaxProposal = 13 * kMaxStateFile;

bool IsId(std::string_view text) {
  return text.size() == kIdSize && text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::string FileOf(const StateStore& store, const std::string& id) {
  return store.Proposals() + "/" + id;
}

/// Bytes that are no text are kept as they are, too.
json::value EncodeBytes(const std::optional<std::string>& bytes) {
  if (!bytes) return nullptr;
  if (IsUtf8(*bytes)) return json::value(*bytes);
  return {{"base64", ToBase64(*bytes)}};
}

std::optional<std::string> DecodeBytes(const json::value& value) {
  if (value.is_null()) return std::nullopt;
  if (value.is_string()) return std::string(value.as_string());
  return FromBase64(std::string_view(value.at("base64").as_string()));
}

std::string Encode(const Proposal& proposal) {
  return json::serialize(json::value{{"box", EncodeBytes(proposal.box)},
                                     {"started", proposal.started},
                                     {"agent", proposal.agent},
                                     {"host", EncodeBytes(proposal.host)},
                                     {"file", EncodeBytes(proposal.file)},
                                     {"pointer", EncodeBytes(proposal.change.pointer)},
                                     {"before", EncodeBytes(proposal.change.before)},
                                     {"after", EncodeBytes(proposal.change.after)},
                                     {"why", EncodeBytes(proposal.change.why)}}) +
         "\n";
}

std::optional<Proposal> Decode(const std::string& id, std::string_view text) {
  try {
    const json::value value = json::parse(json::string_view(text.data(), text.size()));
    return Proposal{.id = id,
                    .box = DecodeBytes(value.at("box")).value_or(""),
                    .started = value.at("started").as_int64(),
                    .agent = std::string(value.at("agent").as_string()),
                    .file = DecodeBytes(value.at("file")).value_or(""),
                    .host = DecodeBytes(value.at("host")).value_or(""),
                    .change = {.pointer = DecodeBytes(value.at("pointer")).value_or(""),
                               .before = DecodeBytes(value.at("before")),
                               .after = DecodeBytes(value.at("after")),
                               .why = DecodeBytes(value.at("why")).value_or("")}};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<Proposal> Read(const StateStore& store, const std::string& id) {
  const auto text = ReadFile(FileOf(store, id), kMaxProposal);
  return text ? Decode(id, *text) : std::nullopt;
}

/// {"a": {"b": VALUE}} for the keys a, b; without a value the innermost object is empty.
std::string Nested(const std::vector<std::string>& keys, const std::optional<std::string>& value) {
  std::string text, end;
  for (const std::string& key : keys) {
    const bool last = &key == &keys.back();
    text += "{";
    if (!last || value) text += QuoteJson(key) + ": ";
    end += "}";
  }
  return text + value.value_or("") + end;
}

std::unexpected<Error> Changed(const Proposal& proposal) {
  const std::string place = proposal.change.pointer.empty() ? "" : " at " + proposal.change.pointer;
  return Fail(Errc::kFailedPrecondition,
              "'" + Printable(proposal.file) + "' was changed on the host" + Printable(place) +
                  " since the box started",
              "make the change by hand, then drop the proposal");
}

/// The host's text with the change in it.
Result<std::string> Apply(const Proposal& proposal, const FileRule& rule,
                          const std::optional<std::string>& host) {
  const Change& change = proposal.change;
  const auto keys = KeysOf(change.pointer);
  if (rule.format == FileFormat::kJson && keys && !keys->empty()) {
    // What was not there is not in an object that was not there, either.
    const std::string base = change.before ? Nested(*keys, change.before) : "{}";
    IGLOO_ASSIGN(auto merged, MergeJson({.file = proposal.file,
                                         .base = base,
                                         .host = host,
                                         .box = Nested(*keys, change.after)}));
    if (!merged.conflicts.empty()) return Changed(proposal);
    return std::move(merged.text);
  }
  if (!change.after) {
    return Fail(Errc::kFailedPrecondition, "igloo removes no file of the user's",
                "remove it by hand, then drop the proposal");
  }
  if (rule.format == FileFormat::kJson)
    IGLOO_TRY(JsonDocument::Parse(proposal.file, *change.after));
  if (host != change.before && host != change.after) return Changed(proposal);
  return *change.after;
}

}  // namespace

Proposal MakeProposal(Proposal proposal) {
  proposal.id = Sha256Hex(Encode(proposal)).substr(0, kIdSize);
  return proposal;
}

Result<void> AddProposal(const StateStore& store, const Proposal& proposal) {
  store.Step("propose " + proposal.file);
  return ReplaceFile(FileOf(store, proposal.id), Encode(proposal));
}

Result<std::vector<Proposal>> ListProposals(const StateStore& store) {
  std::vector<Proposal> all;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(store.Proposals(), failure), end;
       !failure && at != end; at.increment(failure)) {
    const std::string id = at->path().filename().string();
    if (!IsId(id)) continue;
    if (auto proposal = Read(store, id)) all.push_back(*std::move(proposal));
  }
  if (failure && failure != std::errc::no_such_file_or_directory) {
    return FailSys(failure.value(), "cannot read the proposals in '" + store.Proposals() + "'");
  }
  std::ranges::sort(all, {}, [](const Proposal& one) {
    return std::tie(one.started, one.box, one.file, one.change.pointer, one.id);
  });
  return all;
}

Result<Proposal> FindProposal(const StateStore& store, const std::string& id) {
  IGLOO_ASSIGN(const auto all, ListProposals(store));
  std::vector<const Proposal*> found;
  for (const Proposal& one : all) {
    if (!id.empty() && one.id.starts_with(id)) found.push_back(&one);
  }
  if (found.size() == 1) return *found.front();
  return Fail(Errc::kNotFound, std::string(found.empty() ? "no" : "more than one") +
                                   " proposal begins with '" + Quoted(Printable(id)) + "'");
}

Result<void> ConfirmProposal(const StateStore& store, const std::string& id) {
  IGLOO_ASSIGN(const auto lock, LockStore(store));
  IGLOO_ASSIGN(const auto proposal, FindProposal(store, id));
  const AgentFiles* agent = FindAgentFiles(proposal.agent);
  const FileRule* rule = agent == nullptr ? nullptr : RuleFor(*agent, proposal.file);
  if (rule == nullptr) {
    return Fail(
        Errc::kFailedPrecondition,
        "'" + Printable(proposal.file) + "' is no file of '" + Printable(proposal.agent) + "'",
        "drop the proposal");
  }
  IGLOO_ASSIGN(const auto host, ReadHostFile(proposal.host, kMaxStateFile));
  IGLOO_ASSIGN(const auto text, Apply(proposal, *rule, host.text));
  store.Step("confirm " + proposal.file);
  if (text != host.text) IGLOO_TRY(WriteHostFile(host, text));
  store.Step("confirmed " + proposal.file);
  ::unlink(FileOf(store, proposal.id).c_str());
  return {};
}

Result<void> DropProposal(const StateStore& store, const std::string& id) {
  IGLOO_ASSIGN(const auto proposal, FindProposal(store, id));
  if (::unlink(FileOf(store, proposal.id).c_str()) == 0) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot remove '" + FileOf(store, proposal.id) + "'");
}

}  // namespace igloo::agent

#include "agent/refusals.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <filesystem>
#include <limits>
#include <utility>

#include "agent/registry.h"
#include "base/file.h"
#include "base/private_directory.h"
#include "base/replace_file.h"
#include "base/text.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr std::string_view kEnd = ".json";
/// Of all texts of all rows, with what JSON needs to write them down.
constexpr std::size_t kMostFile = 16U << 20;

constexpr std::array<std::pair<RefusalKind, std::string_view>, 7> kKinds = {{
    {RefusalKind::kNetwork, "network"},
    {RefusalKind::kCall, "call"},
    {RefusalKind::kGrant, "grant"},
    {RefusalKind::kHidden, "hidden"},
    {RefusalKind::kWrite, "write"},
    {RefusalKind::kRead, "read"},
    {RefusalKind::kMissing, "missing"},
}};

std::uint64_t Sum(std::uint64_t a, std::uint64_t b) {
  return a + std::min(b, std::numeric_limits<std::uint64_t>::max() - a);
}

/// Fields of an object, each empty where there is none of its kind.
class Reader {
 public:
  explicit Reader(const json::value& value) : object_(value.if_object()) {}
  std::string Text(std::string_view name) const {
    const json::value* at = Find(name);
    return at != nullptr && at->is_string() ? std::string(at->get_string()) : std::string();
  }
  template <class Number>
  Number Of(std::string_view name) const {
    const json::value* at = Find(name);
    boost::system::error_code error;
    const Number number = at != nullptr ? at->to_number<Number>(error) : Number();
    return error ? Number() : number;
  }
  bool Flag(std::string_view name) const {
    const json::value* at = Find(name);
    return at != nullptr && at->is_bool() && at->get_bool();
  }
  const json::value* Find(std::string_view name) const {
    return object_ != nullptr ? object_->if_contains(name) : nullptr;
  }

 private:
  const json::object* object_;
};

}  // namespace

std::string_view ToText(RefusalKind kind) {
  return std::ranges::find(kKinds, kind, &decltype(kKinds)::value_type::first)->second;
}

Refusal* RefusalList::Place(Refusal& refusal) {
  for (std::string* text : {&refusal.what, &refusal.program, &refusal.reason, &refusal.remedy}) {
    if (text->size() > kMostText) *text = Quoted(*text, kMostText);
  }
  const auto same = std::ranges::find_if(rows_, [&](const Refusal& each) {
    return each.kind == refusal.kind && each.what == refusal.what &&
           each.program == refusal.program && each.reason == refusal.reason;
  });
  if (same != rows_.end()) {
    same->last = std::max(same->last, refusal.last);
    return &*same;
  }
  const auto of_kind = std::ranges::count(rows_, refusal.kind, &Refusal::kind);
  if (static_cast<std::size_t>(of_kind) < kMostOfKind) {
    rows_.push_back(std::move(refusal));
  } else {
    more_ = Sum(more_, refusal.count);
  }
  return nullptr;
}

void RefusalList::Add(Refusal refusal) {
  const std::uint64_t count = refusal.count;
  if (Refusal* row = Place(refusal)) row->count = Sum(row->count, count);
}

void RefusalList::AddTotal(Refusal refusal) {
  const std::uint64_t count = refusal.count;
  if (Refusal* row = Place(refusal)) row->count = std::max(row->count, count);
}

std::string BoxRefusals::Encode() const {
  json::array rows;
  for (const Refusal& each : list.rows()) {
    rows.push_back(json::object{{"kind", ToText(each.kind)},
                                {"what", ToUtf8(each.what)},
                                {"program", ToUtf8(each.program)},
                                {"reason", ToUtf8(each.reason)},
                                {"remedy", ToUtf8(each.remedy)},
                                {"count", each.count},
                                {"first", each.first},
                                {"last", each.last}});
  }
  return json::serialize(json::object{{"box", box},
                                      {"agent", ToUtf8(agent)},
                                      {"project", ToUtf8(project)},
                                      {"started", started},
                                      {"ended", ended},
                                      {"calls_watched", calls},
                                      {"files_watched", files},
                                      {"refusals", std::move(rows)},
                                      {"more", list.more()}}) +
         "\n";
}

Result<BoxRefusals> BoxRefusals::Decode(std::string_view text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  const Reader all(value);
  const json::value* rows = all.Find("refusals");
  if (error || rows == nullptr || !rows->is_array()) {
    return Fail(Errc::kInvalidArgument, "this is no list of refusals");
  }
  BoxRefusals refusals{.box = all.Text("box"),
                       .agent = all.Text("agent"),
                       .project = all.Text("project"),
                       .started = all.Of<std::int64_t>("started"),
                       .ended = all.Of<std::int64_t>("ended"),
                       .calls = all.Flag("calls_watched"),
                       .files = all.Flag("files_watched")};
  for (const json::value& each : rows->get_array()) {
    const Reader row(each);
    const auto* kind =
        std::ranges::find(kKinds, row.Text("kind"), &decltype(kKinds)::value_type::second);
    if (kind == kKinds.end()) continue;  // of a newer igloo
    refusals.list.Add({.kind = kind->first,
                       .what = row.Text("what"),
                       .program = row.Text("program"),
                       .reason = row.Text("reason"),
                       .remedy = row.Text("remedy"),
                       .count = row.Of<std::uint64_t>("count"),
                       .first = row.Of<std::int64_t>("first"),
                       .last = row.Of<std::int64_t>("last")});
  }
  refusals.list.more_ = all.Of<std::uint64_t>("more");
  return refusals;
}

Result<RefusalStore> RefusalStore::Open(const std::string& directory) {
  IGLOO_TRY(OpenPrivateDirectory(directory, OwnLevels::kTwo));
  return RefusalStore(directory);
}

Result<void> RefusalStore::Write(const BoxRefusals& refusals) const {
  IGLOO_TRY(CheckBoxName(refusals.box));
  const std::string path = directory_ + "/" + refusals.box + std::string(kEnd);
  std::error_code ignored;
  const bool fresh = !fs::exists(path, ignored);
  IGLOO_TRY(ReplaceFile(path, refusals.Encode()));
  if (!fresh) return {};
  const std::vector<BoxRefusals> all = All();
  for (std::size_t i = kMostBoxes; i < all.size(); ++i) {
    fs::remove(directory_ + "/" + all[i].box + std::string(kEnd), ignored);
  }
  return {};
}

std::vector<BoxRefusals> RefusalStore::All() const {
  std::vector<BoxRefusals> all;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory_, ignored)) {
    const std::string file = entry.path().filename().string();
    const auto text = file.ends_with(kEnd) ? ReadFile(entry.path().string(), kMostFile)
                                           : Result<std::string>(std::string());
    auto refusals = text ? BoxRefusals::Decode(*text) : Fail(Errc::kNotFound, "");
    // The file's name is the box's, whatever it says.
    if (refusals && refusals->box + std::string(kEnd) == file) all.push_back(*std::move(refusals));
  }
  std::ranges::sort(all, std::greater(), &BoxRefusals::started);
  return all;
}

Result<BoxRefusals> RefusalStore::Find(std::string_view box) const {
  std::string names;
  for (BoxRefusals& each : All()) {
    if (each.box == box) return std::move(each);
    names += (names.empty() ? "" : ", ") + each.box;
  }
  return Fail(
      Errc::kNotFound, "nothing is known of a box '" + Printable(Quoted(box)) + "'",
      names.empty() ? "no box has run yet; start one: igloo agent claude" : "there are: " + names);
}

}  // namespace igloo::agent

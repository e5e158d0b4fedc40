#include "agent/state/write_back.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <filesystem>

#include "agent/state/box_files.h"
#include "agent/state/host_file.h"
#include "agent/state/json_text.h"
#include "agent/state/merge_file.h"
#include "base/base64.h"
#include "base/file.h"
#include "base/open_beneath.h"
#include "base/private_directory.h"
#include "base/random.h"
#include "base/remove_tree.h"
#include "base/replace_file.h"
#include "base/scope_exit.h"
#include "base/text.h"

namespace igloo::agent {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxOrder = 64U << 10;
/// Of one box: nobody reads more, and a box must not fill the disk with them.
constexpr std::size_t kMaxProposals = 200;
constexpr std::size_t kMaxProposedBytes = 2 * kMaxStateFile;

/// Names and paths are bytes, and JSON has none.
std::string Encode(const BoxOrder& order) {
  json::array places;
  for (const Place& place : order.places) {
    places.push_back({ToBase64(place.path), ToBase64(place.host)});
  }
  return json::serialize(json::value{{"box", ToBase64(order.box)},
                                     {"agent", ToBase64(order.agent)},
                                     {"home", ToBase64(order.home)},
                                     {"places", places},
                                     {"started", order.started}}) +
         "\n";
}

std::string DecodeBytes(const json::value& value) {
  return FromBase64(std::string_view(value.as_string())).value_or("");
}

std::optional<BoxOrder> Decode(std::string_view text) {
  try {
    const json::value value = json::parse(json::string_view(text.data(), text.size()));
    BoxOrder order{.box = DecodeBytes(value.at("box")),
                   .agent = DecodeBytes(value.at("agent")),
                   .home = DecodeBytes(value.at("home")),
                   .started = value.at("started").as_int64()};
    for (const json::value& place : value.at("places").as_array()) {
      order.places.push_back({DecodeBytes(place.at(0)), DecodeBytes(place.at(1))});
    }
    return order;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

Result<const AgentFiles*> FilesOf(const BoxOrder& order) {
  const AgentFiles* files = FindAgentFiles(order.agent);
  if (files != nullptr) return files;
  return Fail(Errc::kInvalidArgument,
              "igloo does not know where '" + Printable(order.agent) + "' keeps its state");
}

bool IsCopied(const FileRule& rule) {
  return rule.handing == Handing::kCopied || rule.handing == Handing::kKeptEqual;
}

/// The files that a row names, which may be a pattern.
std::vector<std::string> Named(const BoxOrder& order, const FileRule& rule) {
  const std::string path(rule.path);
  if (path.find('*') == std::string::npos) return {path};
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  std::vector<std::string> all;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(HostPathOf(order, directory), failure), end;
       !failure && at != end; at.increment(failure)) {
    const std::string name = directory + at->path().filename().string();
    if (FitsPattern(path, name)) all.push_back(name);
  }
  return all;
}

Result<void> MakeParent(const std::string& path) {
  return MakeMissingDirectories(path.substr(0, path.rfind('/')));
}

/// Not synced, which would cost every box's start milliseconds: what a power failure leaves of a
/// copy is no JSON, and such changes are only proposed.
Result<void> WriteCopy(const std::string& path, std::string_view text) {
  const UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot make '" + Printable(path) + "'");
  }
  auto written = WriteAll(fd.get(), text);
  if (!written) return Wrap("'" + Printable(path) + "'", std::move(written).error());
  return {};
}

std::string HintFor(const std::string& directory, const std::string& path) {
  return "the box's version is kept in '" + Printable(directory) + "/home/" + Printable(path) +
         "', and igloo tries again at the next start";
}

/// Away all at once, then bit by bit: half a box is never taken for one.
void Remove(const StateStore& store, const std::string& directory) {
  const std::string away = store.Making() + "/" + RandomName();
  store.Step("remove box");
  if (::rename(directory.c_str(), away.c_str()) != 0) return;
  store.Step("removed box");
  // What stays is tried again with the next box.
  (void)RemoveTree(away);
}

}  // namespace

std::string HostPathOf(const BoxOrder& order, const std::string& path) {
  for (const Place& place : order.places) {
    if (place.path == path) return place.host;
    if (place.path.ends_with('/') && path.starts_with(place.path)) {
      return place.host + path.substr(place.path.size());
    }
  }
  return order.home + "/" + path;
}

std::string BoxState::BaseOf(const std::string& path) const { return directory_ + "/base/" + path; }

Result<void> BoxState::CopyIn(const std::string& path) {
  IGLOO_ASSIGN(const auto host, ReadHostFile(HostPathOf(order_, path), kMaxStateFile));
  if (!host.text) return {};
  for (const std::string& copy : {home() + "/" + path, BaseOf(path)}) {
    IGLOO_TRY(MakeParent(copy));
    store_.Step("copy " + path);
    IGLOO_TRY(WriteCopy(copy, *host.text));
  }
  return {};
}

Result<void> BoxState::CopyAll() {
  for (const FileRule& rule : files_->files) {
    if (!IsCopied(rule)) continue;
    for (const std::string& path : Named(order_, rule)) {
      auto copied = CopyIn(path);
      if (copied) continue;
      // A copy that was not finished would look like a change of the box's.
      if (copied.error().sys_errno == ENOSPC || copied.error().sys_errno == EDQUOT) return copied;
      ::unlink((home() + "/" + path).c_str());
      problems_.push_back({path, std::move(copied).error()});
    }
  }
  return {};
}

Result<BoxState> BoxState::Begin(const StateStore& store, const BoxOrder& order) {
  BoxState state;
  state.store_ = store;
  state.order_ = order;
  IGLOO_ASSIGN(state.files_, FilesOf(order));
  IGLOO_ASSIGN(const auto lock, LockStore(store));
  const std::string id = RandomName();
  state.directory_ = store.Making() + "/" + id;
  const ScopeExit cleanup([making = state.directory_] { (void)RemoveTree(making); });
  IGLOO_TRY(MakeMissingDirectories(state.home()));
  IGLOO_TRY(MakeMissingDirectories(state.BaseOf("")));
  IGLOO_TRY(state.CopyAll());
  IGLOO_TRY(WriteCopy(state.directory_ + "/order", Encode(order)));
  // Before others can see the box: a box without a lock is one that was killed.
  IGLOO_ASSIGN(state.lock_, LockPrivateFile(state.directory_ + "/lock"));
  const std::string place = store.Boxes() + "/" + id;
  store.Step("begin box");
  if (::rename(state.directory_.c_str(), place.c_str()) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot make '" + Printable(place) + "'");
  }
  store.Step("began box");
  state.directory_ = place;
  return state;
}

Result<std::optional<BoxState>> BoxState::Open(const StateStore& store,
                                               const std::string& directory) {
  BoxState state;
  state.store_ = store;
  state.directory_ = directory;
  auto lock = LockPrivateFile(directory + "/lock");
  if (!lock) return std::nullopt;
  state.lock_ = *std::move(lock);
  auto text = ReadFile(directory + "/order", kMaxOrder);
  if (!text && text.error().sys_errno == ENOENT) return std::nullopt;
  if (!text) return std::unexpected(std::move(text).error());
  auto order = Decode(*text);
  if (!order) return Fail(Errc::kFailedPrecondition, "'" + directory + "/order' is damaged");
  state.order_ = *std::move(order);
  IGLOO_ASSIGN(state.files_, FilesOf(state.order_));
  return state;
}

Result<void> BoxState::Propose(const std::string& path, std::vector<Change> changes,
                               WriteBack& done) {
  for (Change& change : changes) {
    std::size_t bytes = 0;
    for (const Proposal& one : done.proposals) {
      bytes += one.change.before.value_or("").size() + one.change.after.value_or("").size();
    }
    if (done.proposals.size() == kMaxProposals || bytes > kMaxProposedBytes) {
      return Fail(Errc::kExhausted, "the box changed more than a person can look through");
    }
    const Proposal proposal = MakeProposal({.box = order_.box,
                                            .started = order_.started,
                                            .agent = order_.agent,
                                            .file = path,
                                            .host = HostPathOf(order_, path),
                                            .change = std::move(change)});
    IGLOO_TRY(AddProposal(store_, proposal));
    done.proposals.push_back(proposal);
  }
  return {};
}

Result<std::optional<std::string>> BoxState::TakeBack(const FileRule& rule, const std::string& path,
                                                      WriteBack& done) {
  IGLOO_ASSIGN(auto box, ReadBoxFile(home(), path));
  BoxFile file{.rule = &rule, .path = path, .host = HostPathOf(order_, path)};
  auto base = ReadFile(BaseOf(path), kMaxStateFile);
  if (base) {
    file.base = *std::move(base);
  } else if (base.error().sys_errno != ENOENT && base.error().sys_errno != ENOTDIR) {
    return std::unexpected(std::move(base).error());
  }
  // That a box removed or emptied a file is no reason to do that to the user's.
  if (!box || box->empty() || box == file.base) return box;
  file.box = *box;
  IGLOO_ASSIGN(auto outcome, MergeIntoHost(store_, file));
  if (outcome.written) done.written.push_back(path);
  if (outcome.host_kept) done.host_kept.push_back(path);
  IGLOO_TRY(Propose(path, std::move(outcome.proposals), done));
  return box;
}

Result<void> BoxState::KeepEqual(const FileRule& rule, const std::string& path, WriteBack& done) {
  IGLOO_ASSIGN(const auto box, TakeBack(rule, path, done));
  IGLOO_ASSIGN(const auto host, ReadHostFile(HostPathOf(order_, path), kMaxStateFile));
  // A sign-out on the host is not made one in the box, whose sign-in may be its own.
  if (!host.text) return {};
  // The agent is writing at this moment, or has refreshed its sign-in as the host has: a version
  // that the host did not take is not taken from the box, either.
  const bool kept = !done.host_kept.empty() && done.host_kept.back() == path;
  if (kept || (box && box->empty())) return {};
  IGLOO_TRY(MakeParent(BaseOf(path)));
  if (host.text != box) {
    store_.Step("give " + path);
    auto given = WriteBoxFile(home(), path, box, *host.text);
    // The box was faster: the next time takes what it wrote.
    if (!given && given.error().code == Errc::kFailedPrecondition) return {};
    IGLOO_TRY(std::move(given));
    store_.Step("gave " + path);
  }
  // Last: before this, the box counts as one that changed its file to what the host has.
  return ReplaceFile(BaseOf(path), *host.text);
}

Result<WriteBack> BoxState::Sync() {
  WriteBack done{.box = order_.box};
  IGLOO_ASSIGN(const auto lock, LockStore(store_));
  for (const FileRule& rule : files_->files) {
    if (rule.handing != Handing::kKeptEqual) continue;
    for (const std::string& path : Named(order_, rule)) {
      auto kept = KeepEqual(rule, path, done);
      if (!kept) done.problems.push_back({path, std::move(kept).error()});
    }
  }
  return done;
}

/// What is too large or too many is so at the next start as well, so this box is finished.
Result<void> BoxState::KeepAside(std::size_t files, const std::vector<std::string>& paths,
                                 WriteBack& done) {
  const UniqueFd top(::open(home().c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  for (const std::string& path : paths) {
    if (!RuleFor(*files_, path)->is_secret) continue;
    // It was taken already, and what lies here for long has no sign-in in it.
    const std::size_t slash = path.rfind('/');
    const UniqueFd parent = OpenBeneath(top.get(), slash == path.npos ? "" : path.substr(0, slash),
                                        O_PATH | O_DIRECTORY);
    if (parent) ::unlinkat(parent.get(), path.substr(slash + 1).c_str(), 0);
  }
  (void)RemoveTree(directory_ + "/base");
  const std::string kept = store_.Kept() + "/" + RandomName();
  if (::rename(directory_.c_str(), kept.c_str()) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot put '" + Printable(directory_) + "' aside");
  }
  done.problems.push_back(
      {"", Error{Errc::kExhausted,
                 files == 0 ? std::string("the box left more files than igloo takes")
                            : "the box changed more than a person can look through: " +
                                  std::to_string(files) + " of its files are no proposals",
                 "they are in '" + Printable(kept) +
                     "/home': copy what you want; 'igloo agent gc' removes them",
                 0}});
  return {};
}

Result<WriteBack> BoxState::Finish() {
  WriteBack done{.box = order_.box};
  IGLOO_ASSIGN(const auto lock, LockStore(store_));
  IGLOO_ASSIGN(const auto paths, ListBoxFiles(home(), *files_));
  std::size_t too_much = 0;
  for (const std::string& path : paths) {
    auto taken = TakeBack(*RuleFor(*files_, path), path, done);
    if (taken) continue;
    Error error = std::move(taken).error();
    if (error.code == Errc::kExhausted) {
      ++too_much;
      continue;
    }
    if (error.hint.empty()) error.hint = HintFor(directory_, path);
    done.problems.push_back({path, std::move(error)});
  }
  if (too_much > 0 || paths.size() == kMaxBoxFiles) {
    IGLOO_TRY(KeepAside(too_much, paths, done));
    return done;
  }
  if (done.problems.empty()) Remove(store_, directory_);
  return done;
}

Result<std::vector<WriteBack>> FinishInterrupted(const StateStore& store) {
  std::vector<std::string> left;
  {
    IGLOO_ASSIGN(const auto lock, LockStore(store));
    std::error_code failure;
    // Nobody makes anything while the lock is held: what is there was left.
    for (const auto& entry : std::filesystem::directory_iterator(store.Making(), failure)) {
      (void)RemoveTree(entry.path().string());
    }
    for (const auto& entry : std::filesystem::directory_iterator(store.Boxes(), failure)) {
      left.push_back(entry.path().string());
    }
  }
  std::vector<WriteBack> all;
  for (const std::string& directory : left) {
    auto state = BoxState::Open(store, directory);
    if (state && !*state) continue;
    auto done = state ? (*state)->Finish() : Result<WriteBack>(std::unexpected(state.error()));
    if (!done) {
      done = WriteBack{.box = state ? (*state)->order_.box : directory,
                       .problems = {{"", std::move(done).error()}}};
    }
    all.push_back(*std::move(done));
  }
  return all;
}

}  // namespace igloo::agent

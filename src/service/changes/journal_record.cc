#include "service/changes/journal_record.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/replace_file.h"
#include "service/changes/packed.h"

namespace igloo::service::changes {
namespace {

constexpr std::uint64_t kVersion = 2;
constexpr std::size_t kLargestJournal = 1UL << 30;

std::string JournalPlace(const ChangeSet& set) { return set.place + "/journal"; }

std::string Encode(const Journal& journal) {
  Packer out;
  out.Number(kVersion);
  out.Number(static_cast<std::uint64_t>(journal.phase));
  out.Text(journal.staging);
  out.Number(journal.operations.size());
  for (const Operation& each : journal.operations) {
    out.Number(static_cast<std::uint64_t>(each.kind));
    out.Text(each.path);
    out.Number(each.expected ? 1 : 0);
    out.Entry(each.expected.value_or(Node{}));
    out.Number(each.mode);
    out.Number(each.staged_inode);
  }
  return out.bytes();
}

Result<Journal> Decode(std::string_view bytes) {
  Unpacker in(bytes);
  Journal journal;
  const bool known = in.Number() == kVersion;
  journal.phase = static_cast<Phase>(in.Number());
  journal.staging = in.Text();
  const std::uint64_t count = in.Number();
  for (std::uint64_t i = 0; known && in.ok() && i < count; ++i) {
    Operation each;
    each.kind = static_cast<Operation::Kind>(in.Number());
    each.path = in.Text();
    const bool expects = in.Number() == 1;
    const Node node = in.Entry();
    if (expects) each.expected = node;
    each.mode = static_cast<std::uint32_t>(in.Number());
    each.staged_inode = in.Number();
    journal.operations.push_back(std::move(each));
  }
  if (known && in.ok() && in.done()) return journal;
  return Fail(Errc::kFailedPrecondition,
              known ? "the journal of an interrupted apply is damaged"
                    : "another version of igloo wrote the journal of an interrupted apply",
              "look at the project's files, then discard the change set");
}

}  // namespace

Result<void> SaveJournal(const ChangeSet& set, const Journal& journal) {
  IGLOO_TRY(ReplaceFile(JournalPlace(set), Encode(journal)));
  const UniqueFd directory(::open(set.place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory && ::fsync(directory.get()) == 0) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot write the journal");
}

Result<std::optional<Journal>> LoadJournal(const ChangeSet& set) {
  if (::access(JournalPlace(set).c_str(), F_OK) != 0) return std::nullopt;
  IGLOO_ASSIGN(const std::string bytes, ReadFile(JournalPlace(set), kLargestJournal));
  IGLOO_ASSIGN(Journal journal, Decode(bytes));
  return journal;
}

Result<void> RemoveJournal(const ChangeSet& set) {
  if (::unlink(JournalPlace(set).c_str()) == 0) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot remove the journal");
}

}  // namespace igloo::service::changes

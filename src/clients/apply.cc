#include "clients/apply.h"

#include <sys/stat.h>
#include <unistd.h>

namespace igloo::clients {
namespace {

std::string DirectoryOf(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  return slash == 0 ? "/" : file.substr(0, slash);
}

/// What igloo is about to write reads back as meant, or it is not written.
Result<void> CheckResult(const Order& order, const Check& check, const Edit& edit) {
  const auto again =
      order.action == Action::kInstall
          ? Install(*order.client, order.server, order.file, edit.text, Foreign::kKeep)
          : Remove(*order.client, order.server.name, order.file, edit.text, {}, Foreign::kKeep);
  if (again && again->change == Change::kNone && check(order.file, edit.text)) return {};
  return Fail(
      Errc::kFailedPrecondition,
      "'" + order.file + "' is written in a way that igloo cannot change safely",
      "'igloo mcp print-config " + std::string(order.client->name) + "' prints what belongs there");
}

/// Only the owner gets to read a user's file: other servers' keys will stand in it. A project's
/// file is like every other file of the project.
mode_t ModeOf(Scope scope, mode_t open_mode, mode_t closed_mode) {
  if (scope == Scope::kUser) return closed_mode;
  const mode_t mask = ::umask(022);
  ::umask(mask);
  return open_mode & ~mask;
}

Result<void> Write(const Order& order, const UndoStore& store, const ClientFile& file, Done& done) {
  int made = 0;
  if (file.exists) {
    IGLOO_ASSIGN(done.backup, BackUp(file));
  } else {
    IGLOO_ASSIGN(made, MakeDirectories(DirectoryOf(file.path), ModeOf(order.scope, 0777, 0700)));
  }
  const auto written = [&]() -> Result<void> {
    if (done.edit.undo) {
      done.edit.undo->created_file = !file.exists;
      done.edit.undo->created_directories = made;
      IGLOO_TRY(store.Put(order.file, order.server.name, *done.edit.undo));
    }
    return WriteClientFile(file, done.edit.text, ModeOf(order.scope, 0666, 0600));
  }();
  if (!written) {
    if (done.edit.undo) store.Drop(order.file, order.server.name);
    RemoveDirectories(DirectoryOf(file.path), made);
    // Nothing was changed, so there is nothing to go back to.
    if (!done.backup.empty()) ::unlink(done.backup.c_str());
    return written;
  }
  done.made_file = !file.exists;
  return {};
}

}  // namespace

Result<Done> Apply(const Order& order, const UndoStore& store, const Check& check) {
  IGLOO_ASSIGN(const ClientFile file, ReadClientFile(order.file));
  if (file.exists) IGLOO_TRY(check(order.file, file.text));
  const bool install = order.action == Action::kInstall;
  const std::string& name = order.server.name;
  const auto undo = install ? std::nullopt : store.Find(order.file, name);
  Done done{.old_text = file.text};
  IGLOO_ASSIGN(done.edit,
               install ? Install(*order.client, order.server, order.file, file.text, order.foreign)
                       : Remove(*order.client, name, order.file, file.text, undo, order.foreign));
  if (done.edit.change == Change::kNone || done.edit.change == Change::kForeign) return done;
  IGLOO_TRY(CheckResult(order, check, done.edit));
  const bool deletes = undo && undo->created_file && done.edit.text.empty();
  if (order.dry_run) {
    done.made_file = install && !file.exists;
    done.deleted_file = deletes;
    return done;
  }
  if (deletes) {
    IGLOO_TRY(DeleteClientFile(file));
    RemoveDirectories(DirectoryOf(file.path), undo->created_directories);
    done.deleted_file = true;
  } else {
    IGLOO_TRY(Write(order, store, file, done));
  }
  // What was taken out, or put over somebody else's, has nothing to be taken back to.
  if (!install || done.edit.change == Change::kReplaced) store.Drop(order.file, name);
  return done;
}

}  // namespace igloo::clients

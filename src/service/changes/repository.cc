#include "service/changes/repository.h"

#include "base/text.h"
#include "environment/work_tree.h"

namespace igloo::service::changes {

Result<Repository> Repository::Open(const ChangeSet& set) {
  if (set.repository.empty()) {
    const std::string path = set.project + "/.git";
    // SECURITY: not by its path: what is a link now leads to another repository.
    IGLOO_ASSIGN(const Tree project, OpenProject(set));
    IGLOO_ASSIGN(Tree host, project.In(".git"));
    IGLOO_ASSIGN(Tree upper, Tree::Open(set.place + "/layer/upper"));
    Repository repository(path, std::move(host), std::move(upper));
    repository.prefix_ = ".git/";
    return repository;
  }
  // SECURITY: objects and branches go where the work tree's own repository is, and nowhere else.
  const auto now = environment::FindWorkTree(set.project);
  if (!now || now->common != set.repository) {
    return Fail(Errc::kFailedPrecondition,
                "'" + Printable(set.project) + "' is no longer a work tree of '" +
                    Printable(set.repository) + "'",
                "run 'git worktree repair' there; files can be applied without the commits by "
                "their names: igloo apply " +
                    set.name + " PATH");
  }
  IGLOO_ASSIGN(const Tree top, Tree::Open("/"));
  IGLOO_ASSIGN(Tree host, top.In(set.repository.substr(1)));
  IGLOO_ASSIGN(Tree upper, Tree::Open(set.place + "/repository/upper"));
  Repository repository(set.repository, std::move(host), std::move(upper));
  if (!set.work_tree.empty()) repository.own_ = set.work_tree + "/";
  return repository;
}

}  // namespace igloo::service::changes

#include "agent/obeyed/check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "agent/obeyed/git_settings.h"
#include "agent/program.h"
#include "base/file.h"
#include "base/open_beneath.h"
#include "base/private_directory.h"
#include "base/replace_file.h"
#include "base/text.h"
#include "sandbox/path.h"
#include "service/changes/packed.h"

namespace igloo::agent {
namespace {

using What = ObeyedFinding::What;

constexpr std::uint64_t kVersion = 1;

std::string RealPath(const std::string& path) { return TheHost().real_path(path); }

std::string ParentOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

std::string Below(const std::string& directory, std::string_view path) {
  return path.starts_with('/') ? std::string(path) : directory + "/" + std::string(path);
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& each : texts) joined += (joined.empty() ? "" : ", ") + Printable(each);
  return joined;
}

/// What stands in the place of a file from here on; nothing: no file.
struct Wanted {
  std::optional<std::string> content = {};
  mode_t mode = 0644;
};

/// One file that a box made, and what is to become of it.
class Judge {
 public:
  Judge(const std::string& project, const WorkTree& tree, const ObeyedFiles& before)
      : project_(project), tree_(tree), before_(before) {}

  /// What git would do because of it; empty: nothing that it did not do before.
  std::string Harm(const std::string& path, const Obeyed& now, Wanted& wanted) const {
    const auto found = before_.find(path);
    const Obeyed* was = found == before_.end() ? nullptr : &found->second;
    if (was != nullptr && !was->link && was->content) wanted = {*was->content, was->mode};
    switch (now.as) {
      case ObeyedAs::kSettings:
        return HarmOfSettings(path, was, now, wanted);
      case ObeyedAs::kHook:
        return now.link || (now.mode & 0111) != 0 ? "git runs it" : "";
      case ObeyedAs::kDirection:
        return IsOfLinkedWorkTree(path, now) ? ""
                                             : "git takes hooks and configuration from elsewhere";
      case ObeyedAs::kGitFile:
        return LeadsInside(path, now) ? "" : "it leads git out of the project";
      case ObeyedAs::kNamed:
        break;
    }
    return {};
  }

 private:
  std::string HarmOfSettings(const std::string& path, const Obeyed* was, const Obeyed& now,
                             Wanted& wanted) const {
    if (now.link || !now.content) return "git runs programs that it may name";
    const auto judged = [&](const std::string& text) {
      return JudgeSettings(text, [&](const std::string& named) {
        return InProject(RealPath(Below(ParentOf(path), named)));
      });
    };
    JudgedSettings settings = judged(*now.content);
    if (was != nullptr && was->content && !was->link) {
      const JudgedSettings old = judged(*was->content);
      std::erase_if(settings.refused, [&](const std::string& each) {
        return std::ranges::find(old.refused, each) != old.refused.end();
      });
    } else if (!settings.harmless.empty()) {
      wanted = {settings.harmless, 0644};
    }
    return settings.refused.empty() ? "" : Joined(settings.refused);
  }

  bool InProject(const std::string& path) const {
    return !path.empty() && sandbox::IsWithin(path, project_);
  }
  bool IsKnown(const std::string& path) const {
    const bool repository = !tree_.common.empty() && sandbox::IsWithin(path, tree_.common);
    return !path.empty() && (InProject(path) || repository);
  }

  /// ".../worktrees/NAME/commondir" names the repository around it, and no other.
  bool IsOfLinkedWorkTree(const std::string& path, const Obeyed& now) const {
    if (now.link || !now.content) return false;
    const std::string own = ParentOf(path), all = ParentOf(own);
    return all.ends_with("/worktrees") &&
           RealPath(Below(own, FirstLine(*now.content))) == ParentOf(all) && IsKnown(ParentOf(all));
  }

  bool LeadsInside(const std::string& path, const Obeyed& now) const {
    if (!now.content) return false;
    std::string to = *now.content;
    constexpr std::string_view kPrefix = "gitdir: ";
    if (!now.link) {
      if (!to.starts_with(kPrefix)) return true;  // git says that it is none
      to = FirstLine(to).substr(kPrefix.size());
    }
    const std::string real = RealPath(Below(ParentOf(path), to));
    return real.empty() || IsKnown(real);
  }

  const std::string& project_;
  const WorkTree& tree_;
  const ObeyedFiles& before_;
};

/// Files that git would obey, taken away or put back as they were.
class Mending {
 public:
  Mending(const std::string& project, const WorkTree& tree, const std::string& aside)
      : aside_(aside) {
    roots_.push_back(project);
    if (tree.elsewhere) roots_.push_back(tree.common);
  }

  ObeyedFinding PutRight(const std::string& path, const Obeyed& now, const Wanted& wanted,
                         std::string harm) {
    ObeyedFinding finding{.what = What::kPutRight, .path = path, .detail = std::move(harm)};
    if (auto kept = Keep(path, now)) finding.kept = *std::move(kept);
    if (auto done = Replace(path, wanted); !done) {
      finding.what = What::kLeft;
      finding.detail += "; " + done.error().what;
    }
    return finding;
  }

 private:
  /// The box's version, for a person to look at.
  Result<std::string> Keep(const std::string& path, const Obeyed& now) {
    IGLOO_TRY(OpenPrivateDirectory(aside_, OwnLevels::kTwo));
    std::string name = path.substr(1);
    // SECURITY: whoever made the name chose what a terminal would do with it.
    std::ranges::replace_if(name, [](char c) { return c <= ' ' || c == 0x7f || c == '/'; }, '%');
    if (name.size() > 200) name = name.substr(name.size() - 200);
    const std::string place = aside_ + "/" + std::to_string(++kept_) + "-" + name;
    const std::string text = now.content.value_or("(too large, or not to be read)\n");
    IGLOO_TRY(ReplaceFile(place, now.link ? "a link to " + text + "\n" : text));
    return place;
  }

  /// SECURITY: another box may still write to this project. The directory is opened without any
  /// link on the way, and the name is changed in it.
  Result<void> Replace(const std::string& path, const Wanted& wanted) {
    const std::string parent = ParentOf(path), name = path.substr(parent.size() + 1);
    const auto root = std::ranges::find_if(
        roots_, [&](const std::string& each) { return sandbox::IsWithin(parent, each); });
    if (root == roots_.end()) return Fail(Errc::kInternal, "it lies in no tree of the box's");
    const UniqueFd top(::open(root->c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    const std::string below = parent == *root ? "" : parent.substr(root->size() + 1);
    const UniqueFd directory =
        top ? OpenBeneath(top.get(), below, O_RDONLY | O_DIRECTORY) : UniqueFd();
    struct stat owner{};
    if (!directory || ::fstat(directory.get(), &owner) != 0) return Failed("open its directory");
    if (!wanted.content) {
      if (::unlinkat(directory.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
        return Failed("remove it");
      }
      return {};
    }
    const std::string fresh = name + ".igloo-" + std::to_string(::getpid());
    const UniqueFd file(::openat(directory.get(), fresh.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return Failed("write it");
    auto written = WriteAll(file.get(), *wanted.content);
    if (::geteuid() == 0) (void)::fchown(file.get(), owner.st_uid, owner.st_gid);
    if (!written || ::fchmod(file.get(), wanted.mode) != 0 ||
        ::renameat(directory.get(), fresh.c_str(), directory.get(), name.c_str()) != 0) {
      const int saved_errno = errno;
      ::unlinkat(directory.get(), fresh.c_str(), 0);
      errno = saved_errno;
      return Failed("put back what was there");
    }
    return {};
  }

  static std::unexpected<Error> Failed(const std::string& doing) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "igloo cannot " + doing);
  }

  const std::string& aside_;
  std::vector<std::string> roots_ = {};
  std::size_t kept_ = 0;
};

bool SameForHost(const Obeyed& was, const Obeyed& now) {
  return was.content == now.content && was.stamp == now.stamp && was.link == now.link &&
         (was.mode & 0111) == (now.mode & 0111);
}

}  // namespace

Result<ObeyedCheck> ObeyedCheck::Begin(const std::string& project, const WorkTree& tree,
                                       const std::string& home) {
  ObeyedCheck check;
  check.project_ = project;
  check.home_ = home;
  check.tree_ = tree;
  check.place_.Reset(::open(project.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  IGLOO_ASSIGN(check.before_, LookForObeyed(project, tree, FilesLedTo(project, tree, home)));
  return check;
}

std::string ObeyedCheck::Encode() const {
  service::changes::Packer out;
  out.Number(kVersion);
  for (const std::string* each : {&project_, &home_, &tree_.git_directory, &tree_.common}) {
    out.Text(*each);
  }
  out.Number(tree_.elsewhere ? 1 : 0);
  out.Number(before_.size());
  for (const auto& [path, obeyed] : before_) {
    out.Text(path);
    out.Number(static_cast<std::uint64_t>(obeyed.as));
    out.Number(obeyed.link ? 1 : 0);
    out.Number(obeyed.mode);
    out.Number(obeyed.content ? 1 : 0);
    out.Text(obeyed.content.value_or(""));
    out.Text(obeyed.stamp);
    out.Text(obeyed.reason);
  }
  return out.bytes();
}

std::optional<ObeyedCheck> ObeyedCheck::Decode(std::string_view bytes) {
  service::changes::Unpacker in(bytes);
  if (in.Number() != kVersion) return std::nullopt;
  ObeyedCheck check;
  for (std::string* each :
       {&check.project_, &check.home_, &check.tree_.git_directory, &check.tree_.common}) {
    *each = in.Text();
  }
  check.tree_.elsewhere = in.Number() != 0;
  const std::uint64_t count = in.Number();
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    Obeyed& obeyed = check.before_[in.Text()];
    obeyed.as = static_cast<ObeyedAs>(in.Number());
    obeyed.link = in.Number() != 0;
    obeyed.mode = static_cast<mode_t>(in.Number());
    const bool read = in.Number() != 0;
    std::string content = in.Text();
    if (read) obeyed.content = std::move(content);
    obeyed.stamp = in.Text();
    obeyed.reason = in.Text();
  }
  if (!in.ok() || !in.done()) return std::nullopt;
  return check;
}

void ObeyedCheck::FollowProject() {
  const auto now = ReadLink("/proc/self/fd/" + std::to_string(place_.get()));
  if (!place_ || !now || *now == project_ || ::access(now->c_str(), F_OK) != 0) return;
  const auto moved = [&](const std::string& path) {
    return sandbox::IsWithin(path, project_) ? *now + path.substr(project_.size()) : path;
  };
  ObeyedFiles before;
  for (auto& [path, obeyed] : before_) before.emplace(moved(path), std::move(obeyed));
  before_ = std::move(before);
  tree_.common = moved(tree_.common);
  tree_.git_directory = moved(tree_.git_directory);
  project_ = *now;
}

Result<std::vector<ObeyedFinding>> ObeyedCheck::Finish(const std::string& aside) {
  FollowProject();
  IGLOO_ASSIGN(const ObeyedFiles after,
               LookForObeyed(project_, tree_, FilesLedTo(project_, tree_, home_)));
  const Judge judge(project_, tree_, before_);
  Mending mending(project_, tree_, aside);
  std::vector<ObeyedFinding> findings;
  for (const auto& [path, now] : after) {
    const auto was = before_.find(path);
    if (was != before_.end() && SameForHost(was->second, now)) continue;
    if (now.as == ObeyedAs::kNamed) {
      const What what = was == before_.end() ? What::kMade : What::kChanged;
      findings.push_back({.what = what, .path = path, .detail = now.reason});
      continue;
    }
    Wanted wanted;
    std::string harm = judge.Harm(path, now, wanted);
    if (!harm.empty()) findings.push_back(mending.PutRight(path, now, wanted, std::move(harm)));
  }
  for (const auto& [path, was] : before_) {
    if (was.as != ObeyedAs::kNamed || after.contains(path)) continue;
    findings.push_back({.what = What::kRemoved, .path = path, .detail = was.reason});
  }
  // What git would have run first, and then what lies nearest.
  std::ranges::sort(findings, {}, [](const ObeyedFinding& each) {
    const bool git = each.what == What::kPutRight || each.what == What::kLeft;
    return std::tuple(!git, std::ranges::count(each.path, '/'), each.path);
  });
  return findings;
}

}  // namespace igloo::agent

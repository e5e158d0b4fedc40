#include "prove/prove.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "prove/behind.h"
#include "prove/case.h"
#include "prove/control.h"
#include "prove/policy.h"
#include "prove/scene.h"
#include "session/asio.h"

namespace igloo::prove {
namespace {

namespace asio = boost::asio;

class Proof {
 public:
  Proof(asio::io_context& loop, Options options, Cancellation cancellation)
      : loop_(loop),
        options_(std::move(options)),
        cancellation_(std::move(cancellation)),
        cases_(AllCases()) {
    for (const wall::Wall& each : options_.walls) {
      if (options_.only != nullptr ? &each == options_.only : each.served) walls_.push_back(&each);
    }
    progress_.total = cases_.size() * (walls_.size() + 1);
  }

  asio::awaitable<Result<Report>> Make() {
    Report report{.machine = LookAtMachine()};
    auto controls = co_await TryControls();
    if (!controls) co_return std::unexpected(controls.error());
    for (const wall::Wall* wall : walls_) {
      auto tried = co_await TryWall(*wall, *controls);
      if (!tried) co_return std::unexpected(tried.error());
      report.walls.push_back(*std::move(tried));
    }
    co_return report;
  }

 private:
  Result<std::unique_ptr<backend::Backend>> MakeBackend(const wall::Wall& wall) const {
    return backend::Make(wall, {.programs = options_.programs}, options_.factories);
  }

  Result<Scene> SetScene() const {
    return Scene::Make(options_.scene_parent, options_.attack_program);
  }

  void Say(std::string_view where, std::size_t done) {
    progress_.where = where;
    progress_.done = std::min(progress_.done + done, progress_.total);
    if (options_.progress) options_.progress(progress_);
  }

  asio::awaitable<Result<std::vector<Attempt>>> TryControls() {
    auto scene = SetScene();
    if (!scene) co_return std::unexpected(scene.error());
    const wall::Wall& usual = options_.walls.front();
    auto backend = MakeBackend(usual);
    std::unique_ptr<Behind> behind;
    if (backend) {
      behind =
          std::make_unique<Behind>(loop_, usual.can, **backend, groups_, *scene, cancellation_);
    }
    Controls controls(loop_, *scene, behind.get(), backend ? Error{} : backend.error(),
                      cancellation_);
    std::vector<Attempt> attempts;
    for (const Case& each : cases_) {
      Say("without a wall", 0);
      auto attempt = co_await controls.Try(each);
      if (!attempt) co_return std::unexpected(attempt.error());
      attempts.push_back(*std::move(attempt));
      Say("without a wall", 1);
    }
    co_return attempts;
  }

  /// Why a wall does not promise what a case attacks; empty: it does.
  static std::string WhyNotPromised(const wall::Wall& wall, const Case& each) {
    if (each.needs != nullptr && !(wall.can.*each.needs)) return "this wall does not promise it";
    if (each.owns_project && !OwnsProject(wall.can)) {
      return "igloo shows root no writable project behind this wall";
    }
    if (each.sign == Sign::kLeftBehind && wall.can.own_kernel) {
      return "processes of a virtual machine are not seen from here; they end with it";
    }
    return {};
  }

  asio::awaitable<Result<WallReport>> TryWall(const wall::Wall& wall,
                                              const std::vector<Attempt>& controls) {
    WallReport report{.name = std::string(wall.name),
                      .description = std::string(wall.description),
                      .caveat = std::string(wall.caveat),
                      .own_kernel = wall.can.own_kernel,
                      .wanted = options_.only != nullptr || &wall == &options_.walls.front()};
    Say(wall.name, 0);
    const auto begin = progress_.done;
    auto scene = SetScene();
    if (!scene) co_return std::unexpected(scene.error());
    auto attempts = co_await TryAttacks(wall, *scene);
    if (cancellation_.requested()) co_return Fail(Errc::kFailedPrecondition, "interrupted");
    if (attempts) {
      report.rows = MakeRows(wall, controls, *attempts);
      if (!scene->VictimLives()) {
        report.rows.push_back({.name = "VictimOfTheScene",
                               .promise = "P3",
                               .text = "end a process of the host, by any of these attacks",
                               .control = {Ending::kWon, "it can be ended"},
                               .behind = {Ending::kWon, "it is gone"}});
      }
    } else {
      report.missing = attempts.error();
    }
    progress_.done = begin;
    Say(wall.name, cases_.size());
    co_return report;
  }

  asio::awaitable<Result<std::vector<Attempt>>> TryAttacks(const wall::Wall& wall,
                                                           const Scene& scene) {
    auto backend = MakeBackend(wall);
    if (!backend) co_return std::unexpected(backend.error());
    Behind behind(loop_, wall.can, **backend, groups_, scene, cancellation_);
    Behind::Ended ended = [this, &wall](std::size_t count) { Say(wall.name, count); };
    co_return co_await behind.Attack(cases_, std::move(ended));
  }

  std::vector<Row> MakeRows(const wall::Wall& wall, const std::vector<Attempt>& controls,
                            const std::vector<Attempt>& attempts) const {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      Row row{.name = cases_[i].name,
              .promise = std::string(cases_[i].promise),
              .text = cases_[i].text,
              .control = controls[i],
              .behind = attempts[i]};
      if (std::string why = WhyNotPromised(wall, cases_[i]); !why.empty()) {
        row.promised = false;
        row.behind.said = std::move(why);
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

  asio::io_context& loop_;
  Options options_;
  Cancellation cancellation_;
  std::vector<Case> cases_;
  std::vector<const wall::Wall*> walls_ = {};
  cgroup::Groups groups_{cgroup::Find()};
  Progress progress_ = {};
};

/// Whether everybody can go to a directory.
bool IsOpen(const std::filesystem::path& directory) {
  std::filesystem::path place;
  for (const auto& part : directory) {
    place /= part;
    struct stat info{};
    if (::stat(place.c_str(), &info) != 0 || (info.st_mode & S_IXOTH) == 0) return false;
  }
  return true;
}

}  // namespace

std::string SceneParent() {
  const char* const wish = std::getenv("TMPDIR");
  if (wish == nullptr || *wish != '/') return "/tmp";
  return ::geteuid() != 0 || IsOpen(wish) ? wish : "/tmp";
}

asio::awaitable<Result<Report>> Prove(asio::io_context& loop, Options options,
                                      Cancellation cancellation) {
  Proof proof(loop, std::move(options), std::move(cancellation));
  co_return co_await proof.Make();
}

}  // namespace igloo::prove

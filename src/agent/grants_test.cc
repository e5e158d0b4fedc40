#include "agent/grants.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "agent/grants/grant.h"
#include "agent/sockets/ssh_protocol.h"
#include "base/base64.h"
#include "base/file.h"
#include "base/temp_dir.h"
#include "base/unix_listener.h"
#include "sandbox/entry.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

/// A caller with a home, a project and a desktop of the test's own.
class Granting : public ::testing::Test {
 protected:
  Granting() : place_(fs::canonical(temp_.path()).string()) {
    for (const char* each :
         {"home/.ssh", "p/sub", "own", "state", "run/pulse", "x11", "other", "more/sub"}) {
      fs::create_directories(place_ + "/" + each);
    }
    places_ = {.own = place_ + "/own", .state = place_ + "/state", .working = place_};
    places_.x11 = place_ + "/x11";
    places_.devices = place_ + "/dev";
    places_.system_bus = place_ + "/run/bus";
    places_.nix_store = place_ + "/store";
    places_.nix_socket = place_ + "/run/nix";
    variables_["XDG_RUNTIME_DIR"] = place_ + "/run";
    caller_ = {.owner = {.home = place_ + "/home", .state = place_ + "/state"},
               .lookup = [this](const std::string& name) -> std::optional<std::string> {
                 const auto found = variables_.find(name);
                 return found == variables_.end() ? std::nullopt : std::optional(found->second);
               }};
    box_ = {.project = place_ + "/p",
            .home = place_ + "/home",
            .variables = {{"PATH", "/usr/bin", Origin::kIgloo}}};
  }

  void Write(const std::string& name, std::string_view text) const {
    std::ofstream(place_ + "/" + name) << text;
  }
  void Listen(const std::string& name) {
    fs::permissions(fs::path(place_ + "/" + name).parent_path(), fs::perms::owner_all);
    listeners_.push_back(UnixListener::Open(place_ + "/" + name).value());
  }

  Result<void> Apply(Grant grant) {
    request_.asked.insert(grant);
    return ApplyGrants(request_, places_, caller_, box_);
  }

  /// What of the host the box sees, by where it sees it.
  std::map<std::string, std::string> Shown() const {
    std::map<std::string, std::string> shown;
    for (const Mount& mount : box_.mounts) {
      std::string source;
      if (const auto* tree = std::get_if<sandbox::HostTree>(&mount.entry)) source = tree->source;
      if (const auto* view = std::get_if<sandbox::OverlayTree>(&mount.entry)) source = view->source;
      if (const auto* node = std::get_if<sandbox::HostNode>(&mount.entry)) source = node->source;
      if (!source.empty()) shown[sandbox::TargetOf(mount.entry)] = source;
    }
    return shown;
  }
  std::string ValueOf(std::string_view name) const {
    const auto found = std::ranges::find(box_.variables, name, &Variable::name);
    return found == box_.variables.end() ? "(none)" : found->value;
  }
  std::string FileText(std::string_view path) const {
    for (const Mount& mount : box_.mounts) {
      const auto* file = std::get_if<sandbox::TextFile>(&mount.entry);
      if (file != nullptr && file->path == path) return file->content;
    }
    return "(none)";
  }

  TempDir temp_ = *TempDir::Make(::testing::TempDir());
  std::string place_;
  GrantRequest request_ = {};
  GrantPlaces places_ = {};
  std::map<std::string, std::string> variables_ = {};
  GrantCaller caller_ = {};
  Box box_ = {};
  std::vector<UnixListener> listeners_ = {};
};

TEST_F(Granting, WhatNobodyAskedForIsNotThere) {
  for (const char* each : {"run/wayland-0", "run/pipewire-0", "run/bus", "x11/X0"}) Listen(each);
  variables_["DISPLAY"] = ":0";
  variables_["SSH_AUTH_SOCK"] = place_ + "/run/bus";
  variables_["GH_TOKEN"] = "secret";
  ASSERT_TRUE(ApplyGrants(request_, places_, caller_, box_));
  EXPECT_THAT(Shown(), IsEmpty());
  EXPECT_EQ(box_.variables.size(), 1U);
  EXPECT_THAT(box_.granted, IsEmpty());
}

TEST_F(Granting, WhatIsUsualIsThereWhereTheHostHasItAndSaidWhereNot) {
  Listen("run/pipewire-0");
  request_.usual = {Grant::kAudio, Grant::kX11, Grant::kSystemBus};
  ASSERT_TRUE(ApplyGrants(request_, places_, caller_, box_));
  EXPECT_THAT(Shown(), ElementsAre(Pair(HasSubstr("pipewire-0"), place_ + "/run/pipewire-0")));
  ASSERT_EQ(box_.granted.size(), 1U);
  EXPECT_EQ(box_.granted[0].grant, Grant::kAudio);
  ASSERT_EQ(box_.not_granted.size(), 2U);
  EXPECT_EQ(box_.not_granted[0].grant, Grant::kX11);
  EXPECT_THAT(box_.not_granted[0].why.what, HasSubstr("DISPLAY is not set"));
}

TEST_F(Granting, FilesOfTheUsersOwnAreViews) {
  Write("home/.gitconfig", "x");
  Write("home/.ssh/known_hosts", "x");
  fs::create_directories(place_ + "/dotfiles/gh");
  fs::create_directories(place_ + "/home/.config");
  fs::create_directory_symlink(place_ + "/dotfiles/gh", place_ + "/home/.config/gh");
  request_.usual = {Grant::kGitFiles, Grant::kGitHubFiles, Grant::kSshFiles, Grant::kSshAgent};
  ASSERT_TRUE(ApplyGrants(request_, places_, caller_, box_));
  const std::string home = place_ + "/home";
  EXPECT_THAT(Shown(), UnorderedElementsAre(Pair(home + "/.gitconfig", home + "/.gitconfig"),
                                            Pair(home + "/.config/gh", place_ + "/dotfiles/gh"),
                                            Pair(home + "/.ssh", home + "/.ssh")));
  for (const Mount& each : box_.mounts) {
    const auto* view = std::get_if<sandbox::OverlayTree>(&each.entry);
    const auto* file = std::get_if<sandbox::HostTree>(&each.entry);
    ASSERT_TRUE(view != nullptr || file != nullptr) << "and nothing is made in ~/.ssh";
    EXPECT_EQ(view != nullptr ? view->access : file->access, sandbox::Access::kReadOnly);
  }
}

TEST_F(Granting, ALinkToAllOfTheHomeShowsNothing) {
  fs::remove_all(place_ + "/home/.ssh");
  fs::create_directory_symlink(place_ + "/home", place_ + "/home/.ssh");
  request_.usual = {Grant::kSshFiles};
  ASSERT_TRUE(ApplyGrants(request_, places_, caller_, box_));
  EXPECT_THAT(Shown(), IsEmpty());
}

TEST_F(Granting, WithoutAnAgentSshIsARemarkAndTheBoxGoesOn) {
  ASSERT_TRUE(Apply(Grant::kSshAgent));
  EXPECT_THAT(box_.remarks, Contains(HasSubstr("no ssh-agent runs")));
  EXPECT_THAT(Shown(), IsEmpty());
  variables_["SSH_AUTH_SOCK"] = place_ + "/none";
  ASSERT_TRUE(Apply(Grant::kSshAgent));
  EXPECT_THAT(box_.remarks, Contains(HasSubstr("cannot be used")));
  EXPECT_EQ(ValueOf("SSH_AUTH_SOCK"), "(none)");
}

TEST_F(Granting, OfTheSshAgentTheBoxSeesIgloosSocketAlone) {
  caller_.values = false;  // as --dry-run: nobody is asked
  variables_["SSH_AUTH_SOCK"] = place_ + "/agent";
  Write("home/.ssh/known_hosts", "x");
  Write("home/.ssh/id_rsa", "x");
  ASSERT_TRUE(Apply(Grant::kSshAgent));
  ASSERT_EQ(box_.served.size(), 1U);
  EXPECT_EQ(box_.served[0].upstream, place_ + "/agent");
  const std::map<std::string, std::string> expected = {
      {"/run/igloo/ssh-agent.sock", place_ + "/own/ssh-agent.sock"},
      {place_ + "/home/.ssh/known_hosts", place_ + "/home/.ssh/known_hosts"}};
  EXPECT_EQ(Shown(), expected);
  EXPECT_EQ(ValueOf("SSH_AUTH_SOCK"), "/run/igloo/ssh-agent.sock");
}

TEST_F(Granting, AFilterOfKeysNeedsTheAgent) {
  request_.ssh_key_filters = {"work"};
  const auto applied = ApplyGrants(request_, places_, caller_, box_);
  ASSERT_FALSE(applied);
  EXPECT_THAT(applied.error().hint, HasSubstr("--with-ssh"));
}

TEST_F(Granting, ANamedKeyIsShownWithItsPublicHalfAndNothingBesideIt) {
  for (const char* each : {"id_work", "id_work.pub", "id_other", "config", "known_hosts"}) {
    Write(std::string("home/.ssh/") + each, "x");
  }
  request_.ssh_keys = {"home/.ssh/id_work"};
  ASSERT_TRUE(Apply(Grant::kSshKey));
  const std::string ssh = place_ + "/home/.ssh/";
  const std::map<std::string, std::string> expected = {{ssh + "id_work", ssh + "id_work"},
                                                       {ssh + "id_work.pub", ssh + "id_work.pub"},
                                                       {ssh + "known_hosts", ssh + "known_hosts"}};
  EXPECT_EQ(Shown(), expected);
  EXPECT_THAT(FileText(ssh + "config"), HasSubstr("IdentityFile \"~/.ssh/id_work\""));
  for (const Mount& mount : box_.mounts) {
    const auto* tree = std::get_if<sandbox::HostTree>(&mount.entry);
    if (tree != nullptr) EXPECT_EQ(tree->access, sandbox::Access::kReadOnly);
  }
}

TEST_F(Granting, AKeyThatIsNotThereIsAnErrorInTheOldWords) {
  request_.ssh_keys = {"/none"};
  const auto applied = Apply(Grant::kSshKey);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().what, "--ssh-key path does not exist or is not readable: /none");
}

TEST_F(Granting, TwoKeysOfOneNameAndAConfigurationAreRefused) {
  Write("home/.ssh/id", "x");
  Write("other/id", "x");
  Write("home/.ssh/config", "x");
  request_.ssh_keys = {"home/.ssh/id", "other/id"};
  EXPECT_FALSE(Apply(Grant::kSshKey));
  request_.ssh_keys = {"home/.ssh/config"};
  EXPECT_FALSE(Apply(Grant::kSshKey));
}

TEST_F(Granting, TheGitHubTokenIsPassedAndItIsSaid) {
  variables_["GITHUB_TOKEN"] = "ghp_x";
  ASSERT_TRUE(Apply(Grant::kGitHubToken));
  EXPECT_EQ(ValueOf("GH_TOKEN"), "ghp_x");
  EXPECT_EQ(ValueOf("GITHUB_TOKEN"), "ghp_x");
  EXPECT_THAT(box_.remarks, Contains(HasSubstr("the token itself is inside")));
  EXPECT_THAT(box_.granted[0].shows, Not(HasSubstr("ghp_x")));
}

TEST_F(Granting, OfX11TheBoxSeesItsOwnDisplayWithItsCookieAlone) {
  Listen("x11/X1");
  Listen("x11/X2");
  variables_["DISPLAY"] = ":1.0";
  variables_["XAUTHORITY"] = place_ + "/cookies";
  const auto cookie = [](const std::string& number, const std::string& data) {
    std::string text("\1\0\0\4host", 8);
    for (const std::string& field : {number, std::string("MIT-MAGIC-COOKIE-1"), data}) {
      text += '\0';
      text += static_cast<char>(field.size());
      text += field;
    }
    return text;
  };
  Write("cookies", cookie("1", "first") + cookie("2", "second"));
  ASSERT_TRUE(Apply(Grant::kX11));
  const std::map<std::string, std::string> expected = {
      {"/tmp/.X11-unix/X1", place_ + "/x11/X1"},
      {"/run/igloo/Xauthority", place_ + "/own/Xauthority"}};
  EXPECT_EQ(Shown(), expected);
  EXPECT_EQ(ValueOf("DISPLAY"), ":1");
  const std::string own = ReadFile(place_ + "/own/Xauthority", 4096).value();
  EXPECT_THAT(own, AllOf(HasSubstr("first"), Not(HasSubstr("second")), Not(HasSubstr("host"))));
}

TEST_F(Granting, ADisplayElsewhereOrNoneIsAnError) {
  EXPECT_FALSE(Apply(Grant::kX11));
  for (const char* display : {"elsewhere:0", ":0", ":../x", "x", ":", ":1/2"}) {
    variables_["DISPLAY"] = display;
    EXPECT_FALSE(Apply(Grant::kX11)) << display;
  }
}

TEST_F(Granting, OfWaylandTheBoxSeesOneSocket) {
  Listen("run/wayland-7");
  Listen("run/other");
  EXPECT_FALSE(Apply(Grant::kWayland));
  variables_["WAYLAND_DISPLAY"] = "wayland-7";
  ASSERT_TRUE(Apply(Grant::kWayland));
  const std::map<std::string, std::string> expected = {
      {"/run/igloo/wayland", place_ + "/run/wayland-7"}};
  EXPECT_EQ(Shown(), expected);
  EXPECT_EQ(ValueOf("WAYLAND_DISPLAY"), "/run/igloo/wayland");
}

TEST_F(Granting, OfSoundTheBoxSeesTheTwoSockets) {
  EXPECT_FALSE(Apply(Grant::kAudio));
  Listen("run/pipewire-0");
  Listen("run/pulse/native");
  Listen("run/pipewire-0-manager");
  ASSERT_TRUE(Apply(Grant::kAudio));
  const std::map<std::string, std::string> expected = {
      {"/run/igloo/pipewire-0", place_ + "/run/pipewire-0"},
      {"/run/igloo/pulse", place_ + "/run/pulse/native"}};
  EXPECT_EQ(Shown(), expected);
  EXPECT_EQ(ValueOf("PULSE_SERVER"), "unix:/run/igloo/pulse");
}

TEST_F(Granting, TheSystemBusIsNeverTheSessions) {
  EXPECT_FALSE(Apply(Grant::kSystemBus));
  Listen("run/bus");
  variables_["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/session";
  ASSERT_TRUE(Apply(Grant::kSystemBus));
  const std::map<std::string, std::string> expected = {
      {"/run/igloo/system-bus", place_ + "/run/bus"}};
  EXPECT_EQ(Shown(), expected);
  EXPECT_EQ(ValueOf("DBUS_SESSION_BUS_ADDRESS"), "(none)");
}

TEST_F(Granting, ChromiumHasAProfileForTheProjectInIgloosStateAndNoSandboxOfItsOwn) {
  caller_.find = [](std::string_view name) {
    return std::string(name == "chromium" ? "/usr/bin/env" : "");
  };
  ASSERT_TRUE(Apply(Grant::kBrowser));
  const std::string wrapper = FileText("/run/igloo/bin/chromium");
  EXPECT_THAT(wrapper, AllOf(HasSubstr("exec /usr/bin/env --no-sandbox"), HasSubstr("\"$@\"")));
  const std::string profile = Shown().at(place_ + "/home/.config/chromium");
  EXPECT_THAT(profile, HasSubstr(place_ + "/state/browser/"));
  EXPECT_TRUE(fs::is_directory(profile));
  EXPECT_THAT(ValueOf("PATH"), HasSubstr("/run/igloo/bin:"));
  EXPECT_TRUE(fs::is_empty(place_ + "/p/sub")) << "nothing is made in the project";

  Box other = box_;
  other.project = place_ + "/other";
  other.mounts.clear();
  std::swap(box_, other);
  ASSERT_TRUE(Apply(Grant::kBrowser));
  EXPECT_NE(Shown().at(place_ + "/home/.config/chromium"), profile) << "of another project";
}

TEST_F(Granting, ChromiumThatLiesSomewhereElseIsRefused) {
  caller_.find = [](std::string_view) { return std::string(); };
  EXPECT_FALSE(Apply(Grant::kBrowser));
  Write("chromium", "x");
  caller_.find = [this](std::string_view) { return place_ + "/chromium"; };
  EXPECT_FALSE(Apply(Grant::kBrowser));
}

TEST_F(Granting, WithoutAGpgAgentTheBoxGoesOn) {
  caller_.find = [](std::string_view) { return std::string(); };
  ASSERT_TRUE(Apply(Grant::kGpg));
  EXPECT_THAT(box_.remarks, Contains(HasSubstr("no gpg-agent runs")));
  EXPECT_THAT(Shown(), IsEmpty());
}

/// No machine of the tests has a GPU: devices that every machine has stand in for one.
TEST_F(Granting, AStandInForAGpuIsShownByItsRenderNodesAndNotByWhatSetsScreens) {
  EXPECT_FALSE(Apply(Grant::kGpu));
  fs::create_directories(place_ + "/dev/dri");
  for (const char* each :
       {"dri/renderD128", "dri/card0", "nvidia0", "nvidiactl", "nvidia-modeset"}) {
    fs::create_symlink("/dev/null", place_ + "/dev/" + each);
  }
  Write("dev/dri/renderD129", "no device");
  ASSERT_TRUE(Apply(Grant::kGpu));
  std::set<std::string> targets;
  for (const auto& [target, source] : Shown()) targets.insert(target);
  EXPECT_THAT(targets,
              AllOf(Contains("/dev/dri/renderD128"), Contains("/dev/nvidia0"),
                    Contains("/dev/nvidiactl"), Not(Contains("/dev/dri/card0")),
                    Not(Contains("/dev/nvidia-modeset")), Not(Contains("/dev/dri/renderD129"))));
}

TEST_F(Granting, WithoutNixThereIsNone) {
  const auto applied = Apply(Grant::kNix);
  ASSERT_FALSE(applied);
  EXPECT_THAT(applied.error().what, HasSubstr("finds no Nix with a daemon"));
}

TEST_F(Granting, ADirectoryIsShownAsAViewUnlessItIsToBeWritten) {
  request_.mounts = {place_ + "/other", "more/sub/:rw"};
  ASSERT_TRUE(Apply(Grant::kMount));
  ASSERT_EQ(box_.mounts.size(), 2U);
  const auto* view = std::get_if<sandbox::OverlayTree>(&box_.mounts[0].entry);
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(view->access, sandbox::Access::kReadOnly);
  const auto* tree = std::get_if<sandbox::HostTree>(&box_.mounts[1].entry);
  ASSERT_NE(tree, nullptr);
  EXPECT_EQ(tree->access, sandbox::Access::kReadWrite);
  EXPECT_EQ(tree->target, place_ + "/more/sub");
}

TEST_F(Granting, BehindAWallWithoutViewsADirectoryIsShownItselfAndItIsSaid) {
  caller_.views = false;
  request_.mounts = {place_ + "/other"};
  ASSERT_TRUE(Apply(Grant::kMount));
  const auto* tree = std::get_if<sandbox::HostTree>(&box_.mounts[0].entry);
  ASSERT_NE(tree, nullptr);
  EXPECT_EQ(tree->access, sandbox::Access::kReadOnly);
  EXPECT_THAT(box_.remarks, Contains(HasSubstr("has no views")));
}

TEST_F(Granting, NoDirectoryThatHoldsMoreThanItSays) {
  fs::create_directory_symlink("/etc", place_ + "/link");
  Write("file", "x");
  for (const std::string& bad :
       {std::string("/"), place_, place_ + "/home", place_ + "/p", place_ + "/state",
        place_ + "/state/x", place_ + "/link", place_ + "/file", place_ + "/none", std::string(),
        place_ + "/p/sub", std::string("/proc"), std::string("/dev"), std::string("/run"),
        std::string("home"), std::string("p/..")}) {
    fs::create_directories(place_ + "/state/x");
    request_.mounts = {bad};
    EXPECT_FALSE(Apply(Grant::kMount)) << bad;
    EXPECT_THAT(Shown(), IsEmpty()) << bad;
  }
}

TEST(AllGrants, EachSaysWhatCodeCanDoWithIt) {
  std::set<std::string_view> options;
  for (const GrantRow& row : AllGrants()) {
    EXPECT_TRUE(options.insert(row.option).second);
    EXPECT_EQ(&RowOf(row.grant), &row);
    EXPECT_FALSE(row.risk.empty());
  }
}

}  // namespace
}  // namespace igloo::agent

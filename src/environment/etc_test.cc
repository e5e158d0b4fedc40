#include "environment/etc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"

namespace igloo::environment {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Not;
namespace fs = std::filesystem;

/// A machine's /etc, in a directory of the test's.
class EtcTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, unsigned mode = 0644) const {
    const fs::path file = Path(path);
    fs::create_directories(file.parent_path());
    std::ofstream(file) << path;
    fs::permissions(file, fs::perms(mode));
  }
  void Link(const std::string& path, const std::string& target) const {
    fs::create_directories(fs::path(Path(path)).parent_path());
    fs::create_symlink(target, Path(path));
  }
  std::string Path(const std::string& path) const { return directory_.path() + "/" + path; }
  std::vector<std::string> Shown(Reader reader = Reader::kCaller) const {
    std::vector<std::string> paths;
    for (const EtcPart& part : ReadEtc(directory_.path(), reader)) {
      paths.push_back(part.points_to.empty() ? part.path : part.path + " -> " + part.points_to);
    }
    return paths;
  }

 private:
  TempDir directory_ = TempDir::Make(::testing::TempDir()).value();
};

/// What nobody behind a wall needs to know of a host.
constexpr const char* kPrivate[] = {"passwd",
                                    "passwd-",
                                    "shadow",
                                    "shadow-",
                                    "group",
                                    "gshadow",
                                    "sudoers",
                                    "sudoers.d/admin",
                                    "subuid",
                                    "subgid",
                                    "login.defs",
                                    "hosts",
                                    "hostname",
                                    "hosts.allow",
                                    "host.conf",
                                    "resolv.conf",
                                    "networks",
                                    "machine-id",
                                    "ssh/sshd_config",
                                    "ssh/ssh_host_ed25519_key",
                                    "ssl/private/ssl-cert.key",
                                    "pki/tls/private/localhost.key",
                                    "pki/nssdb/key4.db",
                                    "krb5.keytab",
                                    "krb5.conf",
                                    "fstab",
                                    "crypttab",
                                    "exports",
                                    "services",
                                    "init.d/cron",
                                    "systemd/system/own.service",
                                    "cron.d/backup",
                                    "crontab",
                                    "pam.d/login",
                                    "security/limits.conf",
                                    "environment",
                                    "profile.d/own.sh",
                                    "gitconfig",
                                    "npmrc",
                                    "pip.conf",
                                    "wgetrc",
                                    "apt/auth.conf",
                                    "docker/daemon.json",
                                    "mysql/debian.cnf",
                                    "postgresql/15/main/pg_hba.conf",
                                    "odbc.ini",
                                    "jupyter/config.py",
                                    "wireguard/wg0.conf",
                                    "NetworkManager/system-connections/home",
                                    "wpa_supplicant/own.conf",
                                    "ldap/ldap.conf",
                                    "samba/smb.conf",
                                    "timezone",
                                    "localtime",
                                    "maven/settings.xml",
                                    "aliases",
                                    "mailname",
                                    "letsencrypt/live/key.pem"};

TEST_F(EtcTest, NothingAboutUsersHostsKeysOrServicesIsShown) {
  for (const char* path : kPrivate) Write(path);
  EXPECT_THAT(Shown(), IsEmpty());
  for (const char* path : kPrivate) EXPECT_EQ(WhyInEtc(std::string("/etc/") + path), "") << path;
  // Control: it is looked at.
  Write("matplotlibrc");
  EXPECT_THAT(Shown(), ElementsAre("matplotlibrc"));
}

TEST_F(EtcTest, EveryRowIsFoundAndSaysWhy) {
  for (const EtcRow& row : EtcRows()) {
    std::string path(row.pattern);
    if (const std::size_t star = path.find('*'); star != path.npos) path.replace(star, 1, "12");
    Write(path + "/below");
    EXPECT_THAT(Shown(), Contains(path));
    EXPECT_EQ(WhyInEtc("/etc/" + path), row.reason);
    EXPECT_EQ(WhyInEtc("/etc/" + path + "/below"), row.reason);
    EXPECT_FALSE(row.reason.empty()) << path;
    fs::remove_all(Path(path));
  }
}

TEST_F(EtcTest, ADirectoryIsShownAsAWhole) {
  Write("fonts/conf.d/10-own.conf");
  Write("fonts/fonts.conf");
  EXPECT_THAT(Shown(), ElementsAre("fonts"));
  EXPECT_THAT(Shown(Reader::kNobody), ElementsAre("fonts"));
}

TEST_F(EtcTest, WhatIsNotForEverybodyIsLeftOutAndTheRestIsThere) {
  Write("fonts/conf.d/10-own.conf");
  Write("fonts/more/1", 0600);
  Write("fonts/more/2");
  Write("fonts/more/3");
  Write("fonts/more/secret", 0640);
  fs::create_directory(Path("fonts/closed"));
  Write("fonts/closed/file");
  fs::permissions(Path("fonts/closed"), fs::perms(0700));
  ASSERT_EQ(::mkfifo(Path("fonts/pipe").c_str(), 0666), 0);
  EXPECT_THAT(Shown(), ElementsAre("fonts/conf.d", "fonts/more/2", "fonts/more/3"));
  Write("matplotlibrc", 0600);
  EXPECT_THAT(Shown(), Not(Contains("matplotlibrc")));
  fs::permissions(Path("matplotlibrc"), fs::perms(0604));
  EXPECT_THAT(Shown(), Contains("matplotlibrc")) << "control";
}

/// The kernel itself refuses the rest; a file alone would be copied, and with it its content.
TEST_F(EtcTest, WithNobodysRightsOnlyFilesOnTheirOwnAreLookedAt) {
  Write("fonts/fine");
  Write("fonts/secret", 0600);
  Write("matplotlibrc", 0640);
  fs::create_directory(Path("xml"));
  fs::permissions(Path("xml"), fs::perms(0700));
  EXPECT_THAT(Shown(Reader::kNobody), ElementsAre("fonts"));
}

TEST_F(EtcTest, ALinkStaysOneAndIsNeverFollowed) {
  Write("shadow", 0600);
  Write("elsewhere/file");
  Link("matplotlibrc", "shadow");
  Link("fonts", "elsewhere");
  Link("python3.12", "/root");
  EXPECT_THAT(Shown(),
              ElementsAre("fonts -> elsewhere", "matplotlibrc -> shadow", "python3.12 -> /root"));
  std::vector<sandbox::Entry> contents;
  AddEtc("/etc", ReadEtc(Path(""), Reader::kCaller), contents);
  for (const sandbox::Entry& entry : contents) {
    EXPECT_NE(std::get_if<sandbox::Link>(&entry), nullptr);
  }
}

TEST_F(EtcTest, ALinkOnTheWayShowsNothing) {
  Write("private/certs/key.pem");
  Link("ssl", "private");
  EXPECT_THAT(Shown(), IsEmpty());
}

TEST_F(EtcTest, ALinkInAWholeDirectoryChangesNothing) {
  Write("fonts/fonts.conf");
  Link("fonts/conf.d/10-own.conf", "/usr/share/fontconfig/conf.avail/10-own.conf");
  EXPECT_THAT(Shown(), ElementsAre("fonts"));
}

TEST_F(EtcTest, NamesThatAreNoTextAreLeftOut) {
  Write("perl/a\nb");
  Write("perl/fine");
  Write("perl/secret", 0600);
  EXPECT_THAT(Shown(), ElementsAre("perl/fine"));
}

TEST_F(EtcTest, TheSourceMayLieElsewhere) {
  std::vector<sandbox::Entry> contents;
  AddEtc("/snapshot/etc", {{.path = "fonts", .directory = true}, {.path = "magic"}}, contents);
  ASSERT_EQ(contents.size(), 2U);
  const auto& tree = std::get<sandbox::HostTree>(contents[0]);
  EXPECT_EQ(tree.source, "/snapshot/etc/fonts");
  EXPECT_EQ(tree.target, "/etc/fonts");
  EXPECT_EQ(tree.within, "/snapshot/etc") << "a part of the one overlay of all directories";
  EXPECT_EQ(tree.access, sandbox::Access::kReadOnly);
  EXPECT_EQ(std::get<sandbox::HostTree>(contents[1]).within, "") << "a file is copied";
}

TEST_F(EtcTest, WithoutADirectoryThereIsNothing) { EXPECT_THAT(ReadEtc("/nowhere"), IsEmpty()); }

}  // namespace
}  // namespace igloo::environment

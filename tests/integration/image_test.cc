// Environments made of images, without a container engine: what is inside, and where images live.

#include <gmock/gmock.h>

#include <filesystem>

#include "support/configured.h"
#include "support/host.h"
#include "support/mcp.h"
#include "support/oci.h"
#include "support/running.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
namespace fs = std::filesystem;

class Images : public Configured {
 protected:
  /// A layout with busybox, and one more layer.
  LayoutWriter MakeLayout(const std::string& name, const TarWriter& more = {}) const {
    LayoutWriter layout(Path(name));
    layout.AddLayer(Gzip(BusyboxLayer()))
        .AddLayer(Gzip(more.Finish()))
        .SetConfig(R"({"Env":["PATH=/bin","FOO=bar","HOME=/root"],"User":"0","WorkingDir":"/etc"})")
        .Finish();
    return layout;
  }
  void Configure(const std::string& image) const {
    Write(kUsual, "[environments.bb]\nimage = \"" + image + "\"\n");
  }
  Outcome Code(const std::string& code) const { return Run({"run", "--env", "bb", code}); }
  std::vector<std::string> Stored() const {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& each : fs::directory_iterator(Path(".local/share/igloo/images"), error)) {
      const std::string name = each.path().filename();
      if (name != "lock" && name != "names.json") names.push_back(name);
    }
    return names;
  }
};

TEST_F(Images, CodeRunsWithTheImagesFilesAndNoneOfTheHosts) {
  MakeLayout("layout", TarWriter()
                           .File("etc/own", "text\n")
                           .File("usr/share/x", "")
                           .Symlink("outside", Path("secret")));
  Write("secret", "nobody's business");
  Configure("oci:../../layout");
  const Outcome run = Code(
      "ls /; ls /usr; cat /etc/own; echo $FOO $HOME $PWD; id -u; cat /outside; touch /usr/new; "
      "test -e /usr/bin/python3 || echo no python; grep -c . /etc/passwd");
  EXPECT_EQ(run.out,
            "bin\ndev\netc\noutside\nproc\nrun\ntmp\nusr\nvar\nworkspace\nshare\ntext\n"
            "bar /workspace /workspace\n1000\nno python\n3\n");
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("can't open '/outside'"), HasSubstr("Read-only file system")));
  // The same digest is the same image.
  ASSERT_EQ(Stored().size(), 1U);
  EXPECT_THAT(Stored()[0], StartsWith("sha256-"));
  EXPECT_THAT(Run({"env", "list"}).out, HasSubstr("bb             image"));
  EXPECT_THAT(Run({"env", "show", "bb"}).out, HasSubstr("code         /bin/sh main.sh"));
}

TEST_F(Images, NeitherListingNorServingUnpacks) {
  MakeLayout("layout");
  Configure("oci:../../layout:latest");
  const Outcome list = Run({"env", "list"});
  EXPECT_THAT(list.out, AllOf(HasSubstr("is not unpacked yet"),
                              HasSubstr("fix: igloo env pull oci:" + Path("layout:latest"))));
  McpClient client({.env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
  client.Initialize();
  EXPECT_THAT(TextOf(client.Run("bb", "echo hi")), HasSubstr("not unpacked yet"));
  EXPECT_FALSE(fs::exists(Path(".local/share/igloo")));
  // A server notices what becomes of it.
  const Outcome pull = Run({"env", "pull", "oci:" + Path("layout:latest"), "--name", "bb"});
  EXPECT_EQ(pull.status, 0) << pull.err;
  EXPECT_EQ(pull.out, "[environments.bb]\nimage = \"oci:" + Path("layout:latest") + "\"\n");
  std::string text;
  EXPECT_TRUE(WaitFor([&] {
    text = TextOf(client.Run("bb", "echo hi"));
    return text.starts_with("hi");
  })) << text;
}

TEST_F(Images, AChangedLayoutIsUnpackedAgain) {
  MakeLayout("layout", TarWriter().File("etc/version", "one"));
  Configure("oci:../../layout");
  EXPECT_EQ(Code("cat /etc/version").out, "one");
  MakeLayout("layout", TarWriter().File("etc/version", "two"));
  EXPECT_EQ(Code("cat /etc/version").out, "two");
  EXPECT_EQ(Stored().size(), 2U);
  // What was unpacked needs its source no more.
  fs::remove_all(Path("layout"));
  EXPECT_EQ(Code("cat /etc/version").out, "two");
}

TEST_F(Images, ARootDirectoryIsAnImageToo) {
  fs::create_directories(Path("rootfs/bin"));
  fs::create_directories(Path("rootfs/etc"));
  fs::copy_file("/bin/busybox", Path("rootfs/bin/busybox"));
  fs::create_symlink("/bin/busybox", Path("rootfs/bin/sh"));
  fs::create_symlink(Path("secret"), Path("rootfs/etc/leak"));
  fs::create_symlink("/", Path("rootfs/everything"));
  Write("secret", "nobody's business");
  Configure("../../rootfs");
  const Outcome run =
      Code("busybox cat /etc/leak; busybox ls /everything; busybox ls /everything/home");
  EXPECT_THAT(run.out, AllOf(HasSubstr("workspace"), Not(HasSubstr("business"))));
  EXPECT_THAT(run.err, AllOf(HasSubstr("/etc/leak"), HasSubstr("/everything/home")));
  EXPECT_FALSE(fs::exists(Path(".local")));
  Configure("../../layout");
  EXPECT_THAT(Code("true").err, HasSubstr("cannot open the image at"));
  MakeLayout("layout");
  EXPECT_THAT(Code("true").err, HasSubstr("write it as oci:" + Path("layout")));
}

/// What is shown as an image is shown as a whole.
TEST_F(Images, NeitherTheRootNorAHomeIsAnImage) {
  for (const char* root : {"/", "~/", "../..", "/usr/.."}) {
    Configure(root);
    const Outcome run = Code("echo ran");
    EXPECT_EQ(run.status, 125) << root;
    EXPECT_EQ(run.out, "") << root;
    EXPECT_THAT(run.err, AllOf(HasSubstr("is no image"), HasSubstr("/srv/rootfs"))) << root;
  }
}

TEST_F(Images, AnArchiveOfALayoutIsUnpacked) {
  const LayoutWriter layout = MakeLayout("layout");
  const Outcome tar =
      RunProgram({.program = "/usr/bin/tar",
                  .args = {"-cf", Path("image.tar"), "-C", layout.directory(), "."}});
  ASSERT_EQ(tar.status, 0) << tar.err;
  Configure("oci-archive:../../image.tar");
  EXPECT_EQ(Code("echo $FOO").out, "bar\n");
  EXPECT_EQ(Stored().size(), 1U);
}

TEST_F(Images, WhatIsElsewhereIsFetchedByCommandOnly) {
  Configure("registry.example/tools:1");
  const std::string fix = "igloo env pull registry.example/tools:1";
  EXPECT_THAT(Code("true").err, AllOf(HasSubstr("is not pulled yet"), HasSubstr(fix)));
  EXPECT_THAT(Run({"env", "list"}).out, HasSubstr("fix: " + fix));
  EXPECT_FALSE(fs::exists(Path(".local")));
  // Without skopeo there is something to install.
  const std::vector<std::string> nowhere = {"PATH=" + Path("nothing")};
  const std::vector<std::string> pull = {"env", "pull", "registry.example/tools:1"};
  EXPECT_THAT(Run(pull, nowhere).err,
              AllOf(HasSubstr("needs skopeo"), HasSubstr("sudo apt install skopeo")));
  EXPECT_THAT(Stored(), IsEmpty());
  // One that copies a layout which is there, and writes down how it was called.
  MakeLayout("remote");
  fs::create_directories(Path("bin"));
  Write("bin/skopeo", "#!/bin/sh\nprintf '%s\\n' \"$@\" >" + Path("called") +
                          "\nto=${4#oci:}\ncp -r " + Path("remote") + " \"${to%:latest}\"\n");
  fs::permissions(Path("bin/skopeo"), fs::perms(0755));
  const std::vector<std::string> here = {"PATH=" + Path("bin") + ":/usr/bin:/bin"};
  const Outcome pulled = Run(pull, here);
  EXPECT_EQ(pulled.status, 0) << pulled.err;
  EXPECT_THAT(Read("called"), StartsWith("copy\n--\ndocker://registry.example/tools:1\noci:"));
  EXPECT_EQ(Code("echo $FOO").out, "bar\n");
  ASSERT_EQ(Stored().size(), 1U);  // the layout is gone
  // Names that skopeo could take for something else never get to it.
  EXPECT_THAT(Run({"env", "pull", "a b"}, here).err, HasSubstr("names no image"));
  EXPECT_THAT(Run({"env", "pull", "oci:" + Path("none")}, here).err, HasSubstr("cannot open"));
}

TEST_F(Images, ManyAtOnceUnpackOnce) {
  MakeLayout("layout");
  Configure("oci:../../layout");
  std::vector<std::unique_ptr<Running>> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(
        std::make_unique<Running>(Invocation{.program = BinDirectory() + "/igloo",
                                             .args = {"run", "--env", "bb", "echo $FOO"},
                                             .env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}}));
  }
  for (auto& each : all) EXPECT_EQ(each->Finish().out, "bar\n");
  EXPECT_EQ(Stored().size(), 1U);
}

TEST_F(Images, AFailedImageLeavesNothing) {
  LayoutWriter layout(Path("layout"));
  layout.AddLayer(Gzip(TarWriter().File("fine", "x").File("../bad", "x").Finish())).Finish();
  Configure("oci:../../layout");
  EXPECT_THAT(Code("true").err, HasSubstr("a name with '..' in it"));
  EXPECT_THAT(Stored(), IsEmpty());
}

TEST_F(Images, TheConfigurationChoosesAnotherInterpreter) {
  MakeLayout("layout");
  Write(kUsual,
        "[environments.bb]\nimage = \"oci:../../layout\"\ninterpreter = \"busybox sh -c\"\n");
  EXPECT_EQ(Code("echo $FOO").out, "bar\n");
}

TEST_F(Images, CollectingTakesAwayWhatNobodyNamesOrUses) {
  MakeLayout("layout");
  Configure("oci:../../layout");
  Running run({.program = BinDirectory() + "/igloo",
               .args = {"run", "--env", "bb", "echo ready; exec cat"},
               .env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
  ASSERT_TRUE(run.WaitForOutput("ready\n"));
  EXPECT_EQ(Run({"env", "gc"}).out, "nothing to remove\n");
  Write(kUsual, "");
  EXPECT_EQ(Run({"env", "gc"}).out, "nothing to remove\n");
  EXPECT_EQ(run.Finish().status, 0);
  EXPECT_EQ(Stored().size(), 1U);
  EXPECT_THAT(Run({"env", "gc"}).out, StartsWith("removed: the image sha256:"));
  EXPECT_THAT(Stored(), IsEmpty());
  // What was pulled by its name goes by its name.
  ASSERT_EQ(Run({"env", "pull", "oci:" + Path("layout")}).status, 0);
  EXPECT_EQ(Run({"env", "remove", "oci:" + Path("layout")}).status, 0);
  EXPECT_THAT(Stored(), IsEmpty());
  EXPECT_THAT(Run({"env", "remove", "oci:" + Path("layout")}).err, HasSubstr("is none that"));
}

/// A gateway's shape: `before` starts a server that writes beside its program; the code talks to
/// it.
TEST_F(Images, ASandboxRunsFromItsImageWithItsBeforeStep) {
  MakeLayout("gateway", TarWriter()
                            .File("srv/conf/default.html", "not configured\n")
                            .File("bin/docker-start",
                                  "#!/bin/sh\nmkdir -p /srv/logs\necho $$ >/srv/logs/pid\n"
                                  "exec httpd -f -p 127.0.0.1:9080 -h /srv/conf\n",
                                  0755));
  Write(".config/sandbox-mcp/sandboxes/gateway/config.json", R"({
    "id": "gateway", "image": "oci:../../../../gateway", "entrypoint": "main.sh",
    "before": ["docker-start"],
    "command": ["sh", "-c", "mv routes.html /srv/conf/ && while ! wget -q -O /dev/null http://127.0.0.1:9080/routes.html 2>/dev/null; do sleep 0.1; done; exec sh main.sh"],
    "parameters": {"files": [{"name": "routes.html", "description": "The routes"}]},
    "security": {"network": "none"}})");
  const std::vector<std::string> env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")};
  const JsonObject call = {
      {"main_sh",
       "wget -q -O - http://127.0.0.1:9080/routes.html; test -s /srv/logs/pid && echo logged"},
      {"routes_html", "route one\n"}};
  McpClient client({.program = "sandbox-mcp", .args = {"--stdio"}, .env = env});
  client.Initialize("2025-03-26");
  EXPECT_THAT(TextOf(client.Call("gateway", call)), HasSubstr("not unpacked yet"));
  const Outcome build =
      RunProgram({.program = BinDirectory() + "/sandbox-mcp", .args = {"--build"}, .env = env});
  EXPECT_EQ(build.status, 0) << build.err;
  EXPECT_THAT(build.err, HasSubstr("'gateway': its image is unpacked"));
  std::string text;
  EXPECT_TRUE(WaitFor([&] {
    text = TextOf(client.Call("gateway", call));
    return !text.contains("not unpacked");
  }));
  EXPECT_EQ(text, "route one\nlogged\n");
  // What a call wrote is gone with it.
  EXPECT_EQ(TextOf(client.Call("gateway", {{"main_sh", "ls /srv/conf"}, {"routes_html", "x"}})),
            "default.html\nroutes.html\n");
  const auto root = Path(".local/share/igloo/images/" + Stored().at(0) + "/rootfs");
  EXPECT_FALSE(fs::exists(root + "/srv/logs"));
  EXPECT_FALSE(fs::exists(root + "/srv/conf/routes.html"));
}

/// What a preset's image is pulled from: a registry is not to be had in a test.
class ImagePresets : public Images {
 protected:
  void SetUp() override {
    Images::SetUp();
    MakeLayout("gateway", TarWriter()
                              .File("usr/local/apisix/conf/apisix.yaml", "none\n#END\n")
                              .File("bin/docker-start",
                                    "#!/bin/sh\nexec httpd -f -p 127.0.0.1:9080 -h "
                                    "/usr/local/apisix/conf\n",
                                    0755));
    Write("bin/skopeo", "#!/bin/sh\n[ \"$3\" = docker://" + std::string(kImage) +
                            " ] || exit 1\nto=${4#oci:}\nexec cp -r '" + Path("gateway") +
                            "/.' \"${to%:latest}\"\n");
    fs::permissions(Path("bin/skopeo"), fs::perms::owner_all);
  }
  Outcome Pull() const {
    return RunProgram({.program = BinDirectory() + "/igloo",
                       .args = {"env", "pull", kImage},
                       .env = {"PATH=" + Path("bin") + ":/usr/bin:/bin", "HOME=" + Path("")}});
  }
  static constexpr const char* kImage = "docker.io/apache/apisix:3.9.0-debian";
  const JsonObject call_ = {{"main_sh", "wget -Y off -q -O - http://127.0.0.1:9080/apisix.yaml"},
                            {"apisix_yaml", "routes: []\n#END\n"}};
};

TEST_F(ImagePresets, SayWhatIsToBePulled) {
  EXPECT_THAT(Run({"env", "list"}).out,
              HasSubstr("fix: igloo env pull docker.io/apache/apisix:3.9.0-debian"));
  const Outcome run = Run({"run", "--env", "apisix", "true"});
  EXPECT_EQ(run.status, 125);
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("is not pulled yet"), HasSubstr("igloo env pull docker.io")));
  McpClient client({.program = "sandbox-mcp",
                    .args = {"--stdio"},
                    .env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
  client.Initialize("2025-03-26");
  EXPECT_THAT(TextOf(client.Call("apisix", call_)),
              HasSubstr("igloo env pull docker.io/apache/apisix"));
}

TEST_F(ImagePresets, AreUsedByNameAndByPreset) {
  const Outcome pull = Pull();
  ASSERT_EQ(pull.status, 0) << pull.err;
  constexpr const char* kConf = "cat /usr/local/apisix/conf/apisix.yaml";
  EXPECT_EQ(Run({"run", "--env", "apisix", kConf}).out, "none\n#END\n");
  Write(kUsual,
        "[environments.gate]\npreset = 'apisix'\nmemory_mb = 300\n[environments.apisix]\n"
        "description = 'mine'\n");
  EXPECT_EQ(Run({"run", "--env", "gate", kConf}).out, "none\n#END\n");
  EXPECT_THAT(Run({"env", "show", "gate"}).out, HasSubstr("300 MB"));
  EXPECT_THAT(Run({"env", "list"}).out, AllOf(HasSubstr("mine"), Not(HasSubstr("not pulled"))));
  // What a preset needs stays, also when nobody has configured it.
  Write(kUsual, "");
  Run({"env", "gc"});
  EXPECT_EQ(Run({"run", "--env", "apisix", kConf}).out, "none\n#END\n");
}

TEST_F(ImagePresets, AServerNoticesThatItsImageWasPulled) {
  McpClient client({.env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
  client.Initialize();
  EXPECT_THAT(TextOf(client.Run("apisix", "echo hi")), HasSubstr("not pulled yet"));
  ASSERT_EQ(Pull().status, 0);
  std::string text;
  EXPECT_TRUE(WaitFor([&] {
    text = TextOf(client.Run("apisix", "echo hi"));
    return text.starts_with("hi");
  })) << text;
}

TEST_F(ImagePresets, SandboxMcpRunsTheGatewayWithItsRoutes) {
  const Outcome pull = Pull();
  ASSERT_EQ(pull.status, 0) << pull.err;
  McpClient client({.program = "sandbox-mcp",
                    .args = {"--stdio"},
                    .env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
  client.Initialize("2025-03-26");
  EXPECT_EQ(TextOf(client.Call("apisix", call_)), "routes: []\n#END\n");
}

/// SECURITY: which directories of the host are shown as images says the configuration alone.
TEST_F(ImagePresets, AnArtifactNamesOnlyImagesOfARegistry) {
  const auto metadata = [&](const std::string& image) {
    Write("artifacts/own/metadata.json",
          R"({"schema": 1, "name": "own", "image": ")" + image + R"("})");
  };
  const auto run = [&] {
    return RunProgram({.program = BinDirectory() + "/igloo",
                       .args = {"run", "--env", "own", "cat /usr/local/apisix/conf/apisix.yaml"},
                       .env = {"PATH=/usr/bin:/bin", "HOME=" + Path(""),
                               "NIX_SANDBOX_DIR=" + Path("artifacts")}});
  };
  ASSERT_EQ(Pull().status, 0);
  metadata(kImage);
  EXPECT_EQ(run().out, "none\n#END\n") << "the control: an image of a registry is used";
  for (const std::string& image :
       {Path("gateway"), std::string("dir:/etc"), "oci:" + Path("gateway")}) {
    metadata(image);
    const Outcome refused = run();
    EXPECT_EQ(refused.out, "") << image;
    EXPECT_THAT(refused.err, HasSubstr("is no image of a registry")) << image;
  }
}

}  // namespace
}  // namespace igloo::testing

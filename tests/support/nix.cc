#include "support/nix.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <memory>

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;

/// What mkEnvironment uses of nixpkgs, made of busybox.
constexpr std::string_view kPackages = R"nix(
{ system }:
let
  busybox = "${./.}/busybox";
  make = attributes: script: derivation ({
    inherit system;
    builder = busybox;
    args = [ "sh" "-c" "export PATH=${tools}/bin; ${script}\nexit 0" ];
  } // attributes);
  tools = derivation {
    name = "tools";
    inherit system;
    builder = busybox;
    args = [ "sh" "-c" ''
      ${busybox} mkdir -p $out/bin
      ${busybox} cp ${busybox} $out/bin/busybox
      for each in $(${busybox} --list); do
        [ $each = busybox ] || ${busybox} ln -s busybox $out/bin/$each
      done
      exit 0
    '' ];
  };
in
rec {
  inherit tools;
  runtimeShell = "${tools}/bin/sh";
  coreutils = tools;
  bash = program "bash" "exec sh \"$@\"";
  program = name: script: make { inherit name script; passAsFile = [ "script" ]; } ''
    mkdir -p $out/bin
    { echo "#!${tools}/bin/sh"; cat $scriptPath; } > $out/bin/${name}
    chmod 755 $out/bin/${name}
  '';
  runCommand = name: attributes: script:
    make ((removeAttrs attributes [ "passthru" "meta" ]) // { inherit name; }) script
    // (attributes.passthru or { });
  buildEnv = { name, paths, ... }: make { inherit name paths; } ''
    mkdir -p $out/bin
    for path in $paths; do
      for each in $path/bin/*; do
        [ -e $out/bin/''${each##*/} ] || ln -s $each $out/bin/
      done
    done
  '';
  closureInfo = { rootPaths }: make
    {
      name = "closure";
      exportReferencesGraph = builtins.concatLists
        (builtins.genList (i: [ "graph${toString i}" (builtins.elemAt rootPaths i) ]) (builtins.length rootPaths));
    } ''
    mkdir -p $out
    cat graph* | grep ^/nix/store/ | sort -u > $out/store-paths
  '';
  lib = {
    getExe = package: "${package}/bin/${package.name}";
    escapeShellArg = text: "'${text}'";
    platforms.linux = [ system ];
  };
}
)nix";

struct Shared {
  TempDir directory = TempDir::Make(fs::canonical(TempParent()).string()).value();
};
std::unique_ptr<Shared>& SharedStore() {
  static std::unique_ptr<Shared> shared;
  return shared;
}

/// What Nix builds cannot be written to, and so not be removed.
void MakeRemovable(const std::string& directory) {
  std::error_code ignored;
  for (fs::recursive_directory_iterator at(directory, ignored), end; !ignored && at != end;) {
    std::error_code each;
    if (at->is_directory(each) && !at->is_symlink(each)) {
      fs::permissions(at->path(), fs::perms::owner_all, fs::perm_options::add, each);
    }
    at.increment(ignored);
  }
}

void WriteText(const std::string& path, std::string_view text) {
  fs::create_directories(fs::path(path).parent_path());
  EXPECT_TRUE(ReplaceFile(path, text));
  fs::permissions(path, fs::perms(0644));
}

}  // namespace

const std::string& WithNix::store() {
  static std::string store;
  store = SharedStore()->directory.path() + "/store";
  return store;
}

std::string WithNix::System() {
  utsname machine{};
  (void)::uname(&machine);
  return std::string(machine.machine) + "-linux";
}

void WithNix::SetUpTestSuite() {
  SharedStore() = std::make_unique<Shared>();
  const std::string& directory = SharedStore()->directory.path();
  fs::permissions(directory, fs::perms(0755));
  fs::create_directories(store());
  const std::string packages = directory + "/nixpkgs";
  WriteText(packages + "/default.nix", kPackages);
  WriteText(packages + "/flake.nix", "{ outputs = { self }: { legacyPackages.\"" + System() +
                                         "\" = import ./default.nix { system = \"" + System() +
                                         "\"; }; }; }\n");
  fs::copy_file("/bin/busybox", packages + "/busybox");
  WriteText(directory + "/conf/nix.conf", "substituters =\nflake-registry =\n");
}

void WithNix::TearDownTestSuite() {
  MakeRemovable(store());
  SharedStore().reset();
}

void WithNix::SetUp() {
  Configured::SetUp();
  ASSERT_EQ(::access("/usr/bin/nix", X_OK), 0) << "nix-bin is missing; packages.txt lists it";
  Configure("");
}

void WithNix::TearDown() { MakeRemovable(Path("")); }

void WithNix::WriteFlake(const std::string& name, std::string_view outputs) const {
  Write(
      name + "/flake.nix",
      "{\n  inputs.nixpkgs.url = \"path:" + SharedStore()->directory.path() +
          "/nixpkgs\";\n  outputs = { self, nixpkgs }:\n    let\n      system = \"" + System() +
          "\";\n      pkgs = nixpkgs.legacyPackages.${system};\n      inherit (pkgs) program;\n    "
          "in\n" +
          std::string(outputs) + ";\n}\n");
}

void WithNix::Configure(std::string_view more) const {
  Write(kUsual, "[nix]\nstore = \"" + store() +
                    "\"\nnixpkgs = \"path:" + SharedStore()->directory.path() + "/nixpkgs\"\n" +
                    (program_.empty() ? "" : "program = \"" + program_ + "\"\n") +
                    std::string(more));
}

std::vector<std::string> WithNix::Variables() const {
  return {"NIX_CONF_DIR=" + SharedStore()->directory.path() + "/conf", "PATH=/usr/bin:/bin",
          "HOME=" + Path("").substr(0, Path("").size() - 1)};
}

Outcome WithNix::Igloo(std::vector<std::string> args, std::vector<std::string> more) const {
  for (const std::string& each : Variables()) more.push_back(each);
  return RunProgram(
      {.program = BinDirectory() + "/igloo", .args = std::move(args), .env = std::move(more)});
}

Running WithNix::Start(std::vector<std::string> args) const {
  return Running(
      {.program = BinDirectory() + "/igloo", .args = std::move(args), .env = Variables()});
}

std::string WithNix::Listed(const std::string& name, std::vector<std::string> more) const {
  std::vector<std::string> args = {"env", "list", "--json"};
  args.insert(args.end(), more.begin(), more.end());
  const Outcome outcome = Igloo(std::move(args));
  boost::system::error_code error;
  const auto document = boost::json::parse(outcome.out, error);
  if (error) return "no JSON: " + outcome.out + outcome.err;
  for (const auto& each : document.at("environments").as_array()) {
    if (each.at("name").as_string() == name) return boost::json::serialize(each);
  }
  return {};
}

void WithNix::BeforeNix(const std::string& script) {
  program_ = Path("bin/nix");
  for (const char* name : {"nix", "nix-store"}) {
    const std::string path =
        Write(fmt::format("bin/{}", name),
              fmt::format("#!/bin/sh\n{}\nexec /usr/bin/{} \"$@\"\n", script, name));
    fs::permissions(path, fs::perms(0755));
  }
}

void WithNix::CountCalls() {
  BeforeNix("echo \"$@\" >> " + Path("calls"));
  Write("calls", "");
}

int WithNix::Calls() const {
  const std::string calls = Read("calls");
  return static_cast<int>(std::ranges::count(calls, '\n'));
}

}  // namespace igloo::testing

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/configured.h"
#include "support/running.h"

namespace igloo::testing {

/// Real Nix without a network, over a package set of one program: a static busybox. The store is
/// one for all tests of a suite; every test has a home of its own, and flakes in it.
class WithNix : public Configured {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;
  void TearDown() override;

  /// The flake `name` in the test's home: `outputs` is Nix, with `pkgs`, `system` and
  /// `program NAME SCRIPT` (a package with one program) in scope.
  void WriteFlake(const std::string& name, std::string_view outputs) const;
  /// The file that igloo reads, with what Nix needs and then `more`.
  void Configure(std::string_view more) const;
  std::string Flake(const std::string& name) const { return "path:" + Path(name); }

  std::vector<std::string> Variables() const;
  Outcome Igloo(std::vector<std::string> args, std::vector<std::string> more = {}) const;
  Running Start(std::vector<std::string> args) const;
  /// What `igloo env list --json` says about one environment, as text; empty: it is not there.
  std::string Listed(const std::string& name, std::vector<std::string> more = {}) const;

  /// Has every call of Nix noted, from here on.
  void CountCalls();
  /// Has `script` run by a shell before Nix does what it is called for, from here on.
  void BeforeNix(const std::string& script);
  int Calls() const;

  std::string State(const std::string& name) const {
    return Path(".local/state/igloo/nix/" + name);
  }
  static const std::string& store();
  static std::string System();

 private:
  std::string program_ = {};
};

}  // namespace igloo::testing

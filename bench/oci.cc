#include "bench/oci.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>

#include "guest/seccomp.h"

namespace igloo::bench {
namespace {

namespace json = boost::json;

json::object Mount(std::string_view type, std::string_view source, std::string_view target,
                   json::array options) {
  return {
      {"destination", target}, {"type", type}, {"source", source}, {"options", std::move(options)}};
}

json::array Namespaces() {
  json::array out;
  for (const char* type : {"user", "pid", "network", "mount", "ipc", "uts", "cgroup"}) {
    out.push_back(json::object{{"type", type}});
  }
  return out;
}

/// The very calls that igloo denies; runtimes pass over names that their libseccomp lacks.
json::object Filter() {
  json::array names;
  for (const auto& call : guest::kDeniedCalls) names.emplace_back(call.name);
  return {{"defaultAction", "SCMP_ACT_ALLOW"},
          {"syscalls",
           json::array{json::object{{"names", std::move(names)}, {"action", "SCMP_ACT_ERRNO"}}}}};
}

}  // namespace

Result<void> MakeRoot(const std::string& path) {
  std::error_code error;
  // `sys` to `etc/os-release` are what systemd-nspawn wants before it believes that this is a root.
  for (const char* name : {"usr", "proc", "dev", "tmp", "sys", "run", "root", "var", "etc"}) {
    std::filesystem::create_directories(path + "/" + name, error);
    if (error) return FailSys(error.value(), "cannot make '" + path + "/" + name + "'");
  }
  for (const char* name : {"bin", "lib", "lib64"}) {
    std::filesystem::create_symlink(std::string("usr/") + name, path + "/" + name, error);
    if (error) return FailSys(error.value(), "cannot link '" + path + "/" + name + "'");
  }
  std::ofstream(path + "/etc/os-release") << "ID=bench\n";
  return {};
}

std::string OciConfig(const std::string& root, const Words& argv, uid_t owner) {
  const json::array owned = {json::object{{"containerID", 0}, {"hostID", owner}, {"size", 1}}};
  const json::object process{{"terminal", false},
                             {"user", json::object{{"uid", 0}, {"gid", 0}}},
                             {"args", json::array(argv.begin(), argv.end())},
                             {"env", json::array{"PATH=/usr/bin:/bin"}},
                             {"cwd", "/"},
                             {"noNewPrivileges", true},
                             {"capabilities", json::object{{"bounding", json::array{}},
                                                           {"effective", json::array{}},
                                                           {"inheritable", json::array{}},
                                                           {"permitted", json::array{}},
                                                           {"ambient", json::array{}}}}};
  const json::array mounts = {
      Mount("bind", "/usr", "/usr", {"rbind", "ro", "nosuid", "nodev"}),
      Mount("proc", "proc", "/proc", {"nosuid", "nodev", "noexec"}),
      Mount("tmpfs", "tmpfs", "/dev", {"nosuid", "mode=755"}),
      Mount("tmpfs", "tmpfs", "/tmp", {"nosuid", "nodev"}),
  };
  const json::object config{{"ociVersion", "1.0.2"},
                            {"process", process},
                            {"root", json::object{{"path", root}, {"readonly", true}}},
                            {"hostname", "sandbox"},
                            {"mounts", mounts},
                            {"linux", json::object{{"uidMappings", owned},
                                                   {"gidMappings", owned},
                                                   {"namespaces", Namespaces()},
                                                   {"seccomp", Filter()}}}};
  return json::serialize(config);
}

}  // namespace igloo::bench

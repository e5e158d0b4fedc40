// Devices of GPUs, and what their drivers' libraries read about them.

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "agent/grants/grant.h"

namespace igloo::agent {
namespace {

std::vector<std::string> NamesIn(const std::string& path) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (!directory) return names;
  while (const dirent* entry = ::readdir(directory.get())) names.emplace_back(entry->d_name);
  std::ranges::sort(names);
  return names;
}

bool IsNumberBehind(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) && name.size() > prefix.size() &&
         name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
}

/// Those that compute and draw. The nodes "card0", ... also set what screens show, and no program
/// in a window needs that.
std::vector<std::string> FindGpuDevices(const std::string& devices) {
  std::vector<std::string> found;
  for (const std::string& name : NamesIn(devices + "/dri")) {
    if (IsNumberBehind(name, "renderD")) found.push_back("dri/" + name);
  }
  for (const std::string& name : NamesIn(devices)) {
    const bool nvidia = IsNumberBehind(name, "nvidia") || name == "nvidiactl" ||
                        name == "nvidia-uvm" || name == "nvidia-uvm-tools";
    if (nvidia || name == "kfd") found.push_back(name);
  }
  std::erase_if(found, [&](const std::string& name) {
    return TypeAt(devices + "/" + name) != FileType::kDevice;
  });
  return found;
}

/// Mesa finds out by these files which driver a device needs.
void ShowFacts(const GrantContext& context, const std::string& device) {
  struct stat info{};
  if (::stat(device.c_str(), &info) != 0) return;
  const std::string facts = fmt::format("{}/{}:{}/device", context.places.device_facts,
                                        major(info.st_rdev), minor(info.st_rdev));
  const std::string real = RealPathOf(facts);
  if (TypeAt(real) != FileType::kDirectory) return;
  context.Add(sandbox::HostTree{.source = real, .target = facts}, "--gpu; which card it is");
}

}  // namespace

Result<void> GrantGpu(const GrantContext& context) {
  const std::vector<std::string> devices = FindGpuDevices(context.places.devices);
  if (devices.empty()) {
    return Fail(Errc::kFailedPrecondition,
                "'--gpu' finds no device of a GPU: neither /dev/dri/renderD* nor /dev/nvidia*",
                "load its driver, or leave out --gpu");
  }
  std::string shown, closed;
  for (const std::string& name : devices) {
    const std::string path = context.places.devices + "/" + name;
    context.Add(sandbox::HostNode(path, "/dev/" + name, std::string(RowOf(Grant::kGpu).risk)),
                "--gpu");
    if (name.starts_with("dri/")) ShowFacts(context, path);
    struct stat info{};
    const bool open = ::stat(path.c_str(), &info) == 0 && (info.st_mode & S_IWOTH) != 0;
    if (context.caller.root && !open) closed += " /dev/" + name;
    shown += (shown.empty() ? "" : ", ") + ("/dev/" + name);
  }
  // Of the host, and links into the store there: NixOS has its drivers' libraries here.
  const std::string drivers = RealPathOf("/run/opengl-driver");
  if (!drivers.empty()) {
    context.AddTree(drivers, "/run/opengl-driver", sandbox::Access::kReadOnly, "--gpu");
  }
  if (!closed.empty()) {
    context.Remark("--gpu: started by root, the box has a user id of its own, which may not open" +
                   closed);
  }
  context.Show(Grant::kGpu, shown);
  return {};
}

}  // namespace igloo::agent

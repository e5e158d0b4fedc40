#include "backend/microvm/kernel.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "base/file.h"

namespace igloo::backend::microvm {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kImage = "vmlinuz-";
constexpr std::size_t kMaxModule = 32U << 20;
/// Devices, files of the host, and copies of them that are written to.
constexpr std::array<std::string_view, 5> kNeeded = {"virtio_pci", "virtio_console", "9pnet_virtio",
                                                     "9p", "overlay"};
constexpr const char* kInstall =
    "install one: sudo apt install linux-image-amd64 (not -cloud-, which lacks 9p), or name one "
    "with '[backends.microvm] kernel'";

/// Module names are the same with either character.
std::string Underscored(std::string_view name) {
  std::string out(name);
  std::ranges::replace(out, '-', '_');
  return out;
}

/// Versions in their order: numbers count as numbers.
bool IsOlder(const std::string& one, const std::string& other) {
  return ::strverscmp(one.c_str(), other.c_str()) < 0;
}

/// Where the modules of an image lie: beside its directory, as in a package that was unpacked and
/// as Nix has them, or in the machine's own place.
std::string ModulesOf(const std::string& image, const std::string& release,
                      const std::string& modules) {
  const std::string directory = fs::path(image).parent_path().string();
  for (const std::string& place : {directory + "/lib/modules", directory + "/../lib/modules",
                                   directory + "/../usr/lib/modules", modules}) {
    std::error_code ignored;
    if (!release.empty() && fs::is_directory(place + "/" + release, ignored)) {
      return place + "/" + release;
    }
    // Without a version in its name: the only one that is there.
    std::vector<std::string> all;
    if (release.empty() && place != modules) {
      for (const auto& each : fs::directory_iterator(place, ignored)) all.push_back(each.path());
    }
    if (all.size() == 1) return all.front();
  }
  return {};
}

Result<Kernel> KernelOf(const std::string& image, const std::string& modules) {
  const std::string name = fs::path(image).filename().string();
  Kernel kernel{.image = image};
  if (name.starts_with(kImage)) kernel.release = name.substr(kImage.size());
  if (::access(image.c_str(), R_OK) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot read the kernel '" + image + "'", kInstall);
  }
  kernel.modules = ModulesOf(image, kernel.release, modules);
  if (kernel.modules.empty()) {
    return Fail(Errc::kNotFound, "there are no modules for the kernel '" + image + "'",
                "they lie in lib/modules beside it, or in /lib/modules");
  }
  if (kernel.release.empty()) kernel.release = fs::path(kernel.modules).filename().string();
  return kernel;
}

/// The files of all modules, by their names.
std::map<std::string, std::string> FilesOf(const Kernel& kernel) {
  std::map<std::string, std::string> files;
  std::error_code error;
  const auto end = fs::recursive_directory_iterator();
  for (auto at = fs::recursive_directory_iterator(kernel.modules + "/kernel", error);
       !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const std::size_t dot = name.find(".ko");
    if (dot != std::string::npos) files[Underscored(name.substr(0, dot))] = at->path().string();
  }
  return files;
}

/// What is in the kernel itself.
std::set<std::string> BuiltIn(const Kernel& kernel) {
  std::set<std::string> names;
  const auto text = ReadFile(kernel.modules + "/modules.builtin", 4U << 20);
  for (std::string_view rest = text ? *text : std::string_view(); !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::string name = fs::path(line).filename().string();
    names.insert(Underscored(name.substr(0, name.find(".ko"))));
  }
  return names;
}

class Order {
 public:
  explicit Order(const Kernel& kernel)
      : kernel_(kernel), files_(FilesOf(kernel)), built_in_(BuiltIn(kernel)) {}

  Result<void> Add(const std::string& name) {
    if (built_in_.contains(name) || !seen_.insert(name).second) return {};
    const auto file = files_.find(name);
    if (file == files_.end()) {
      return Fail(Errc::kFailedPrecondition,
                  "the kernel '" + kernel_.image + "' has no module '" + name +
                      "', which virtual machines need",
                  kInstall);
    }
    if (!file->second.ends_with(".ko")) {
      return Fail(Errc::kFailedPrecondition,
                  "the module '" + file->second + "' is compressed, which igloo cannot read",
                  "name a kernel with plain modules with '[backends.microvm] kernel'");
    }
    IGLOO_ASSIGN(const std::string content, ReadFile(file->second, kMaxModule));
    for (const std::string& each : DependenciesOf(content)) IGLOO_TRY(Add(each));
    order_.push_back({name, file->second});
    return {};
  }
  std::vector<Module> Take() && { return std::move(order_); }

 private:
  const Kernel& kernel_;
  std::map<std::string, std::string> files_;
  std::set<std::string> built_in_, seen_ = {};
  std::vector<Module> order_ = {};
};

/// Whether its modules hold what a machine needs, by their names alone.
bool Suits(const Kernel& kernel) {
  const auto files = FilesOf(kernel);
  const auto built_in = BuiltIn(kernel);
  return std::ranges::all_of(kNeeded, [&](std::string_view name) {
    return files.contains(std::string(name)) || built_in.contains(std::string(name));
  });
}

}  // namespace

std::vector<std::string> DependenciesOf(std::string_view module) {
  // A section of texts that a NUL closes: "depends=a,b".
  constexpr std::string_view kLabel("\0depends=", 9);
  std::vector<std::string> names;
  const std::size_t at = module.find(kLabel);
  if (at == std::string_view::npos) return names;
  std::string_view list = module.substr(at + kLabel.size());
  list = list.substr(0, list.find('\0'));
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find(','));
    if (!name.empty()) names.push_back(Underscored(name));
    list.remove_prefix(std::min(name.size() + 1, list.size()));
  }
  return names;
}

Result<Kernel> FindKernel(const std::string& configured, const std::string& boot,
                          const std::string& modules) {
  if (!configured.empty()) return KernelOf(configured, modules);
  std::vector<std::string> images;
  std::error_code ignored;
  for (const auto& each : fs::directory_iterator(boot, ignored)) {
    if (each.path().filename().string().starts_with(kImage)) images.push_back(each.path());
  }
  std::ranges::sort(images, [](const auto& a, const auto& b) { return IsOlder(b, a); });
  for (const std::string& image : images) {
    auto kernel = KernelOf(image, modules);
    if (kernel && Suits(*kernel)) return kernel;
  }
  return Fail(Errc::kNotFound,
              images.empty() ? "there is no kernel for virtual machines in '" + boot + "'"
                             : "no kernel in '" + boot +
                                   "' has what virtual machines need (virtio, 9p and overlay)",
              kInstall);
}

Result<std::vector<Module>> ModulesFor(const Kernel& kernel) {
  Order order(kernel);
  for (const std::string_view name : kNeeded) IGLOO_TRY(order.Add(std::string(name)));
  return std::move(order).Take();
}

}  // namespace igloo::backend::microvm

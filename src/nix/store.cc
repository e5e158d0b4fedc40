#include "nix/store.h"

#include <sys/stat.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "base/text.h"
#include "nix/command.h"

namespace igloo::nix {
namespace {

namespace json = boost::json;

bool Exists(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0;
}

std::string StoreInHome(const Settings& settings) {
  std::string home, data;
  for (const std::string& each : settings.variables) {
    if (each.starts_with("HOME=")) home = each.substr(5);
    if (each.starts_with("XDG_DATA_HOME=/")) data = each.substr(14);
  }
  if (data.empty()) data = home + "/.local/share";
  return data + "/nix/root";
}

}  // namespace

std::string StoreInSettings(std::string_view text) {
  boost::system::error_code error;
  const json::value document = json::parse(text, error);
  const json::value* at = error ? nullptr : &document;
  for (const std::string_view key : {"store", "value"}) {
    const json::object* object = at != nullptr ? at->if_object() : nullptr;
    at = object != nullptr ? object->if_contains(key) : nullptr;
  }
  const json::string* value = at != nullptr ? at->if_string() : nullptr;
  if (value == nullptr) return {};
  std::string_view store = *value;
  constexpr std::string_view kRoot = "local?root=";
  if (store.starts_with(kRoot)) store = store.substr(kRoot.size(), store.find('&') - kRoot.size());
  return store.starts_with('/') ? std::string(store) : "";
}

Result<std::string> StorePrefixOf(const Settings& settings, const std::string& store_path) {
  if (!settings.store.empty()) {
    if (Exists(settings.store + store_path)) return settings.store;
  } else {
    if (Exists(store_path)) return std::string();
    std::string own = StoreInHome(settings);
    if (Exists(own + store_path)) return own;
    const auto answer = Call(settings, {.args = {"show-config", "--json"}});
    own = answer ? StoreInSettings(*answer) : "";
    if (!own.empty() && Exists(own + store_path)) return own;
  }
  return Fail(Errc::kFailedPrecondition,
              "'" + Printable(settings.store + store_path) + "' is not there",
              "build it again; if the store is somewhere else, name it with 'store' in [nix]");
}

}  // namespace igloo::nix

#include "image/unpack/layout.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <span>

#include "base/text.h"

namespace igloo::image::unpack {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostManifests = 1024, kMostWords = 1024, kLongestWord = 64U << 10;
constexpr std::string_view kTagKey = "org.opencontainers.image.ref.name";

constexpr std::string_view kIndexTypes[] = {
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json"};
constexpr std::string_view kManifestTypes[] = {
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json"};
constexpr std::string_view kLayerTypes[] = {"application/vnd.oci.image.layer.v1.tar",
                                            "application/vnd.oci.image.layer.v1.tar+gzip",
                                            "application/vnd.oci.image.layer.v1.tar+zstd",
                                            "application/vnd.docker.image.rootfs.diff.tar",
                                            "application/vnd.docker.image.rootfs.diff.tar.gzip",
                                            "application/vnd.docker.image.rootfs.diff.tar.zstd"};

bool IsOneOf(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

std::unexpected<Error> Bad(std::string what) {
  return Fail(Errc::kInvalidArgument, "the image is broken: " + std::move(what));
}

Result<json::object> ParseObject(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error || !value.is_object()) return Bad("its description is no JSON object");
  return std::move(value.get_object());
}

/// Empty when it is not there; null is as good as nothing.
Result<std::string> TextAt(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr || value->is_null()) return std::string();
  const json::string* text = value->if_string();
  if (text == nullptr || text->size() > kLongestWord || text->find('\0') != json::string::npos) {
    return Bad("'" + std::string(key) + "' is no text");
  }
  return std::string(*text);
}

Result<std::vector<std::string>> TextsAt(const json::object& object, std::string_view key) {
  std::vector<std::string> texts;
  const json::value* value = object.if_contains(key);
  if (value == nullptr || value->is_null()) return texts;
  const json::array* list = value->if_array();
  if (list == nullptr || list->size() > kMostWords) {
    return Bad("'" + std::string(key) + "' is no list of texts");
  }
  std::size_t total = 0;
  for (const json::value& each : *list) {
    const json::string* text = each.if_string();
    if (text == nullptr || text->find('\0') != json::string::npos ||
        (total += text->size()) > kLongestWord) {
      return Bad("'" + std::string(key) + "' is no list of texts");
    }
    texts.emplace_back(*text);
  }
  return texts;
}

/// SECURITY: the digest becomes the name of a file.
Result<std::string> DigestOf(const json::object& object) {
  IGLOO_ASSIGN(const std::string text, TextAt(object, "digest"));
  constexpr std::string_view kAlgorithm = "sha256:";
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (!text.starts_with(kAlgorithm) || text.size() != kAlgorithm.size() + 64 ||
      !std::ranges::all_of(text.substr(kAlgorithm.size()), is_digit)) {
    return Bad("'" + Printable(Quoted(text)) + "' is no SHA-256 digest");
  }
  return text.substr(kAlgorithm.size());
}

Result<Descriptor> DescriptorOf(const json::value& value) {
  const json::object* object = value.if_object();
  if (object == nullptr) return Bad("a blob is described by something that is no object");
  Descriptor out;
  IGLOO_ASSIGN(out.media_type, TextAt(*object, "mediaType"));
  IGLOO_ASSIGN(out.digest, DigestOf(*object));
  const json::value* size = object->if_contains("size");
  boost::system::error_code error;
  out.size = size != nullptr ? size->to_number<std::uint64_t>(error) : 0;
  if (size == nullptr || error) return Bad("a blob has no size");
  if (const json::value* notes = object->if_contains("annotations"); notes && notes->is_object()) {
    IGLOO_ASSIGN(out.name, TextAt(notes->get_object(), kTagKey));
  }
  if (const json::value* made = object->if_contains("platform"); made && made->is_object()) {
    IGLOO_ASSIGN(out.os, TextAt(made->get_object(), "os"));
    IGLOO_ASSIGN(out.architecture, TextAt(made->get_object(), "architecture"));
  }
  return out;
}

Result<std::vector<Descriptor>> DescriptorsAt(const json::object& object, std::string_view key,
                                              std::size_t most) {
  const json::value* value = object.if_contains(key);
  const json::array* list = value != nullptr ? value->if_array() : nullptr;
  if (list == nullptr) return Bad("'" + std::string(key) + "' is no list");
  if (list->size() > most) {
    return Bad("'" + std::string(key) + "' has more than " + std::to_string(most));
  }
  std::vector<Descriptor> out;
  for (const json::value& each : *list) {
    IGLOO_ASSIGN(Descriptor descriptor, DescriptorOf(each));
    out.push_back(std::move(descriptor));
  }
  return out;
}

Result<void> CheckLayers(const std::vector<Descriptor>& layers) {
  for (const Descriptor& layer : layers) {
    if (IsOneOf(layer.media_type, kLayerTypes)) continue;
    return Fail(Errc::kInvalidArgument, "the image has a layer of the type '" +
                                            Printable(Quoted(layer.media_type)) +
                                            "', which igloo does not know");
  }
  return {};
}

bool FitsMachine(const Descriptor& each, std::string_view architecture) {
  return (each.os.empty() || each.os == "linux") &&
         (each.architecture.empty() || each.architecture == architecture);
}

}  // namespace

Result<Document> ParseDocument(std::string_view text, const Limits& limits) {
  IGLOO_ASSIGN(const json::object object, ParseObject(text));
  IGLOO_ASSIGN(const std::string type, TextAt(object, "mediaType"));
  Document out;
  out.is_index = IsOneOf(type, kIndexTypes) || (type.empty() && object.contains("manifests"));
  if (!out.is_index && !type.empty() && !IsOneOf(type, kManifestTypes)) {
    return Bad("'" + Printable(Quoted(type)) + "' is no type of a manifest");
  }
  // SECURITY: what could be read both ways would be checked as one thing and used as another.
  if (object.contains("manifests") && object.contains("layers")) {
    return Bad("it describes itself in two ways");
  }
  if (out.is_index) {
    IGLOO_ASSIGN(out.manifests, DescriptorsAt(object, "manifests", kMostManifests));
    return out;
  }
  const json::value* config = object.if_contains("config");
  if (config == nullptr) return Bad("a manifest has no 'config'");
  IGLOO_ASSIGN(out.config, DescriptorOf(*config));
  IGLOO_ASSIGN(out.layers, DescriptorsAt(object, "layers", limits.layers));
  IGLOO_TRY(CheckLayers(out.layers));
  return out;
}

Result<Config> ParseConfig(std::string_view text) {
  IGLOO_ASSIGN(const json::object object, ParseObject(text));
  Config out;
  IGLOO_ASSIGN(out.os, TextAt(object, "os"));
  IGLOO_ASSIGN(out.architecture, TextAt(object, "architecture"));
  const json::value* inner = object.if_contains("config");
  if (inner == nullptr || inner->is_null()) return out;
  const json::object* run = inner->if_object();
  if (run == nullptr) return Bad("its 'config' is no object");
  IGLOO_ASSIGN(out.env, TextsAt(*run, "Env"));
  IGLOO_ASSIGN(out.entrypoint, TextsAt(*run, "Entrypoint"));
  IGLOO_ASSIGN(out.command, TextsAt(*run, "Cmd"));
  IGLOO_ASSIGN(out.working_directory, TextAt(*run, "WorkingDir"));
  IGLOO_ASSIGN(out.user, TextAt(*run, "User"));
  return out;
}

Result<Descriptor> Choose(const std::vector<Descriptor>& manifests, std::string_view tag,
                          std::string_view architecture) {
  std::vector<Descriptor> fitting;
  std::string tags, machines;
  const auto add = [](std::string& list, const std::string& word) {
    if (list.size() < 500) list += (list.empty() ? "" : ", ") + Printable(Quoted(word));
  };
  for (const Descriptor& each : manifests) {
    if (!each.name.empty()) add(tags, each.name);
    if (!tag.empty() && each.name != tag) continue;
    if (FitsMachine(each, architecture)) {
      fitting.push_back(each);
    } else {
      add(machines, each.os + "/" + each.architecture);
    }
  }
  if (fitting.size() == 1) return fitting[0];
  if (fitting.size() > 1) {
    return Fail(Errc::kInvalidArgument, "the layout has several images",
                tags.empty() ? "make a layout with one of them"
                             : "name one of its tags behind a ':': " + tags);
  }
  if (!machines.empty()) {
    return Fail(Errc::kFailedPrecondition, "the image is made for " + machines +
                                               " and not for linux/" + std::string(architecture));
  }
  return Fail(Errc::kNotFound,
              tag.empty() ? "the layout has no image"
                          : "the layout has no image with the tag '" + Printable(tag) + "'",
              tags.empty() ? "" : "it has: " + tags);
}

std::string_view OwnArchitecture() {
#if defined(__aarch64__)
  return "arm64";
#else
  return "amd64";
#endif
}

}  // namespace igloo::image::unpack

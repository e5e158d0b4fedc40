#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace igloo::testing {

/// Writes archives as others write them, and as nobody honest does.
class TarWriter {
 public:
  struct Member {
    char type = '0';
    std::string name = {};  ///< at most 100 bytes; longer ones with Pax or LongName before it
    std::string target = {};
    std::string content = {};
    std::uint32_t mode = 0644;
    std::int64_t size = -1;  ///< what the header says, if not the content's
    std::int64_t time = 0;
  };
  TarWriter& Add(const Member& member);
  TarWriter& Directory(const std::string& name) {
    return Add({.type = '5', .name = name, .mode = 0755});
  }
  TarWriter& File(const std::string& name, const std::string& content, std::uint32_t mode = 0644) {
    return Add({.name = name, .content = content, .mode = mode});
  }
  TarWriter& Symlink(const std::string& name, const std::string& target) {
    return Add({.type = '2', .name = name, .target = target});
  }
  TarWriter& HardLink(const std::string& name, const std::string& target) {
    return Add({.type = '1', .name = name, .target = target});
  }
  /// What pax says about the next member: "path", "size", ...
  TarWriter& Pax(const std::string& key, const std::string& value);
  /// GNU's way to give the next member a long name.
  TarWriter& LongName(const std::string& name) {
    return Add({.type = 'L', .name = "././@LongLink", .content = name + '\0'});
  }

  /// Without the end that archives have.
  const std::string& bytes() const { return bytes_; }
  std::string Finish() const { return bytes_ + std::string(1024, '\0'); }

 private:
  std::string bytes_ = {};
};

std::string Gzip(std::string_view bytes);
std::string Zstd(std::string_view bytes);

/// An image layout on disk.
class LayoutWriter {
 public:
  explicit LayoutWriter(std::string directory);
  /// Writes a blob and returns its descriptor, as JSON.
  std::string AddBlob(std::string_view bytes, const std::string& media_type) const;
  LayoutWriter& AddLayer(std::string_view bytes, const std::string& media_type =
                                                     "application/vnd.oci.image.layer.v1.tar+gzip");
  /// The inner "config" of the image's configuration, as JSON.
  LayoutWriter& SetConfig(std::string json) {
    config_ = std::move(json);
    return *this;
  }
  /// Writes configuration, manifest and index.
  void Finish(const std::string& tag = "latest", const std::string& architecture = {}) const;

  const std::string& directory() const { return directory_; }
  void Write(const std::string& name, std::string_view bytes) const;

 private:
  std::string directory_;
  std::string config_ = "{}";
  std::vector<std::string> layers_ = {};
};

/// The one file of Debian's busybox-static with some of its names, as a layer.
std::string BusyboxLayer();

}  // namespace igloo::testing

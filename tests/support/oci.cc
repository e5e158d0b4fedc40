#include "support/oci.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>

#include "base/file.h"
#include "base/replace_file.h"
#include "base/sha256.h"

namespace igloo::testing {
namespace {

constexpr std::size_t kBlock = 512;

void Put(std::string& header, std::size_t at, std::size_t size, std::string_view text) {
  header.replace(at, std::min(size, text.size()), text.substr(0, size));
}

std::string Octal(std::uint64_t value, std::size_t digits) {
  return fmt::format("{:0{}o}", value, digits);
}

std::string Padded(std::string bytes) {
  bytes.resize((bytes.size() + kBlock - 1) / kBlock * kBlock, '\0');
  return bytes;
}

}  // namespace

TarWriter& TarWriter::Add(const Member& member) {
  std::string header(kBlock, '\0');
  Put(header, 0, 100, member.name);
  Put(header, 100, 8, Octal(member.mode, 7));
  Put(header, 108, 8, Octal(0, 7));
  Put(header, 116, 8, Octal(0, 7));
  const auto size =
      member.size >= 0 ? static_cast<std::uint64_t>(member.size) : member.content.size();
  Put(header, 124, 12, Octal(size, 11));
  Put(header, 136, 12, Octal(static_cast<std::uint64_t>(member.time), 11));
  Put(header, 148, 8, "        ");
  header[156] = member.type;
  Put(header, 157, 100, member.target);
  Put(header, 257, 8,
      std::string_view("ustar\0"
                       "00",
                       8));
  std::uint64_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  Put(header, 148, 8, std::string_view((Octal(sum, 6) + '\0' + ' ').data(), 8));
  bytes_ += header + Padded(member.content);
  return *this;
}

TarWriter& TarWriter::Pax(const std::string& key, const std::string& value) {
  // The length counts its own digits.
  std::size_t length = key.size() + value.size() + 4;
  std::string record = fmt::format("{} {}={}\n", length, key, value);
  while (record.size() != length) {
    length = record.size();
    record = fmt::format("{} {}={}\n", length, key, value);
  }
  return Add({.type = 'x', .name = "pax", .content = record});
}

std::string Gzip(std::string_view bytes) {
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(::deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

std::string Zstd(std::string_view bytes) {
  std::string out(::ZSTD_compressBound(bytes.size()), '\0');
  out.resize(::ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

LayoutWriter::LayoutWriter(std::string directory) : directory_(std::move(directory)) {
  std::filesystem::create_directories(directory_ + "/blobs/sha256");
  Write("oci-layout", R"({"imageLayoutVersion":"1.0.0"})");
}

void LayoutWriter::Write(const std::string& name, std::string_view bytes) const {
  EXPECT_TRUE(ReplaceFile(directory_ + "/" + name, bytes, {.mode = 0644}));
}

std::string LayoutWriter::AddBlob(std::string_view bytes, const std::string& media_type) const {
  const std::string digest = Sha256Hex(bytes);
  Write("blobs/sha256/" + digest, bytes);
  return fmt::format(R"({{"mediaType":"{}","digest":"sha256:{}","size":{}}})", media_type, digest,
                     bytes.size());
}

LayoutWriter& LayoutWriter::AddLayer(std::string_view bytes, const std::string& media_type) {
  layers_.push_back(AddBlob(bytes, media_type));
  return *this;
}

void LayoutWriter::Finish(const std::string& tag, const std::string& architecture) const {
#if defined(__aarch64__)
  const std::string own = "arm64";
#else
  const std::string own = "amd64";
#endif
  const std::string config =
      AddBlob(fmt::format(R"({{"os":"linux","architecture":"{}","config":{}}})",
                          architecture.empty() ? own : architecture, config_),
              "application/vnd.oci.image.config.v1+json");
  std::string layers;
  for (const std::string& each : layers_) layers += (layers.empty() ? "" : ",") + each;
  constexpr const char* kManifest = "application/vnd.oci.image.manifest.v1+json";
  std::string manifest =
      AddBlob(fmt::format(R"({{"schemaVersion":2,"mediaType":"{}","config":{},"layers":[{}]}})",
                          kManifest, config, layers),
              kManifest);
  manifest.pop_back();
  Write(
      "index.json",
      fmt::format(
          R"({{"schemaVersion":2,"manifests":[{},"annotations":{{"org.opencontainers.image.ref.name":"{}"}}}}]}})",
          manifest, tag));
}

std::string BusyboxLayer() {
  const auto program = ReadFile("/bin/busybox", 16U << 20);
  EXPECT_TRUE(program) << "busybox-static is in packages.txt";
  TarWriter tar;
  tar.Directory("bin").File("bin/busybox", program.value_or(""), 0755);
  for (const char* name : {"cat", "cp", "echo", "env", "find", "grep", "httpd", "id", "ls", "mkdir",
                           "mv", "sh", "sleep", "stat", "test", "touch", "true", "wget"}) {
    tar.Symlink(std::string("bin/") + name, "busybox");
  }
  return tar.Directory("etc").Directory("tmp").Directory("var").Finish();
}

}  // namespace igloo::testing

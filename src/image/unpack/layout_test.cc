#include "image/unpack/layout.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::image::unpack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kHex(64, 'a');

std::string Blob(const std::string& type, const std::string& more = "") {
  return fmt::format(R"({{"mediaType":"{}","digest":"sha256:{}","size":7{}}})", type, kHex, more);
}
const std::string kConfig = Blob("application/vnd.oci.image.config.v1+json");
const std::string kLayer = Blob("application/vnd.oci.image.layer.v1.tar+gzip");

std::string Manifest(const std::string& config, const std::string& layers,
                     const std::string& type = "application/vnd.oci.image.manifest.v1+json") {
  return fmt::format(R"({{"mediaType":"{}","config":{},"layers":{}}})", type, config, layers);
}
std::string ErrorOf(const std::string& text) {
  const auto parsed = ParseDocument(text, Limits{});
  return parsed ? "fine" : parsed.error().what;
}

TEST(Layout, AManifestHasAConfigurationAndLayers) {
  const auto parsed = ParseDocument(Manifest(kConfig, "[" + kLayer + "," + kLayer + "]"), Limits{});
  ASSERT_TRUE(parsed) << parsed.error().what;
  EXPECT_FALSE(parsed->is_index);
  EXPECT_EQ(parsed->config.digest, kHex);
  EXPECT_EQ(parsed->layers.size(), 2U);
  EXPECT_EQ(parsed->layers[0].size, 7U);
}

TEST(Layout, AnIndexHasNamesAndMachines) {
  const auto parsed =
      ParseDocument(R"({"schemaVersion":2,"manifests":[)" +
                        Blob("x", R"(,"annotations":{"org.opencontainers.image.ref.name":"12"},)"
                                  R"("platform":{"os":"linux","architecture":"arm64"})") +
                        "]}",
                    Limits{});
  ASSERT_TRUE(parsed) << parsed.error().what;
  EXPECT_THAT(parsed->manifests, ElementsAre(Descriptor{.media_type = "x",
                                                        .digest = kHex,
                                                        .size = 7,
                                                        .name = "12",
                                                        .os = "linux",
                                                        .architecture = "arm64"}));
}

TEST(Layout, WhatIsNoDescriptionIsRefused) {
  for (const char* text : {"", "[]", "null", "{", "{}x", "\"text\""}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr("no JSON object")) << text;
  }
  EXPECT_THAT(ErrorOf(std::string(100'000, '[')), HasSubstr("no JSON object"));
  EXPECT_THAT(ErrorOf("{}"), HasSubstr("no 'config'"));
  EXPECT_THAT(ErrorOf(R"({"manifests":7})"), HasSubstr("'manifests' is no list"));
  EXPECT_THAT(ErrorOf(R"({"manifests":[7]})"), HasSubstr("no object"));
  EXPECT_THAT(ErrorOf(R"({"mediaType":7})"), HasSubstr("'mediaType' is no text"));
  EXPECT_THAT(ErrorOf(R"({"mediaType":"text/html","manifests":[]})"), HasSubstr("no type"));
  EXPECT_THAT(ErrorOf(Manifest(kConfig, "{}")), HasSubstr("'layers' is no list"));
  EXPECT_THAT(ErrorOf(R"({"manifests":[],"layers":[],"config":)" + kConfig + "}"),
              HasSubstr("two ways"));
}

// A digest becomes the name of a file.
TEST(Layout, OnlyADigestIsADigest) {
  const std::string upper(64, 'A'), shorter(63, 'a');
  for (const std::string& digest :
       {std::string("sha256:../../../etc/passwd"), "sha256:" + upper, "sha256:" + shorter,
        "sha512:" + kHex, "md5:" + kHex, kHex, std::string(), "sha256:" + kHex + "/..",
        "sha256:" + shorter + "/", "sha256:" + shorter + "\\u0000"}) {
    const std::string blob = fmt::format(R"({{"mediaType":"x","digest":"{}","size":1}})", digest);
    EXPECT_THAT(ErrorOf(Manifest(blob, "[]")), ::testing::Not("fine")) << digest;
  }
  EXPECT_THAT(ErrorOf(Manifest(R"({"digest":"sha256:)" + kHex + R"("})", "[]")),
              HasSubstr("no size"));
  EXPECT_THAT(ErrorOf(Manifest(R"({"size":-1,"digest":"sha256:)" + kHex + R"("})", "[]")),
              HasSubstr("no size"));
}

TEST(Layout, LayersOfOtherKindsAndTooManyAreRefused) {
  for (const char* type : {"", "application/octet-stream",
                           "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip",
                           "application/vnd.in-toto+json"}) {
    EXPECT_THAT(ErrorOf(Manifest(kConfig, "[" + Blob(type) + "]")), HasSubstr("does not know"))
        << type;
  }
  std::string many = kLayer;
  for (int i = 0; i < 128; ++i) many += "," + kLayer;
  EXPECT_THAT(ErrorOf(Manifest(kConfig, "[" + many + "]")), HasSubstr("more than 128"));
}

TEST(Layout, AConfigurationSaysWhatProgramsExpect) {
  const auto parsed = ParseConfig(
      R"({"os":"linux","architecture":"amd64","config":{"Env":["A=1"],"Cmd":["x"],"Entrypoint":null,)"
      R"("WorkingDir":"/w","User":"0:0","Volumes":{}}})");
  ASSERT_TRUE(parsed) << parsed.error().what;
  EXPECT_EQ(*parsed, (Config{.os = "linux",
                             .architecture = "amd64",
                             .env = {"A=1"},
                             .command = {"x"},
                             .working_directory = "/w",
                             .user = "0:0"}));
  for (const char* text :
       {R"({"config":7})", R"({"config":{"Env":"A=1"}})", R"({"config":{"Env":[7]}})",
        R"({"config":{"Env":["A=\u0000"]}})", R"({"config":{"User":7}})", "[]"}) {
    EXPECT_FALSE(ParseConfig(text)) << text;
  }
  EXPECT_FALSE(ParseConfig(R"({"config":{"Env":[")" + std::string(70'000, 'x') + R"("]}})"));
}

TEST(Layout, TheImageThatIsMeantIsChosen) {
  const Descriptor arm{.name = "12", .os = "linux", .architecture = "arm64"};
  const Descriptor own{.name = "12", .os = "linux", .architecture = "amd64"};
  const Descriptor other{.name = "11"};
  const Descriptor proof{.os = "unknown", .architecture = "unknown"};
  EXPECT_EQ(Choose({arm, own, proof}, "", "amd64"), own);
  EXPECT_EQ(Choose({arm, own, other}, "12", "amd64"), own);
  EXPECT_EQ(Choose({other}, "", "amd64"), other);
  const auto several = Choose({own, other}, "", "amd64");
  ASSERT_FALSE(several);
  EXPECT_EQ(several.error().what, "the layout has several images");
  EXPECT_THAT(several.error().hint, HasSubstr("12, 11"));
  EXPECT_THAT(Choose({arm}, "", "amd64").error().what, HasSubstr("made for linux/arm64"));
  EXPECT_EQ(Choose({}, "", "amd64").error().what, "the layout has no image");
  EXPECT_THAT(Choose({other}, "13", "amd64").error().what, HasSubstr("no image with the tag '13'"));
}

}  // namespace
}  // namespace igloo::image::unpack

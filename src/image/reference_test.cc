#include "image/reference.h"

#include <gtest/gtest.h>

namespace igloo::image {
namespace {

using Kind = Reference::Kind;

std::string Text(std::string_view text) {
  const auto parsed = ParseReference(text, {.directory = "/etc/igloo", .home = "/home/me"});
  return parsed ? ToText(*parsed) : "no";
}

TEST(ImageReference, PathsAreRelativeToTheFileThatNamesThem) {
  EXPECT_EQ(Text("oci:layout"), "oci:/etc/igloo/layout");
  EXPECT_EQ(Text("oci:./a/../layout/:12"), "oci:/etc/igloo/layout:12");
  EXPECT_EQ(Text("oci:/srv/x:y/layout"), "oci:/srv/x:y/layout");
  EXPECT_EQ(Text("oci:x:y/"), "oci:/etc/igloo/x:y:");
  EXPECT_EQ(Text("oci:x:y:"), "oci:/etc/igloo/x:y:");
  EXPECT_EQ(Text("oci-archive:~/x.tar:v1"), "oci-archive:/home/me/x.tar:v1");
  EXPECT_EQ(Text("dir:root:fs"), "dir:/etc/igloo/root:fs");
  EXPECT_EQ(Text("/srv/rootfs"), "dir:/srv/rootfs");
  EXPECT_EQ(Text("./rootfs"), "dir:/etc/igloo/rootfs");
  EXPECT_EQ(Text("~/rootfs"), "dir:/home/me/rootfs");
}

TEST(ImageReference, NamesInRegistriesAreMadeWhole) {
  EXPECT_EQ(Text("debian"), "docker.io/library/debian:latest");
  EXPECT_EQ(Text("debian:12"), "docker.io/library/debian:12");
  EXPECT_EQ(Text("apache/apisix:3.9.0-debian"), "docker.io/apache/apisix:3.9.0-debian");
  EXPECT_EQ(Text("docker://quay.io/a/b"), "quay.io/a/b:latest");
  EXPECT_EQ(Text("localhost:5000/a@sha256:12"), "localhost:5000/a@sha256:12");
}

TEST(ImageReference, WhatNamesNoImageIsRefused) {
  for (const char* text : {"", "oci:", "dir:", "--insecure-policy", "-x", "a b", "a;b", "a/../b",
                           "$(x)", "a//b", "debian:", "oci-archive:"}) {
    EXPECT_EQ(Text(text), "no") << text;
  }
  EXPECT_EQ(Text(std::string("oci:a\0b", 7)), "no");
  EXPECT_EQ(Text("oci:\xff"), "no");
  EXPECT_FALSE(ParseReference("~/x", {.directory = "/"}));
}

}  // namespace
}  // namespace igloo::image

#include "bench/oci.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

namespace igloo::bench {
namespace {

TEST(OciConfig, GivesThePeerEveryWallThatTheFormatHas) {
  const auto config = boost::json::parse(OciConfig("/root-of-all", {"/bin/echo", "a\"b"}, 77));
  const auto& process = config.at("process");
  EXPECT_EQ(process.at("args").at(1).as_string(), "a\"b");
  EXPECT_TRUE(process.at("noNewPrivileges").as_bool());
  EXPECT_TRUE(process.at("capabilities").at("bounding").as_array().empty());
  EXPECT_TRUE(config.at("root").at("readonly").as_bool());
  EXPECT_EQ(config.at("mounts").at(0).at("destination").as_string(), "/usr");
  EXPECT_EQ(config.at("mounts").at(0).at("options").at(1).as_string(), "ro");
  const auto& linux_part = config.at("linux");
  EXPECT_EQ(linux_part.at("namespaces").as_array().size(), 7U);
  EXPECT_EQ(linux_part.at("uidMappings").at(0).at("hostID").to_number<int>(), 77);
  EXPECT_GT(linux_part.at("seccomp").at("syscalls").at(0).at("names").as_array().size(), 50U);
}

}  // namespace
}  // namespace igloo::bench

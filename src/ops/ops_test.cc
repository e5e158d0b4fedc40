#include "ops/ops.h"

#include <gtest/gtest.h>

#include <cstring>

namespace igloo::ops {
namespace {

alignas(8) unsigned char g_bytes[4096];

/// Writes one operation at the start of the buffer and returns its size.
std::size_t Put(Code code, const char* path, const char* text) {
  std::memset(g_bytes, 0, sizeof g_bytes);
  Op op{};
  op.code = code;
  op.path_size = static_cast<std::uint32_t>(std::strlen(path));
  op.text_size = static_cast<std::uint32_t>(std::strlen(text));
  op.size = static_cast<std::uint32_t>(PaddedSize(op.path_size, op.text_size));
  std::memcpy(g_bytes, &op, sizeof op);
  std::strcpy(reinterpret_cast<char*>(g_bytes) + sizeof op, path);
  std::strcpy(reinterpret_cast<char*>(g_bytes) + sizeof op + op.path_size + 1, text);
  return op.size;
}

Op& First() { return *reinterpret_cast<Op*>(g_bytes); }

bool Refuses(std::size_t size) {
  Reader reader(g_bytes, size);
  return reader.Next() == nullptr && !reader.ok();
}

TEST(OpsReader, ReadsWhatWasWritten) {
  const std::size_t size = Put(Code::kSymlink, "/bin", "usr/bin");
  Reader reader(g_bytes, size);
  const Op* op = reader.Next();
  ASSERT_NE(op, nullptr);
  EXPECT_STREQ(op->path(), "/bin");
  EXPECT_STREQ(op->text(), "usr/bin");
  EXPECT_EQ(reader.Next(), nullptr);
  EXPECT_TRUE(reader.ok());
}

TEST(OpsReader, AnEmptyListIsFine) {
  Reader reader(g_bytes, 0);
  EXPECT_EQ(reader.Next(), nullptr);
  EXPECT_TRUE(reader.ok());
}

TEST(OpsReader, RefusesAListThatEndsInTheMiddle) {
  const std::size_t size = Put(Code::kDirectory, "/a", "");
  for (std::size_t cut = 1; cut < size; ++cut) EXPECT_TRUE(Refuses(cut)) << cut;
}

TEST(OpsReader, RefusesUnknownCodes) {
  const std::size_t size = Put(Code::kDirectory, "/a", "");
  First().code = Code{0};
  EXPECT_TRUE(Refuses(size));
  First().code = Code::kEnd;
  EXPECT_TRUE(Refuses(size));
}

TEST(OpsReader, RefusesStringsThatAreNotClosed) {
  const std::size_t size = Put(Code::kSymlink, "/a", "b");
  First().path_size += 1;
  First().text_size -= 1;
  EXPECT_TRUE(Refuses(size));
}

TEST(OpsReader, RefusesSizesThatWrapAround) {
  const std::size_t size = Put(Code::kSymlink, "/a", "b");
  First().path_size = 0xFFFFFFFF;
  EXPECT_TRUE(Refuses(size));
}

}  // namespace
}  // namespace igloo::ops

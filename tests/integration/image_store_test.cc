// Where images live: what is kept, what goes, and what nobody may take away.

#include <gmock/gmock.h>

#include <filesystem>

#include "image/store.h"
#include "support/configured.h"
#include "support/oci.h"

namespace igloo::testing {
namespace {

using image::Image;
using image::Reference;
using image::Store;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

class ImageStore : public Configured {
 protected:
  Reference Layout(const std::string& name, const std::string& content) const {
    LayoutWriter layout(Path(name));
    layout.AddLayer(Gzip(TarWriter().File("file", content).Finish())).Finish();
    return {.kind = Reference::Kind::kLayout, .path = Path(name)};
  }
  Image Add(const Reference& reference) const {
    auto added = store_.Add(reference, program_);
    EXPECT_TRUE(added) << added.error().what;
    return added.value_or(Image{});
  }
  std::vector<std::string> Digests() const {
    std::vector<std::string> digests;
    const auto list = store_.List();
    for (const Store::Stored& each : list.value()) digests.push_back(each.digest);
    return digests;
  }

  Store store_{Path("data/igloo/images")};
  std::string program_ = BinDirectory() + "/igloo-image";
};

TEST_F(ImageStore, WhatWasAddedIsFoundUntilItsSourceChanges) {
  const Reference reference = Layout("a", "1");
  EXPECT_EQ(store_.Look(reference).value(), std::nullopt);
  const Image image = Add(reference);
  EXPECT_EQ(Read("data/igloo/images/sha256-" + image.record.digest + "/rootfs/file"), "1");
  EXPECT_EQ(store_.Look(reference).value()->record, image.record);
  Layout("a", "2");
  EXPECT_EQ(store_.Look(reference).value(), std::nullopt);
  EXPECT_EQ(fs::status(Path("data/igloo/images")).permissions(), fs::perms(0700));
}

TEST_F(ImageStore, TheSameImageUnderTwoNamesIsOne) {
  const Reference one = Layout("a", "1"), two = Layout("b", "1");
  EXPECT_EQ(Add(one).root, Add(two).root);
  ASSERT_EQ(store_.List()->size(), 1U);
  EXPECT_THAT(store_.List()->at(0).names, ElementsAre(ToText(one), ToText(two)));
  EXPECT_TRUE(store_.Remove(one).value());
  EXPECT_FALSE(store_.Remove(one).value());
  EXPECT_EQ(Digests().size(), 1U);
  EXPECT_TRUE(store_.Remove(two).value());
  EXPECT_THAT(Digests(), IsEmpty());
}

TEST_F(ImageStore, AnImageInUseIsNotRemoved) {
  const Reference reference = Layout("a", "1");
  const Image image = Add(reference);
  {
    const auto held = Store::Hold(image);
    ASSERT_TRUE(held);
    EXPECT_TRUE(store_.List()->at(0).in_use);
    EXPECT_THAT(store_.Remove(reference).error().what, HasSubstr("in use"));
    EXPECT_THAT(store_.Collect({}).value(), IsEmpty());
    EXPECT_TRUE(fs::exists(image.root + "/file"));
  }
  EXPECT_THAT(store_.Collect({}).value(), ElementsAre(image.record.digest));
  EXPECT_FALSE(fs::exists(image.root));
  EXPECT_FALSE(Store::Hold(image));
}

TEST_F(ImageStore, CollectingKeepsWhatIsWantedAndWhatWasPulled) {
  const Reference wanted = Layout("wanted", "1"), old = Layout("old", "2");
  const Reference pulled{.path = "registry.example/x:1"};
  const Image keep = Add(wanted), gone = Add(old);
  const Reference source = Layout("source", "3");
  const auto fetched = store_.AddFetched(
      pulled,
      [&](const std::string& directory) -> Result<void> {
        fs::copy(source.path, directory, fs::copy_options::recursive);
        return {};
      },
      program_);
  ASSERT_TRUE(fetched) << fetched.error().what;
  fs::create_directory(Path("data/igloo/images/igloo-killed"));  // somebody's who was ended
  EXPECT_THAT(store_.Collect({ToText(wanted)}).value(), ElementsAre(gone.record.digest));
  EXPECT_TRUE(store_.Look(wanted).value());
  EXPECT_TRUE(store_.Look(pulled).value());
  EXPECT_EQ(store_.Look(old).value(), std::nullopt);
  EXPECT_FALSE(fs::exists(Path("data/igloo/images/igloo-killed")));
  EXPECT_EQ(keep.root, store_.Look(wanted).value()->root);
}

TEST_F(ImageStore, AnUnpackerThatDiesLeavesNothing) {
  const Reference reference = Layout("a", "1");
  const std::string broken = Write("broken", "#!/bin/sh\nkill -9 $$\n");
  fs::permissions(broken, fs::perms(0755));
  EXPECT_THAT(store_.Add(reference, broken).error().what, HasSubstr("signal 9"));
  const std::string liar =
      Write("liar", "#!/bin/sh\necho '{\"schema\":1,\"digest\":\"../../x\"}'\n");
  fs::permissions(liar, fs::perms(0755));
  EXPECT_FALSE(store_.Add(reference, liar));
  EXPECT_THAT(Digests(), IsEmpty());
}

}  // namespace
}  // namespace igloo::testing

// Folders of images with links in them.
#include "models/data/images/image_folder.h"

#include "models/images/image_file.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;
using test::Scratch;

class HostImageFolderLinks : public ::testing::Test {
protected:
    void picture(const fs::path& name) const {
        fs::create_directories((scratch_.path() / name).parent_path());
        write_png(scratch_.path() / name, Image(2, 2));
    }
    void link(const fs::path& target, const fs::path& name) const {
        fs::create_directory_symlink(target, scratch_.path() / name);
    }
    ImageSet open() const { return open_images(scratch_.path() / "data"); }

    Scratch scratch_;
};

TEST_F(HostImageFolderLinks, AreFollowedOnce) {
    picture("data/a/0.png");
    picture("elsewhere/1.png");
    picture("elsewhere/deep/2.png");
    link("../../elsewhere", "data/a/more");
    link("../../elsewhere", "data/a/same");
    link("..", "elsewhere/back");  // leads to a folder above elsewhere that is also above the class
    const ImageSet set = open();
    EXPECT_EQ(set.train.size() + set.test.size(), 3u);
    EXPECT_EQ(set.passed_over, (PassedOver{{"link to a folder above", 1}}));
}

TEST_F(HostImageFolderLinks, MayBeClassesAndFiles) {
    picture("elsewhere/0.png");
    picture("elsewhere/1.png");
    fs::create_directories(scratch_.path() / "data/b");
    link("../elsewhere", "data/a");
    fs::create_symlink("../../elsewhere/0.png", scratch_.path() / "data/b/0.png");
    const ImageSet set = open();
    EXPECT_EQ(set.class_names, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(set.train.size() + set.test.size(), 3u);
}

TEST_F(HostImageFolderLinks, ThatLoopEnd) {
    picture("data/a/0.png");
    picture("data/a/1.png");
    link(".", "data/a/self");
    link("..", "data/a/parent");
    link("/", "data/a/everything");
    link("../data", "data/data");
    link("loop", "data/a/loop");
    fs::create_symlink("nowhere.png", scratch_.path() / "data/a/dangling.png");
    const ImageSet set = open();
    EXPECT_EQ(set.class_names, (std::vector<std::string>{"a"}));
    EXPECT_EQ(set.train.size() + set.test.size(), 2u);
    EXPECT_EQ(set.passed_over, (PassedOver{{"link to a folder above", 4}, {"broken link or device", 2}}));
}

}  // namespace
}  // namespace vkf

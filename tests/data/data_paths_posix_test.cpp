// Folders in which data is searched on systems with XDG's folders.

#include "models/data/data_paths.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/os/os.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;
using test::Scratch;

// Runs a test in its own folder; the environment variables that name data folders are empty until the test sets them.
class HostCorpus : public testing::Test {
protected:
    HostCorpus() {
        for (const char* name : {"VKFORMER_DATA", "HOME", "XDG_DATA_HOME", "XDG_DATA_DIRS"}) {
            before_.emplace_back(name, os::environment(name));
            os::set_environment(name, {});
        }
        fs::create_directories(here_);
        fs::current_path(here_);
    }
    ~HostCorpus() override {
        fs::current_path(folder_);
        for (const auto& [name, value] : before_) os::set_environment(name, value);
    }
    void set(const char* name, const std::string& value) { os::set_environment(name, value); }
    /// Writes a file x into a folder below the test's folder and returns that folder.
    fs::path put(const fs::path& folder) { return scratch_.file(folder / "x", "x").parent_path(); }

    Scratch scratch_;
    fs::path here_ = scratch_.path() / "here";

private:
    fs::path folder_ = fs::current_path();
    std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

TEST_F(HostCorpus, DataIsFoundInTheOrderOfThePlaces) {
    set("XDG_DATA_DIRS", (scratch_.path() / "one").string() + ":relative:" + (scratch_.path() / "two").string() + ":");
    put("shared/data");             // not searched: a neighbour's folder
    put("here/relative/vkformer");  // not searched: XDG's relative paths are ignored
    EXPECT_EQ(find_data("x"), std::nullopt);
    const std::pair<fs::path, const char*> places[] = {{put("two/vkformer"), ""},
                                                       {put("one/vkformer"), ""},
                                                       {put("home/.local/share/vkformer"), "HOME"},
                                                       {put("user/vkformer"), "XDG_DATA_HOME"}};
    EXPECT_EQ(find_data("x"), places[1].first / "x");
    fs::remove_all(places[1].first);
    EXPECT_EQ(find_data("x"), places[0].first / "x");
    set("HOME", (scratch_.path() / "home").string());
    EXPECT_EQ(find_data("x"), places[2].first / "x");
    set("XDG_DATA_HOME", (scratch_.path() / "user").string());
    EXPECT_EQ(find_data("x"), places[3].first / "x");
    put("here/data");
    EXPECT_EQ(find_data("x"), "data/x");
    set("VKFORMER_DATA", put("named").string());
    EXPECT_EQ(find_data("x"), scratch_.path() / "named/x");
    EXPECT_EQ(find_data("y"), std::nullopt);
}

TEST_F(HostCorpus, TheSystemsFoldersNeedNoVariable) {
    const std::vector<fs::path> folders = {"data", "/usr/local/share/vkformer", "/usr/share/vkformer"};
    EXPECT_EQ(data_folders(), folders);
}

}  // namespace
}  // namespace vkf

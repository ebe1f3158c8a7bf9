// Kernels that are stored as binaries for later devices.
#include "vulkan/cpu/shader_objects.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <vector>

#include "base/files/file.h"
#include "base/os/os.h"
#include "device_fixture.h"
#include "scratch.h"

namespace vkf::test {
namespace {

namespace fs = std::filesystem;

/// Puts the program's cache into the folder while this object lives.
class CacheIn {
public:
    explicit CacheIn(const fs::path& folder) : before_(os::environment("VKFORMER_CACHE")) {
        os::set_environment("VKFORMER_CACHE", folder.string());
    }
    ~CacheIn() { os::set_environment("VKFORMER_CACHE", before_); }

private:
    std::optional<std::string> before_;
};

const KernelRequest sums{"row_sum", {}};

std::vector<fs::path> files_below(const fs::path& folder) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file()) found.push_back(entry.path());
    return found;
}

/// Creates the kernel on a separate device.
void make_sums() {
    Device device(wanted_device(), pretend);
    EXPECT_NE(kernel(device, sums).handle, nullptr);
}

class DeviceShaderObjects : public ::testing::Test {
protected:
    void SetUp() override {
        if (!Device(wanted_device(), pretend).handles().shader_objects) GTEST_SKIP() << "this device keeps pipelines";
    }

    /// Path of the binary that make_sums() leaves.
    fs::path binary() {
        make_sums();
        const std::vector<fs::path> files = files_below(scratch_.path());
        EXPECT_EQ(files.size(), 1u);
        return files.empty() ? fs::path() : files.front();
    }

    Scratch scratch_;
    CacheIn cache_{scratch_.path()};
};

TEST_F(DeviceShaderObjects, AreMadeOfTheBinaryThatIsThere) {
    const fs::path file = binary();
    EXPECT_TRUE(read_text(file).starts_with("row_sum subgroup="));
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
    fs::last_write_time(file, old);
    make_sums();
    EXPECT_EQ(fs::last_write_time(file), old) << "it was not written anew";
}

TEST_F(DeviceShaderObjects, AreCompiledAnewWhereTheBinaryIsDamagedOrAnother) {
    const fs::path file = binary();
    const std::string whole = read_text(file);
    std::string flipped = whole;
    flipped.back() ^= 1;
    std::string other = whole;
    other.front() = 'R';
    for (const std::string& found : {flipped, other, whole.substr(0, whole.size() / 2), whole.substr(0, 5),
                                     whole.substr(0, whole.find('\n') + 1), std::string()}) {
        write_atomically(file, found);
        make_sums();
        EXPECT_EQ(read_text(file), whole);
    }
}

TEST_F(DeviceShaderObjects, AreMadeWhereNothingCanBeKept) {
    const fs::path file = scratch_.file("file", "");
    const CacheIn no_folder(file);
    make_sums();
    EXPECT_EQ(read_text(file), "");
}

TEST(HostShaderObjects, TheOldestBinariesGo) {
    const Scratch scratch;
    const auto now = fs::file_time_type::clock::now();
    int age = 3;
    for (const char* name : {"oldest", "older", "newest"})
        fs::last_write_time(scratch.file(name, std::string(100, 'x')), now - std::chrono::minutes(age--));
    limit_binaries(scratch.path().string(), 300);
    EXPECT_EQ(files_below(scratch.path()).size(), 3u);
    limit_binaries(scratch.path().string(), 250);
    EXPECT_FALSE(fs::exists(scratch.path() / "oldest"));
    EXPECT_EQ(files_below(scratch.path()).size(), 2u);
    limit_binaries(scratch.path().string(), 100);
    EXPECT_EQ(files_below(scratch.path()), std::vector{scratch.path() / "newest"});
    limit_binaries((scratch.path() / "none").string(), 0);
}

}  // namespace
}  // namespace vkf::test

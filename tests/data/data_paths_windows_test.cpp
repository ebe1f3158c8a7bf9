// Folders in which data is searched on Windows.

#include "models/data/data_paths.h"

#include <vector>

#include "base/os/os.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;
using test::Scratch;

TEST(HostCorpus, DataIsFoundInTheOrderOfThePlaces) {
    const Scratch scratch;
    const fs::path named = scratch.path() / "named", user = scratch.path() / "üser", system = scratch.path() / "all";
    const auto before_named = os::environment("VKFORMER_DATA"), before_user = os::environment("LOCALAPPDATA"),
               before_system = os::environment("PROGRAMDATA");
    os::set_environment("VKFORMER_DATA", named.string());
    os::set_environment("LOCALAPPDATA", user.string());
    os::set_environment("PROGRAMDATA", system.string());
    const std::vector<fs::path> all = data_folders();
    os::set_environment("VKFORMER_DATA", {});
    os::set_environment("LOCALAPPDATA", "relative");
    const std::vector<fs::path> some = data_folders();
    os::set_environment("VKFORMER_DATA", before_named);
    os::set_environment("LOCALAPPDATA", before_user);
    os::set_environment("PROGRAMDATA", before_system);
    EXPECT_EQ(all, (std::vector<fs::path>{named, "data", user / "vkformer", system / "vkformer"}));
    EXPECT_EQ(some, (std::vector<fs::path>{"data", system / "vkformer"}));
}

}  // namespace
}  // namespace vkf

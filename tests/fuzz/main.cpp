// Entry point of libFuzzer. $FUZZ_TARGET names the target. With FUZZ_EXAMPLES=FOLDER, writes the examples of all
// targets there, one folder per target, and runs nothing. tools/fuzz uses both.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/error.h"
#include "tests/fuzz/targets.h"

namespace {

const vkf::fuzz::Target* chosen = nullptr;

void write_examples(const std::filesystem::path& folder) {
    for (const vkf::fuzz::Target& target : vkf::fuzz::targets()) {
        std::filesystem::create_directories(folder / target.name);
        std::size_t number = 0;
        for (const std::string& example : target.examples())
            std::ofstream(folder / target.name / vkf::text("example-", number++), std::ios::binary) << example;
    }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    if (const char* folder = std::getenv("FUZZ_EXAMPLES")) {
        write_examples(folder);
        std::exit(0);
    }
    const char* wanted = std::getenv("FUZZ_TARGET");
    for (const vkf::fuzz::Target& target : vkf::fuzz::targets())
        if (wanted && std::string(wanted) == target.name) chosen = &target;
    if (chosen) return 0;
    std::fprintf(stderr, "fuzz: FUZZ_TARGET must be one of:\n");
    for (const vkf::fuzz::Target& target : vkf::fuzz::targets()) std::fprintf(stderr, "  %s\n", target.name);
    std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const vkf::fuzz::Folder folder;
    try {
        chosen->read(folder, {reinterpret_cast<const char*>(data), size});
    } catch (const vkf::InputError&) {
        // Expected for broken input.
    }
    return 0;
}

// Times squares by one kernel with different constants, to learn what bounds a GPU.
//
//     cmake --build build --target kernel_lab
//     build/kernel_lab build/product.spv LIST [SIZE]     on squares of SIZE (4096)
//
// A line of the list is a name, a layout (NN, NT or TN) and constants: "one-slice NT SLICE=64 GROUP=128". Where a
// constant leaves out a part of the work, the result is not looked at. Of each line it prints the best and the median
// speed, the largest error of 24 elements of y, and the driver's statistics of the kernel. Status: 0, 1 if a kernel
// fails or is wrong, 2 for a wrong list.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/half.h"
#include "base/random.h"
#include "program/warm_up.h"
#include "vulkan/buffer.h"
#include "vulkan/device/device.h"
#include "vulkan/device/driver_statistics.h"
#include "vulkan/hazards.h"
#include "vulkan/kernel/kernel.h"
#include "vulkan/kernel/spirv.h"
#include "vulkan/recorder.h"

namespace vkf {

namespace {

std::vector<std::uint32_t> module_words;  // the program's only kernel

std::vector<std::uint16_t> random_numbers(std::size_t count, const char* name) {
    Random random(1, name);
    std::vector<std::uint16_t> list(count);
    for (std::uint16_t& x : list) x = to_bfloat16(2 * random.uniform() - 1);
    return list;
}

struct Line {
    std::string name, layout;
    KernelConstants constants;

    std::uint32_t value(const char* constant, std::uint32_t otherwise) const {
        const auto at = std::ranges::find(constants, constant, &KernelConstants::value_type::first);
        return at == constants.end() ? otherwise : at->second;
    }
    bool whole() const { return value("FETCHES", 1) && value("STORES", 1) && value("MULTIPLIES", 1); }
};

std::vector<Line> read_list(const char* path) {
    std::ifstream file(path);
    std::vector<Line> list;
    for (std::string text; std::getline(file, text);) {
        if (text.empty() || text.front() == '#') continue;
        std::istringstream words(text);
        Line made;
        words >> made.name >> made.layout;
        require(made.layout == "NN" || made.layout == "NT" || made.layout == "TN", path, ": ", made.name,
                ": wanted NN, NT or TN");
        made.constants = {{"TRANSPOSE_A", made.layout[0] == 'T'}, {"TRANSPOSE_B", made.layout[1] == 'T'}};
        for (std::string word; words >> word;) {
            const std::size_t at = word.find('=');
            require(at != std::string::npos, path, ": ", made.name, ": wanted CONSTANT=NUMBER, found ", word);
            made.constants.emplace_back(word.substr(0, at),
                                        static_cast<std::uint32_t>(std::stoul(word.substr(at + 1))));
        }
        if (made.value("GROUP", 0) == 0) made.constants.emplace_back("GROUP", 128);
        list.push_back(std::move(made));
    }
    require(!list.empty(), path, " lists nothing");
    return list;
}

/// The operands, and y as it is on the device.
class Square {
public:
    Square(Device& device, std::uint32_t size)
        : size_(size),
          host_a_(random_numbers(std::size_t{size} * size, "a")),
          host_b_(random_numbers(std::size_t{size} * size, "b")),
          a_(device, host_a_.size() * 2, Memory::device, "a"),
          b_(device, host_b_.size() * 2, Memory::device, "b"),
          y_(device, host_a_.size() * 4, Memory::device, "y") {
        a_.write(0, std::as_bytes(std::span(host_a_)));
        b_.write(0, std::as_bytes(std::span(host_b_)));
    }

    double flops() const { return 2.0 * size_ * size_ * size_; }

    void record(Recorder& recorder, const Kernel& kernel, const Line& line) const {
        std::vector<std::byte> push(kernel.reflection.push_bytes);
        for (const ArgMember& member : kernel.reflection.args) {
            const std::uint64_t address = member.name == "a"   ? a_.address()
                                          : member.name == "b" ? b_.address()
                                                               : y_.address();
            std::memcpy(&push[member.offset], &address, member.kind == ArgKind::address ? 8 : 0);
            if (member.kind == ArgKind::u32) std::memcpy(&push[member.offset], &size_, 4);
        }
        const std::uint64_t tiles =
            std::uint64_t{size_ / line.value("TILE_M", 128)} * (size_ / line.value("TILE_N", 128));
        recorder.dispatch(kernel, push, tiles, std::vector<Access>{{y_.address(), y_.address() + y_.bytes(), true}});
    }

    void forget() { y_.fill(~0u); }

    /// Largest error of 24 elements; infinite if one was not written.
    double error(const std::string& layout) const {
        std::vector<float> found(host_a_.size());
        y_.read(0, std::as_writable_bytes(std::span(found)));
        double largest = 0;
        for (std::size_t t = 0; t < 24; ++t) {
            const std::size_t row = t * 102947 % size_, column = t * 104729 % size_;
            double wanted = 0;
            for (std::size_t k = 0; k < size_; ++k)
                wanted +=
                    static_cast<double>(from_bfloat16(host_a_[layout[0] == 'T' ? k * size_ + row : row * size_ + k])) *
                    from_bfloat16(host_b_[layout[1] == 'T' ? column * size_ + k : k * size_ + column]);
            const double off = std::abs(wanted - found[row * size_ + column]);
            largest = std::isfinite(off) ? std::max(largest, off) : HUGE_VAL;
        }
        return largest;
    }

private:
    std::uint32_t size_;
    std::vector<std::uint16_t> host_a_, host_b_;
    Buffer a_, b_, y_;
};

/// Milliseconds of launches one after the other, sorted.
std::vector<double> times(Device& device, const Square& square, const Kernel& kernel, const Line& line) {
    Recorder recorder(device);
    recorder.stamp();
    for (int launch = 0; launch < 20; ++launch) {
        square.record(recorder, kernel, line);
        recorder.stamp();
    }
    Commands commands = recorder.finish();
    const auto run = [&] { wait(device, commands.submit()); };
    warm_up(device, run);
    run();
    std::vector<double> list = commands.stamps_ms();
    std::ranges::sort(list);
    return list;
}

/// Times one line. Returns false if the result is wrong.
bool measure(Device& device, Square& square, const Line& line) {
    const KernelRequest request{"product", line.constants};
    const Kernel& made = kernel(device, request);
    square.forget();
    const std::vector<double> ms = times(device, square, made, line);
    const auto speed = [&](double of) { return square.flops() / of * 1e-9; };
    std::string words;
    double error = 0;
    if (line.whole()) words = text(", error ", error = square.error(line.layout));
    if (has_driver_statistics(device))
        for (const auto& [name, number] : driver_statistics(device, request).numbers)
            words += text(", ", name, ' ', number);
    std::printf("%-28s %8.2f TFLOP/s, median %.2f%s\n", line.name.c_str(), speed(ms.front()), speed(ms[ms.size() / 2]),
                words.c_str());
    std::fflush(stdout);
    return error < 0.01;
}

int run(int argc, char** argv) {
    require(argc == 3 || argc == 4, "wanted MODULE.spv LIST [SIZE]");
    std::ifstream file(argv[1], std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    require(!bytes.empty() && bytes.size() % 4 == 0, argv[1], " is no SPIR-V module");
    module_words.resize(bytes.size() / 4);
    std::memcpy(module_words.data(), bytes.data(), bytes.size());
    const std::vector<Line> list = read_list(argv[2]);
    Device device;
    std::vector<KernelRequest> requests;
    for (const Line& line : list) requests.push_back({"product", line.constants});
    make_kernels_ahead(device, requests, [](std::size_t, std::size_t) { return true; });
    Square square(device, argc == 4 ? static_cast<std::uint32_t>(std::stoul(argv[3])) : 4096);
    std::printf("%s, %s, %u bytes of shared memory\n", device.info().name.c_str(), device.info().driver.c_str(),
                device.info().shared_bytes);
    int status = 0;
    for (const Line& line : list) try {
            if (!measure(device, square, line)) status = 1;
        } catch (const DeviceHang&) {
            throw;
        } catch (const std::exception& error) {
            std::printf("%-28s %s\n", line.name.c_str(), error.what());
            status = 1;
        }
    return status;
}

}  // namespace

// The linker takes this one and leaves that of the shaders' library alone.
std::span<const SpirvModule> embedded_spirv() {
    static const SpirvModule modules[]{{"product", module_words}};
    return modules;
}

}  // namespace vkf

int main(int argc, char** argv) try { return vkf::run(argc, argv); } catch (const std::exception& error) {
    std::fprintf(stderr, "kernel_lab: %s\n", error.what());
    return dynamic_cast<const vkf::InputError*>(&error) ? 2 : 1;
}

#include "base/files/small_file.h"

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/files/os_folder.h"
#include "base/files/published.h"

namespace vkf {

namespace {

os::File open_small(const std::filesystem::path& path, Links links) {
    constexpr auto how = os::Open::read_at_once;
    if (links == Links::followed) return open_published(path, how);
    return os::Folder(path.parent_path()).open(path.filename(), how);
}

}  // namespace

std::string read_small_text(const std::filesystem::path& path, std::uint64_t limit, Links links) {
    const auto failed = [&] { return InputError("cannot read ", path.string(), ": ", std::strerror(errno)); };
    const os::File file = open_small(path, links);
    const auto status = file.valid() ? os::status(file.descriptor()) : std::nullopt;
    if (!status) throw failed();
    using Kind = os::FileStatus::Kind;
    require(status->kind == Kind::regular, "cannot read ", path.string(), ": it is ",
            status->kind == Kind::directory ? "a directory" : "not a regular file", ", wanted a file");
    const auto check = [&](std::uint64_t bytes, const char* more) {
        require(bytes <= limit, "cannot read ", path.string(), ": it has ", bytes, more, " bytes, wanted at most ",
                limit);
    };
    check(status->size, "");
    std::string content;
    content.reserve(static_cast<std::size_t>(status->size));
    std::array<char, 1 << 16> chunk;
    for (;;) {
        const auto count = os::read(file.descriptor(), chunk);
        if (!count) throw failed();
        if (*count == 0) return content;
        content.append(chunk.data(), *count);
        check(content.size(), " or more");  // it may grow, and some systems' files report no size
    }
}

}  // namespace vkf

#include "models/data/images/md5.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/files/os_file.h"
#include "base/text/windows_text.h"

// Must follow Windows' own header.
#include <bcrypt.h>

namespace vkf {

namespace {

constexpr std::size_t PORTION = std::size_t{1} << 20;

void check(NTSTATUS status) {
    if (status < 0) throw Error("Windows computes no MD5: status ", static_cast<std::uint32_t>(status));
}

struct Close {
    void operator()(BCRYPT_HASH_HANDLE hash) const { ::BCryptDestroyHash(hash); }
};
struct CloseProvider {
    void operator()(BCRYPT_ALG_HANDLE provider) const { ::BCryptCloseAlgorithmProvider(provider, 0); }
};

}  // namespace

std::string md5_of(const std::filesystem::path& path, const GoOn& go_on) {
    BCRYPT_ALG_HANDLE opened = nullptr;
    check(::BCryptOpenAlgorithmProvider(&opened, BCRYPT_MD5_ALGORITHM, nullptr, 0));
    const std::unique_ptr<void, CloseProvider> provider(opened);
    BCRYPT_HASH_HANDLE begun = nullptr;
    check(::BCryptCreateHash(provider.get(), &begun, nullptr, 0, nullptr, 0, 0));
    const std::unique_ptr<void, Close> hash(begun);

    const os::File file(path, os::Open::read);
    std::vector<char> room(PORTION);
    for (;;) {
        const auto bytes = file.valid() ? os::read(file.descriptor(), room) : std::nullopt;
        if (!bytes) throw Error("cannot check ", path.string(), ": ", std::strerror(errno));
        if (*bytes == 0) break;
        if (go_on && !go_on()) throw Error("cannot check ", path.string(), ": stopped");
        check(::BCryptHashData(hash.get(), reinterpret_cast<UCHAR*>(room.data()), static_cast<ULONG>(*bytes), 0));
    }
    std::array<UCHAR, 16> digest{};
    check(::BCryptFinishHash(hash.get(), digest.data(), static_cast<ULONG>(digest.size()), 0));
    std::string made;
    for (const UCHAR byte : digest)
        for (const int digit : {byte >> 4, byte & 15}) made += "0123456789abcdef"[digit];
    return made;
}

}  // namespace vkf

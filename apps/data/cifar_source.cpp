#include "apps/data/cifar_source.h"

#include <algorithm>
#include <optional>

#include "apps/cli/interrupts.h"
#include "apps/cli/progress.h"
#include "base/files/file.h"
#include "base/files/published.h"
#include "models/data/data_paths.h"
#include "models/data/images/md5.h"
#include "models/files/held_files.h"

namespace vkf {
namespace fs = std::filesystem;
namespace {

constexpr const char* ADDRESS = "https://www.cs.toronto.edu/~kriz/";
constexpr int CURL_CANNOT_RESUME = 33;

bool go_on() {
    return !interrupted();
}

void run(const std::vector<std::string>& words, const fs::path& output = {}) {
    const Outcome outcome = run_program(words, go_on, output);
    if (outcome.stopped) throw Interrupted();
    if (outcome.status != 0) throw Error(words[0], " failed: ", outcome.complaint());
}

// --- Files that may be there ---------------------------------------------------------------------

/// Path of a file in the folder, plain or packed by xz; a plain file of another size is not the official one.
std::optional<fs::path> loose_file(const fs::path& folder, const CifarFile& file, const CifarFormat& format) {
    std::error_code error;
    const fs::path plain = folder / file.name, packed = plain.string() + ".xz";
    if (fs::file_size(plain, error) == file.records * format.record_bytes() && !error) return plain;
    if (fs::is_regular_file(packed, error)) return packed;
    return std::nullopt;
}

bool holds_all(const fs::path& folder, const CifarFormat& format) {
    return std::ranges::all_of(format.files,
                               [&](const CifarFile& file) { return loose_file(folder, file, format).has_value(); });
}

std::optional<fs::path> find_loose(const CifarFormat& format) {
    for (const fs::path& folder : data_folders())
        for (const fs::path& place :
             {folder / format.name, folder / format.name / format.folder, folder / format.folder, folder})
            if (holds_all(place, format)) return place;
    return std::nullopt;
}

std::optional<fs::path> find_archive(const CifarFormat& format) {
    std::error_code ignored;
    for (const fs::path& folder : data_folders())
        for (const fs::path& path : {folder / format.archive, folder / format.name / format.archive})
            if (fs::is_regular_file(path, ignored)) return path;
    return std::nullopt;
}

std::vector<fs::path> names_of(const CifarFormat& format) {
    std::vector<fs::path> names = {format.names};
    if (!format.coarse_names.empty()) names.emplace_back(format.coarse_names);
    return names;
}

// --- Verifying -----------------------------------------------------------------------------------

void copy_whole(const fs::path& from, const fs::path& to) {
    write_atomically(to, [&](FileWriter& file) { file.write(MappedFile(from).bytes()); });
}

/// Verifies labels and balance. Messages name `shown` instead of `folder`, which may be temporary.
void verify_labels(const CifarFormat& format, const fs::path& folder, const fs::path& shown) try {
    verify_balance(open_cifar(format, folder), folder);
    if (format.coarse_classes > 0) verify_balance(open_cifar(format, folder, true), folder);
} catch (const InputError& error) {
    std::string message = error.what();
    if (const std::size_t at = message.find(folder.string()); at != std::string::npos)
        message.replace(at, folder.string().size(), shown.string());
    throw InputError(message);
}

void verify_there(const CifarFormat& format, const fs::path& folder) {
    for (const CifarFile& file : format.files)
        verify_cifar_file(file, format, folder / file.name, folder / file.name, go_on);
    verify_labels(format, folder, folder);
}

/// File of a download's received part.
fs::path part_of(const CifarFormat& format, const fs::path& out) {
    return out / text(format.archive, ".part");
}

// --- Ways to get the files -----------------------------------------------------------------------

void unpack_file(const fs::path& packed, const fs::path& to) {
    const Outcome outcome = run_program({"xz", "-dc", "--", packed.string()}, go_on, to);
    if (outcome.stopped) throw Interrupted();
    if (outcome.status == 0) return;
    // xz has one status for a bad file and for a full disk, so test the file again without writing.
    const bool bad = run_program({"xz", "-tq", "--", packed.string()}, go_on).status != 0 && go_on();
    require(!bad, packed.string(), ": cannot be unpacked (", outcome.complaint(), ")");
    throw Error("cannot write ", to.string(), ": ", outcome.complaint());
}

void take_loose(const CifarFormat& format, const fs::path& from, ClaimedDirectory& out) {
    const auto fill = [&](const fs::path& folder) {
        for (const CifarFile& file : format.files) {
            const fs::path source = loose_file(from, file, format).value_or(from / file.name);
            source.extension() == ".xz" ? unpack_file(source, folder / file.name)
                                        : copy_whole(source, folder / file.name);
            verify_cifar_file(file, format, folder / file.name, source, go_on);
        }
        std::error_code ignored;
        for (const fs::path& name : names_of(format))
            if (fs::exists(from / name, ignored)) copy_whole(from / name, folder / name);
        verify_labels(format, folder, from);
    };
    out.publish(fill);
}

void unpack_archive(const CifarFormat& format, const fs::path& archive, ClaimedDirectory& out) {
    const auto fill = [&](const fs::path& folder) {
        const fs::path all = folder / "all";
        std::error_code error;
        fs::create_directory(all, error);
        run({"tar", "-xzf", archive.string(), "-C", all.string(), "--no-same-owner"});
        const auto take = [&](const fs::path& name) {
            fs::rename(all / format.folder / name, folder / name, error);
            if (error) throw Error(archive.string(), ": holds no ", text(format.folder, '/', name.string()));
        };
        for (const CifarFile& file : format.files) {
            take(file.name);
            verify_cifar_file(file, format, folder / file.name, archive / file.name, go_on);
        }
        for (const fs::path& name : names_of(format)) take(name);
        fs::remove_all(all, error);
        verify_labels(format, folder, archive);
    };
    out.publish(fill);
}

/// Downloads the archive, or the rest of it.
void download(const Common& common, const CifarFormat& format, const fs::path& part) {
    const auto arrived = [&] {
        std::error_code error;
        const std::uintmax_t bytes = fs::file_size(part, error);
        return error ? 0 : bytes;
    };
    constexpr std::uintmax_t MB = 1'000'000;
    const auto megabytes = [](std::uintmax_t bytes) { return static_cast<std::int64_t>(bytes / MB); };
    Progress progress(common, text("downloading ", format.archive), "MB", megabytes(format.archive_bytes),
                      megabytes(arrived()));
    const auto watch = [&] {
        progress.update(megabytes(arrived()));
        return go_on();
    };
    const std::string address = text(ADDRESS, format.archive);
    const auto fail = [&](const std::string& why) {
        throw Error("cannot download ", address, " (", why, "), and ", format.archive, " is not in ", DATA_FOLDERS,
                    arrived() > 0 ? "; what has arrived is kept, the same command goes on from there" : "");
    };
    while (arrived() < format.archive_bytes) {
        Outcome outcome;
        try {
            outcome = run_program({"curl", "-fsSL", "--connect-timeout", "20", "--speed-time", "60", "-C", "-", "-o",
                                   part.string(), address},
                                  watch);
        } catch (const Error& error) {
            fail(error.what());
        }
        if (!go_on()) throw Interrupted();
        if (outcome.status == 0) break;
        if (outcome.status != CURL_CANNOT_RESUME || arrived() == 0) fail(outcome.complaint());
        fs::resize_file(part, 0);
    }
}

void fetch_archive(const Common& common, const CifarFormat& format, ClaimedDirectory& out) {
    const fs::path part = part_of(format, out.directory.path());
    std::error_code error;
    const FileLock lock(part);  // no other process appends to it
    try {
        download(common, format, part);
    } catch (...) {
        if (fs::is_empty(part, error)) fs::remove(part, error);
        throw;
    }
    if (const std::string md5 = md5_of(part, go_on); md5 != format.archive_md5) {
        fs::remove(part, error);
        throw Error("the downloaded ", format.archive, " has md5 ", md5, ", wanted ", format.archive_md5,
                    "; it is removed");
    }
    unpack_archive(format, part, out);
    fs::remove(part, error);
}

std::string fetch(const Common& common, const CifarFormat& format, const fs::path& out, bool overwrite) {
    const bool there =
        std::ranges::all_of(format.files, [&](const CifarFile& file) { return file_exists(out / file.name); });
    if (there && holds_all(out, format)) {
        verify_there(format, out);
        return out.string();
    }
    ClaimedDirectory claimed = claim_directory(out, overwrite);
    if (const auto archive = find_archive(format)) {
        const std::string md5 = md5_of(*archive, go_on);
        require(md5 == format.archive_md5, archive->string(), ": md5 is ", md5, ", wanted ", format.archive_md5);
        unpack_archive(format, *archive, claimed);
        return archive->string();
    }
    if (const auto loose = find_loose(format)) {
        take_loose(format, *loose, claimed);
        return loose->string();
    }
    fetch_archive(common, format, claimed);
    return text(ADDRESS, format.archive);
}

}  // namespace

std::string fetch_cifar(const Common& common, const CifarFormat& format, const fs::path& out, bool overwrite) {
    std::error_code ignored;
    const bool new_folder = !fs::exists(out, ignored);
    catch_interrupts();
    try {
        return fetch(common, format, out, overwrite);
    } catch (...) {
        if (new_folder) fs::remove(out, ignored);  // fails if the folder is not empty
        // Ctrl-C also reaches the programs run here, and looks like a failure of theirs.
        if (!interrupted()) throw;
    }
    const bool arrived = fs::exists(part_of(format, out), ignored);
    note(common, text("interrupted; ", out.string(), " holds nothing new",
                      arrived ? " but what has been downloaded, to go on from" : ""));
    throw Interrupted();
}

}  // namespace vkf

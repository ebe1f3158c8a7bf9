// Progress of reading texts.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/cli/progress.h"
#include "models/data/text/documents.h"

namespace vkf {

class ReadingProgress {
public:
    ReadingProgress(const Common& common, std::string title, const std::vector<TextFile>& files)
        : progress_(common, std::move(title), "MB", megabytes(bytes_of(files))) {}

    void update(const Documents& documents) { progress_.update(megabytes(documents.bytes_read())); }

private:
    static std::uint64_t bytes_of(const std::vector<TextFile>& files) {
        std::uint64_t bytes = 0;
        for (const TextFile& file : files) bytes += file.bytes;
        return bytes;
    }
    static std::int64_t megabytes(std::uint64_t bytes) {
        return static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) / 1e6));
    }

    Progress progress_;
};

}  // namespace vkf

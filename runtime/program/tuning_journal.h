// Journal of the trial that is running, which the next start reads.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files/os_file.h"

namespace vkf {

/// A kernel may hang the machine, or end the process in its driver, before any result is known. So each trial is noted
/// in a file next to the cache of tuned kernels and struck out once it is over; a trial that is still noted when its
/// process has ended is what ended the process. Each process has its own file, which is locked while the process lives.
/// A journal that cannot be written is ignored: it must not keep a run from its work.
class TuningJournal {
public:
    /// A problem's family and one of its candidates.
    using Trial = std::pair<std::string, std::string>;

    /// With an empty path nothing is noted.
    explicit TuningJournal(std::filesystem::path cache_file) : beside_(std::move(cache_file)) {}
    TuningJournal(const TuningJournal&) = delete;
    TuningJournal& operator=(const TuningJournal&) = delete;
    ~TuningJournal();

    /// Trials that processes which have ended did not finish. Their files are removed, so each trial is reported once.
    /// A trial without a candidate is the building of all kernels at once.
    std::vector<Trial> left_behind() const;

    /// Writes the trial to disk before it returns.
    void note(const Trial& trial);
    /// Marks the trial as over.
    void strike_out();

private:
    void open();
    bool append(std::string_view line);

    std::filesystem::path beside_, path_;
    os::File file_;
};

}  // namespace vkf

// What is being tried at the moment, where the next start finds it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/os_file.h"

namespace vkf {

/// A kernel may hang the machine, or end the process in its driver, before anything can be said of it. So each trial is
/// noted in a file beside the cache of tuned kernels and struck out once it is over; what a process that has ended left
/// noted is what ended it. The file is the process's own and is locked while that lives. A journal that cannot be
/// written is none: it must not keep a run from its work.
class TuningJournal {
public:
    /// A problem's family and one of its candidates.
    using Trial = std::pair<std::string, std::string>;

    /// Without a path nothing is noted.
    explicit TuningJournal(std::filesystem::path cache_file) : beside_(std::move(cache_file)) {}
    TuningJournal(const TuningJournal&) = delete;
    TuningJournal& operator=(const TuningJournal&) = delete;
    ~TuningJournal();

    /// What processes that have ended did not come back from, each with whoever knows of it told once: their files are
    /// removed. A trial without a candidate is the making of all kernels at once.
    std::vector<Trial> left_behind() const;

    /// On disk before it returns.
    void note(const Trial& trial);
    /// The trial is over.
    void strike_out();

private:
    void open();
    bool append(std::string_view line);

    std::filesystem::path beside_, path_;
    os::File file_;
};

}  // namespace vkf

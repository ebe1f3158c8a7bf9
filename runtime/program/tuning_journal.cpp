#include "program/tuning_journal.h"

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/files/small_file.h"
#include "base/os/os.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".trying", over = "\n";
constexpr std::uint64_t LARGEST_JOURNAL = 1 << 20;  // bytes; a line has a hundred

/// Family and candidate in a journal's last line; nullopt if there are none.
std::optional<TuningJournal::Trial> last_of(std::string words) {
    if (!words.ends_with('\n')) return std::nullopt;
    words.pop_back();
    const std::string line = words.substr(words.rfind('\n') + 1);
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos) return std::nullopt;
    return TuningJournal::Trial(line.substr(0, tab), line.substr(tab + 1));
}

}  // namespace

TuningJournal::~TuningJournal() {
    if (!file_.valid()) return;
    file_.close();
    std::error_code ignored;
    fs::remove(path_, ignored);
}

std::vector<TuningJournal::Trial> TuningJournal::left_behind() const {
    std::vector<Trial> list;
    std::error_code ignored;
    const std::string begins = beside_.filename().string() + '.';
    for (fs::directory_iterator at(beside_.parent_path(), ignored), end; at != end; at.increment(ignored)) {
        const std::string name = at->path().filename().string();
        if (!name.starts_with(begins) || !name.ends_with(ending) || !at->is_regular_file(ignored)) continue;
        os::File file = os::File::locked(at->path());
        if (!file.valid()) continue;  // its process is alive
        try {
            if (const auto trial = last_of(read_small_text(at->path(), LARGEST_JOURNAL, Links::refused)))
                list.push_back(*trial);
        } catch (const std::exception&) {
            // An unreadable journal is ignored.
        }
        file.close();
        fs::remove(at->path(), ignored);
    }
    return list;
}

void TuningJournal::open() {
    static std::atomic<unsigned> count = 0;
    std::error_code ignored;
    fs::create_directories(beside_.parent_path(), ignored);
    path_ = beside_.string() + text('.', os::process_id(), '-', ++count, ending);
    file_ = os::File::locked(path_);
}

bool TuningJournal::append(std::string_view line) {
    return os::write(file_.descriptor(), std::as_bytes(std::span(line)));
}

void TuningJournal::note(const Trial& trial) {
    if (beside_.empty()) return;
    if (!file_.valid()) open();
    if (file_.valid() && append(trial.first + '\t' + trial.second + '\n')) os::flush(file_);
}

void TuningJournal::strike_out() {
    if (file_.valid()) append(over);
}

}  // namespace vkf

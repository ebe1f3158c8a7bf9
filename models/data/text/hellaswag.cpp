#include "models/data/text/hellaswag.h"

#include <sstream>

#include "base/error.h"
#include "base/files/file.h"
#include "base/text/json.h"
#include "base/text/utf8.h"

namespace vkf {
namespace {

constexpr std::size_t CHOICES = 4;

// Lines of a file, counted from 1.
class Lines {
public:
    explicit Lines(const std::filesystem::path& path) : file_(path.string()), stream_(read_text(path)) {
        const auto wrong = invalid_utf8(stream_.view());
        require(!wrong, file_, ": is not UTF-8 at byte ", wrong.value_or(0));
    }

    bool next(std::string& line) {
        ++number_;
        if (!std::getline(stream_, line)) return false;
        if (line.ends_with('\r')) line.pop_back();
        return true;
    }
    std::string where() const { return text(file_, ": line ", number_); }
    const std::string& file() const { return file_; }

private:
    std::string file_;
    std::istringstream stream_;
    std::size_t number_ = 0;
};

HellaswagTask task_of(const std::string& line, const std::string& where) {
    const nlohmann::json object = parse_json(line, where);
    const auto at = [&](const char* key) -> const nlohmann::json& {
        require(object.is_object() && object.contains(key), where, ": has no key \"", key, '"');
        return object[key];
    };
    const auto wrong = [&](const char* key, const char* wanted) {
        throw InputError(where, ": \"", key, "\" is ", one_line(at(key)), ", wanted ", wanted);
    };
    HellaswagTask task;
    if (!at("ctx").is_string()) wrong("ctx", "a string");
    task.context = at("ctx").get<std::string>();
    const nlohmann::json& endings = at("endings");
    if (!endings.is_array() || endings.size() != CHOICES) wrong("endings", "four strings");
    for (std::size_t i = 0; i < CHOICES; ++i) {
        if (!endings[i].is_string()) wrong("endings", "four strings");
        task.endings[i] = endings[i].get<std::string>();
    }
    // Hugging Face's copy of the data has labels as strings, ours and the authors' as numbers.
    for (task.label = 0; task.label < CHOICES; ++task.label)
        if (at("label") == task.label || at("label") == std::to_string(task.label)) return task;
    throw InputError(where, ": \"label\" is ", one_line(at("label")), ", wanted 0 to 3");
}

std::vector<HellaswagTask> read_objects(Lines lines) {
    std::vector<HellaswagTask> tasks;
    for (std::string line; lines.next(line);)
        if (!line.empty()) tasks.push_back(task_of(line, lines.where()));
    return tasks;
}

std::vector<HellaswagTask> read_groups(Lines lines) {
    std::vector<HellaswagTask> tasks;
    const auto read = [&](std::string& line, const char* wanted) {
        const bool there = lines.next(line);
        require(there, lines.where(), ": is missing, wanted ", wanted);
        require(!line.empty(), lines.where(), ": is empty, wanted ", wanted);
    };
    for (HellaswagTask task; lines.next(task.context); tasks.push_back(task)) {
        require(!task.context.empty(), lines.where(), ": is empty, wanted a context");
        std::string label;
        read(label, "a label");
        require(label.size() == 1 && label[0] >= '0' && label[0] < '0' + static_cast<int>(CHOICES), lines.where(),
                ": found ", one_line(nlohmann::json(label)), ", wanted a label, 0 to 3");
        task.label = static_cast<std::size_t>(label[0] - '0');
        for (std::string& ending : task.endings) read(ending, "an ending");
    }
    return tasks;
}

}  // namespace

std::vector<HellaswagTask> read_hellaswag(const std::filesystem::path& path) {
    Lines lines(path);
    auto tasks = path.extension() == ".jsonl" ? read_objects(std::move(lines)) : read_groups(std::move(lines));
    require(!tasks.empty(), path.string(), ": has no tasks");
    return tasks;
}

}  // namespace vkf

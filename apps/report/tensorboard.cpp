#include "apps/report/tensorboard.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "apps/cli/option_values.h"
#include "apps/report/event_file.h"
#include "base/error.h"
#include "base/text/plain_text.h"
#include "base/text/utc_time.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

// --- Messages, by TensorBoard's .proto files -------------------------------------------------------

namespace event_field {  // compat/proto/event.proto
constexpr std::uint32_t wall_time = 1, step = 2, file_version = 3, summary = 5;
}
namespace summary_field {  // compat/proto/summary.proto: Summary, its Value and Image, SummaryMetadata
constexpr std::uint32_t value = 1;
constexpr std::uint32_t tag = 1, simple_value = 2, image = 4, tensor = 8, metadata = 9;
constexpr std::uint32_t height = 1, width = 2, colorspace = 3, encoded_image_string = 4;  // of an image
constexpr std::int64_t rgb = 3;
constexpr std::uint32_t plugin_data = 1, data_class = 4;
constexpr std::uint32_t plugin_name = 1, content = 2;
constexpr std::int64_t data_class_tensor = 2;
}  // namespace summary_field
namespace tensor_field {  // compat/proto/tensor.proto, types.proto
constexpr std::uint32_t dtype = 1, tensor_shape = 2, tensor_content = 4, string_val = 8;
constexpr std::int64_t dt_float = 1, dt_string = 7;
}  // namespace tensor_field
namespace hparams_field {  // plugins/hparams/plugin_data.proto: HParamsPluginData, SessionStartInfo, SessionEndInfo
constexpr std::uint32_t session_start_info = 3, session_end_info = 4;
constexpr std::uint32_t values = 1, group_name = 4, start_time_secs = 5;
constexpr std::uint32_t status = 1, end_time_secs = 2;
constexpr std::int64_t status_success = 1;  // api.proto
}  // namespace hparams_field
namespace map_entry {
constexpr std::uint32_t key = 1, value = 2;
}
namespace any_value {  // google/protobuf/struct.proto: Value
constexpr std::uint32_t number_value = 2, string_value = 3, bool_value = 4;
}

/// Summary of a value that one of TensorBoard's plugins shows.
ProtobufMessage plugin_value(const std::string& tag, const std::string& plugin, const ProtobufMessage& content,
                             const ProtobufMessage& tensor) {
    ProtobufMessage data, metadata, value;
    data.bytes(summary_field::plugin_name, plugin).message(summary_field::content, content);
    metadata.message(summary_field::plugin_data, data)
        .varint(summary_field::data_class, summary_field::data_class_tensor);
    value.bytes(summary_field::tag, tag)
        .message(summary_field::metadata, metadata)
        .message(summary_field::tensor, tensor);
    return value;
}

/// A text, which TensorBoard reads as Markdown; indented, it is shown as it is.
ProtobufMessage text_value(const std::string& tag, const std::string& lines) {
    std::string indented;
    for (std::size_t at = 0; at < lines.size();) {
        const std::size_t end = std::min(lines.find('\n', at), lines.size() - 1) + 1;
        indented += "    " + lines.substr(at, end - at);
        at = end;
    }
    ProtobufMessage tensor;
    tensor.varint(tensor_field::dtype, tensor_field::dt_string)
        .message(tensor_field::tensor_shape, {})
        .bytes(tensor_field::string_val, indented);
    return plugin_value(tag, "text", {}, tensor);
}

/// A picture; its bytes are those of the file.
ProtobufMessage image_value(const ReportPicture& picture) {
    ProtobufMessage image, value;
    image.varint(summary_field::height, picture.height)
        .varint(summary_field::width, picture.width)
        .varint(summary_field::colorspace, summary_field::rgb)
        .bytes(summary_field::encoded_image_string, picture.bytes);
    value.bytes(summary_field::tag, plain_line(picture.name)).message(summary_field::image, image);
    return value;
}

/// Information on hyper-parameters; its tensor, which every value must have, is a single 0.
ProtobufMessage hparams_value(const std::string& tag, std::uint32_t field, const ProtobufMessage& info) {
    ProtobufMessage content, tensor;
    content.message(field, info);
    tensor.varint(tensor_field::dtype, tensor_field::dt_float)
        .message(tensor_field::tensor_shape, {})
        .bytes(tensor_field::tensor_content, std::string(sizeof(float), '\0'));
    return plugin_value("_hparams_/" + tag, "hparams", content, tensor);
}

ProtobufMessage scalar_value(const std::string& tag, double number) {
    using Limits = std::numeric_limits<float>;
    ProtobufMessage value;
    return value.bytes(summary_field::tag, tag)
        .real32(summary_field::simple_value, number > Limits::max()      ? Limits::infinity()
                                             : number < Limits::lowest() ? -Limits::infinity()
                                                                         : static_cast<float>(number));
}

ProtobufMessage start_info(const RunLog& run, const std::string& group, double start) {
    ProtobufMessage info;
    for (const ConfigEntry& option : run.options) {
        ProtobufMessage value, entry;
        if (const auto* flag = std::get_if<bool>(&option.value))
            value.varint(any_value::bool_value, *flag);
        else if (const auto* whole = std::get_if<std::int64_t>(&option.value))
            value.real(any_value::number_value, static_cast<double>(*whole));
        else if (const auto* real = std::get_if<double>(&option.value))
            value.real(any_value::number_value, *real);
        else
            value.bytes(any_value::string_value, argument(option.value));
        info.message(hparams_field::values, entry.bytes(map_entry::key, option.key).message(map_entry::value, value));
    }
    if (!group.empty()) info.bytes(hparams_field::group_name, plain_line(group));
    return info.real(hparams_field::start_time_secs, start);
}

// --- A run -----------------------------------------------------------------------------------------

/// Estimates of the times of a run's steps, in seconds since 1970.
class RunClock {
public:
    explicit RunClock(const RunLog& run) {
        for (const RunPart& part : run.parts)
            if (const auto start = utc_seconds(part.fact("start")))
                starts_.emplace_back(part.step, static_cast<double>(*start));
        const Series* ms = run.find("ms");
        if (!ms) return;
        double sum = 0, before = ms->steps.front() - 1;
        for (std::size_t i = 0; i < ms->steps.size(); ++i) {
            sum += ms->values[i] / 1000 * (ms->steps[i] - std::exchange(before, ms->steps[i]));
            sums_[ms->steps[i]] = sum;
        }
    }
    double start() const { return starts_.empty() ? 0 : starts_.front().second; }
    /// End of a step.
    double at(double step) const {
        const auto next = std::ranges::upper_bound(starts_, step, {}, &std::pair<double, double>::first);
        if (next == starts_.begin()) return spent(sums_.upper_bound(step));
        const auto [first, start] = *std::prev(next);
        return start + spent(sums_.upper_bound(step)) - spent(sums_.lower_bound(first));
    }

private:
    using Sums = std::map<double, double>;
    /// Time of the steps before.
    double spent(Sums::const_iterator end) const { return end == sums_.begin() ? 0 : std::prev(end)->second; }

    std::vector<std::pair<double, double>> starts_;  // of parts, by their first steps
    Sums sums_;                                      // time of the steps up to a step
};

/// Values of a run by step.
class Summaries {
public:
    explicit Summaries(const RunLog& run) : name_(run.name) {
        for (const auto& [metric, series] : run.series) add(metric, series);
        for (const auto& [statistic, values] : run.probes) {
            for (std::size_t i = 0; i < values.all.size(); ++i) add(statistic + '/' + run.layers[i], values.all[i]);
            for (std::size_t i = 0; i < values.first.size(); ++i)
                add(statistic + "_first/" + run.layers[i], values.first[i]);
        }
    }
    void add(double step, const ProtobufMessage& value) {
        require(std::abs(step) <= 0x1p53, name_, ": metrics.jsonl has a step ", step, ", wanted at most 2^53");
        steps_[step].message(summary_field::value, value);
    }
    const std::map<double, ProtobufMessage>& steps() const { return steps_; }

private:
    void add(const std::string& tag, const Series& series) {
        for (std::size_t i = 0; i < series.steps.size(); ++i)
            if (std::isfinite(series.values[i])) add(series.steps[i], scalar_value(tag, series.values[i]));
    }

    std::string name_;
    std::map<double, ProtobufMessage> steps_;
};

/// True if the run has done the steps that train.toml says.
bool is_complete(const RunLog& run, double last) {
    const std::optional<double> steps = read_number(run.option("max-iters"));
    return steps && last >= *steps;
}

/// Directory of a run without "." and "..", and without a separator at its end.
fs::path plain_directory(const std::string& directory) {
    const fs::path path = fs::absolute(directory).lexically_normal();
    return path.has_filename() ? path.relative_path() : path.parent_path().relative_path();
}

}  // namespace

std::vector<fs::path> event_folders(const std::vector<RunLog>& runs) {
    std::vector<fs::path> folders;
    for (const RunLog& run : runs) {
        folders.push_back(plain_directory(run.name));
        require(std::ranges::count(folders, folders.back()) == 1, run.name,
                " is named twice, wanted each run once for --tensorboard");
    }
    fs::path shared = folders.front().parent_path();
    const auto is_below = [&](const fs::path& folder) {
        return std::ranges::mismatch(shared, folder.parent_path()).in1 == shared.end();
    };
    while (!std::ranges::all_of(folders, is_below)) shared = shared.parent_path();
    for (fs::path& folder : folders)
        if (!shared.empty()) folder = folder.lexically_relative(shared);
    return folders;
}

std::string event_file(const RunLog& run, const std::string& group, const std::vector<ReportPicture>& pictures) {
    const RunClock clock(run);
    Summaries summaries(run);
    std::string options;
    for (const ConfigEntry& option : run.options) options += toml_line(option.key, option.value);
    const double first = summaries.steps().empty() ? 0 : summaries.steps().begin()->first;
    const double last = summaries.steps().empty() ? 0 : summaries.steps().rbegin()->first;
    if (!options.empty()) {
        summaries.add(first, text_value("configuration", options));
        summaries.add(first, hparams_value("session_start_info", hparams_field::session_start_info,
                                           start_info(run, group, clock.start())));
    }
    for (const RunPart& part : run.parts) {
        std::string lines;
        for (const auto& [name, fact] : part.facts) lines += plain_line(name) + ": " + plain_line(fact) + '\n';
        if (!lines.empty()) summaries.add(part.step, text_value("run", lines));
    }
    for (const auto& [step, words] : run.samples) summaries.add(step, text_value("sample", plain_text(words)));
    for (const ReportPicture& picture : pictures) summaries.add(last, image_value(picture));
    if (!options.empty() && is_complete(run, last)) {
        ProtobufMessage info;
        info.varint(hparams_field::status, hparams_field::status_success)
            .real(hparams_field::end_time_secs, clock.at(last));
        summaries.add(last, hparams_value("session_end_info", hparams_field::session_end_info, info));
    }
    ProtobufMessage version;
    version.real(event_field::wall_time, clock.start()).bytes(event_field::file_version, "brain.Event:2");
    std::string file = tf_record(version.wire());
    for (const auto& [step, values] : summaries.steps()) {
        ProtobufMessage event;
        event.real(event_field::wall_time, clock.at(step))
            .varint(event_field::step, static_cast<std::int64_t>(step))
            .message(event_field::summary, values);
        file += tf_record(event.wire());
    }
    return file;
}

}  // namespace vkf

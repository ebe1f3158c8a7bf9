// vkformer report: training runs on one page of HTML, their figures as pictures, their numbers as a table or for
// TensorBoard.

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/cli/option_values.h"
#include "apps/cli/output_file.h"
#include "apps/inspect/facts.h"
#include "apps/report/report_page.h"
#include "apps/report/tensorboard.h"
#include "base/files/file.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

struct ReportOptions {
    std::vector<std::string> runs, pictures;
    std::string out, plots, csv, tensorboard;
    bool overwrite = false;
};

std::vector<ReportSection> sections_of(const std::vector<RunGroup>& groups) {
    std::vector<ReportSection> sections{{"Training", training_figures(groups)},
                                        {"Attention by depth, at the last probe", depth_figures(groups)}};
    for (const RunGroup& group : groups) {
        const RunLog& run = *group.runs.front();
        sections.push_back({"Attention of " + run.name, probe_figures(run)});
    }
    return sections;
}

/// A row for each run and step that has numbers.
std::string csv_of(const std::vector<RunLog>& runs) {
    std::set<std::string> metrics;
    for (const RunLog& run : runs)
        for (const auto& [name, series] : run.series) metrics.insert(name);
    const auto quoted = [](const std::string& words) {
        std::string made = "\"";
        for (const char c : words) made += c == '"' ? "\"\"" : std::string(1, c);
        return made + '"';
    };
    std::string made = "run,step";
    for (const std::string& name : metrics) made += ',' + quoted(name);
    made += '\n';
    for (const RunLog& run : runs) {
        std::map<double, std::map<std::string, double>> rows;
        for (const auto& [name, series] : run.series)
            for (std::size_t i = 0; i < series.steps.size(); ++i) rows[series.steps[i]][name] = series.values[i];
        for (const auto& [step, values] : rows) {
            made += quoted(run.name) + ',' + shortest(step);
            for (const std::string& name : metrics) {
                const auto found = values.find(name);
                made += ',' + (found == values.end() ? "" : shortest(found->second));
            }
            made += '\n';
        }
    }
    return made;
}

/// Throws InputError if the file would replace one.
void require_new(const ReportOptions& o, const fs::path& file) {
    std::error_code ignored;
    require(o.overwrite || !fs::exists(file, ignored), file.string(), " is there already; --overwrite replaces it");
}

/// Writes a file and the folders above it.
void write_below(const fs::path& file, const std::string& content) {
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error) throw Error(file.parent_path().string(), ": cannot make the directory: ", error.message());
    write_atomically(file, content);
}

/// File of a figure: in the folder, or, for those of a run's probes, in a folder of the run's number.
struct FigureFile {
    fs::path path;
    const Figure* figure;
};

/// Pictures of all figures. Throws InputError if one would replace a file.
std::vector<FigureFile> pictures_of(const ReportOptions& o, const std::vector<ReportSection>& sections) {
    std::vector<FigureFile> pictures;
    for (std::size_t i = 0; i < sections.size(); ++i)
        for (const Figure& figure : sections[i].figures) {
            const fs::path folder = i < 2 ? fs::path(o.plots) : fs::path(o.plots) / text("run-", i - 1);
            require_new(o, pictures.emplace_back(folder / (figure.file + ".svg"), &figure).path);
        }
    return pictures;
}

/// Files of events by path, one for each run. Throws InputError if one would replace a file.
std::map<fs::path, std::string> event_files_of(const ReportOptions& o, const std::vector<RunLog>& runs,
                                               const std::vector<RunGroup>& groups,
                                               const std::vector<ReportPicture>& shown) {
    std::map<fs::path, std::string> files;
    const std::vector<fs::path> folders = event_folders(runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const auto group = std::ranges::find_if(
            groups, [&](const RunGroup& each) { return std::ranges::count(each.runs, &runs[i]) > 0; });
        const fs::path file = fs::path(o.tensorboard) / folders[i] / event_file_name;
        require_new(o, file);
        files[file] = event_file(runs[i], group->runs.size() > 1 ? group->name : "", shown);
    }
    return files;
}

/// Pictures that the user wants to see. Throws InputError if they cannot be shown in all that is to be written.
std::vector<ReportPicture> shown_pictures(const ReportOptions& o) {
    std::vector<ReportPicture> shown;
    for (const std::string& file : o.pictures) shown.push_back(read_report_picture(file));
    if (shown.empty()) return shown;
    require(!o.out.empty() || !o.tensorboard.empty(), "--picture has no effect without --out or --tensorboard");
    if (o.tensorboard.empty()) return shown;
    require(o.runs.size() == 1, "--picture belongs to one run in --tensorboard, and there are ", o.runs.size(),
            ": wanted one run");
    for (const ReportPicture& picture : shown)
        require(picture.media_type == "image/png" || picture.media_type == "image/jpeg", picture.name, " is ",
                picture.media_type, ", which TensorBoard does not show: wanted PNG or JPEG with --tensorboard");
    return shown;
}

void report(const Common& common, const ReportOptions& o) {
    require(!(o.out.empty() && o.plots.empty() && o.csv.empty() && o.tensorboard.empty()),
            "nothing is to be written, wanted --out, --plots, --csv or --tensorboard");
    std::vector<fs::path> read;
    for (const std::string& run : o.runs) {
        read.emplace_back(run);
        read.push_back(fs::path(run) / "metrics.jsonl");
        read.push_back(fs::path(run) / "train.toml");
    }
    for (const std::string& picture : o.pictures) read.emplace_back(picture);
    if (!o.out.empty()) require_output("--out", o.out, read);
    if (!o.csv.empty()) require_output("--csv", o.csv, read);
    std::vector<RunLog> runs;
    for (const std::string& run : o.runs) runs.push_back(read_run_log(run));
    const std::vector<RunGroup> groups = grouped(runs);
    const std::vector<ReportSection> sections = sections_of(groups);
    std::size_t figures = 0;
    for (const ReportSection& section : sections) figures += section.figures.size();
    require(figures > 0, o.runs.front(), ": metrics.jsonl has no number to draw");
    const std::vector<ReportPicture> shown = shown_pictures(o);
    const std::string page = report_page(groups, sections, shown);
    const auto pictures = o.plots.empty() ? std::vector<FigureFile>() : pictures_of(o, sections);
    const auto events =
        o.tensorboard.empty() ? std::map<fs::path, std::string>() : event_files_of(o, runs, groups, shown);
    for (const auto& [path, figure] : pictures) write_below(path, line_plot_svg(figure->plot));
    for (const auto& [path, content] : events) write_below(path, content);
    if (!o.csv.empty()) write_atomically(o.csv, csv_of(runs));
    if (!o.out.empty()) write_atomically(o.out, page);
    nlohmann::ordered_json facts;
    for (const auto& [key, path] : {std::pair("out", &o.out), std::pair("tensorboard", &o.tensorboard)})
        if (!path->empty()) facts[key] = *path;
    facts.update({{"runs", runs.size()}, {"groups", groups.size()}, {"figures", figures}});
    print_facts(common, facts);
}

}  // namespace

void add_report(cli::Command& app, Common& common) {
    cli::Command& command = app.add_subcommand("report", "Training runs on one page of HTML: curves, probes, options");
    auto o = std::make_shared<ReportOptions>();
    command.add_option("runs", o->runs, "Directories of training runs").required().type_name("DIR").any_number();
    command.add_option("--out", o->out, "Page to write").type_name("FILE.html");
    command
        .add_option("--picture", o->pictures, "Picture to show, such as an attention map; may be given several times")
        .type_name("FILE")
        .one_word_each();
    command.add_option("--plots", o->plots, "Directory for every figure as a picture of its own").type_name("DIR");
    command.add_option("--tensorboard", o->tensorboard, "TensorBoard's log directory, for a file of events of each run")
        .type_name("DIR");
    command.add_flag("--overwrite", o->overwrite, "Replace files in the directories of --plots and --tensorboard");
    command.add_option("--csv", o->csv, "Table to write: a row for each step of each run").type_name("FILE.csv");
    add_common(command, common);
    command.footer(
        "Examples:\n"
        "  vkformer report out --out report.html\n"
        "  vkformer report standard belief-star belief-star-2 --out compare.html --csv compare.csv\n"
        "  vkformer report standard belief-star --tensorboard logs\n"
        "  vkformer report out --picture map.svg --out report.html\n"
        "\n"
        "Runs that differ only in their seeds are averaged; bands are one standard deviation up and down. Others get\n"
        "a curve each, named by the options in which they differ. `train --probe-interval` adds figures of "
        "attention.\n"
        "TensorBoard gets each run's numbers, options and parts; it names runs by their directories.\n");
    command.callback([o, &common] { report(common, *o); });
}

}  // namespace vkf

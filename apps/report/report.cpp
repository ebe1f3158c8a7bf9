// vkformer report: training runs on one page of HTML, their figures as pictures, and their numbers as a table.

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/cli/option_values.h"
#include "apps/cli/output_file.h"
#include "apps/inspect/facts.h"
#include "apps/report/report_page.h"
#include "base/files/file.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

struct ReportOptions {
    std::vector<std::string> runs;
    std::string out, plots, csv;
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

/// A figure's picture: in the folder, or, for those of a run's probes, in a folder of the run's number.
struct Picture {
    fs::path path;
    const Figure* figure;
};

/// Pictures of all figures. Throws InputError if one would replace a file.
std::vector<Picture> pictures_of(const ReportOptions& o, const std::vector<ReportSection>& sections) {
    std::vector<Picture> pictures;
    for (std::size_t i = 0; i < sections.size(); ++i)
        for (const Figure& figure : sections[i].figures) {
            const fs::path folder = i < 2 ? fs::path(o.plots) : fs::path(o.plots) / text("run-", i - 1);
            const Picture& made = pictures.emplace_back(folder / (figure.file + ".svg"), &figure);
            std::error_code ignored;
            require(o.overwrite || !fs::exists(made.path, ignored), made.path.string(),
                    " is there already; --overwrite replaces it");
        }
    return pictures;
}

void write_pictures(const std::vector<Picture>& pictures) {
    for (const auto& [path, figure] : pictures) {
        std::error_code error;
        fs::create_directories(path.parent_path(), error);
        if (error) throw Error(path.parent_path().string(), ": cannot make the directory: ", error.message());
        write_atomically(path, line_plot_svg(figure->plot));
    }
}

void report(const Common& common, const ReportOptions& o) {
    std::vector<fs::path> read;
    for (const std::string& run : o.runs) {
        read.emplace_back(run);
        read.push_back(fs::path(run) / "metrics.jsonl");
        read.push_back(fs::path(run) / "train.toml");
    }
    require_output("--out", o.out, read);
    if (!o.csv.empty()) require_output("--csv", o.csv, read);
    std::vector<RunLog> runs;
    for (const std::string& run : o.runs) runs.push_back(read_run_log(run));
    const std::vector<RunGroup> groups = grouped(runs);
    const std::vector<ReportSection> sections = sections_of(groups);
    std::size_t figures = 0;
    for (const ReportSection& section : sections) figures += section.figures.size();
    require(figures > 0, o.runs.front(), ": metrics.jsonl has no number to draw");
    const std::string page = report_page(groups, sections);
    if (!o.plots.empty()) write_pictures(pictures_of(o, sections));
    if (!o.csv.empty()) write_atomically(o.csv, csv_of(runs));
    write_atomically(o.out, page);
    print_facts(common, {{"out", o.out}, {"runs", runs.size()}, {"groups", groups.size()}, {"figures", figures}});
}

}  // namespace

void add_report(cli::Command& app, Common& common) {
    cli::Command& command = app.add_subcommand("report", "Training runs on one page of HTML: curves, probes, options");
    auto o = std::make_shared<ReportOptions>();
    command.add_option("runs", o->runs, "Directories of training runs").required().type_name("DIR").any_number();
    command.add_option("--out", o->out, "Page to write").required().type_name("FILE.html");
    command.add_option("--plots", o->plots, "Directory for every figure as a picture of its own").type_name("DIR");
    command.add_flag("--overwrite", o->overwrite, "Replace pictures in the directory of --plots");
    command.add_option("--csv", o->csv, "Table to write: a row for each step of each run").type_name("FILE.csv");
    add_common(command, common);
    command.footer(
        "Examples:\n"
        "  vkformer report out --out report.html\n"
        "  vkformer report standard belief-star belief-star-2 --out compare.html --csv compare.csv\n"
        "\n"
        "Runs that differ only in their seeds are averaged; bands are one standard deviation up and down. Others get\n"
        "a curve each, named by the options in which they differ. `train --probe-interval` adds figures of "
        "attention.\n");
    command.callback([o, &common] { report(common, *o); });
}

}  // namespace vkf

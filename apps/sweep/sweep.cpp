// vkformer sweep: many runs of `train` over a grid of options and seeds, and what they say together.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/progress.h"
#include "apps/report/report_page.h"
#include "apps/sweep/sweep_results.h"
#include "base/files/file.h"
#include "base/files/managed_directory.h"
#include "base/files/published.h"
#include "base/files/small_file.h"
#include "base/os/child_process.h"
#include "base/os/subprocess.h"
#include "base/text/plain_text.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

struct SweepOptions {
    std::string file, out_dir;
    std::int64_t jobs = 1;
    bool dry_run = false;
};

constexpr const char* sweep_copy = "sweep.toml";  // in the directory of the sweep

/// Paths of a run in the directory of the sweep.
fs::path directory_of(const SweepOptions& o, const SweepRun& run) {
    return fs::path(o.out_dir) / run.name;
}
fs::path options_of(const SweepOptions& o, const SweepRun& run) {
    return fs::path(o.out_dir) / (run.name + ".toml");
}
/// File that says that the run has come to its end.
fs::path end_of(const SweepOptions& o, const SweepRun& run) {
    return fs::path(o.out_dir) / (run.name + ".done");
}
bool has_begun(const SweepOptions& o, const SweepRun& run) {
    return file_exists(directory_of(o, run) / "manifest.json");
}
bool has_ended(const SweepOptions& o, const SweepRun& run) {
    return has_begun(o, run) && file_exists(end_of(o, run));
}

/// The command line of a run: it goes on if its directory has a checkpoint.
std::vector<std::string> words_of(const Common& common, const SweepOptions& o, const Sweep& sweep,
                                  const SweepRun& run) {
    std::vector<std::string> words = program_words();
    words.insert(words.end(), {"train", sweep.train});
    for (const std::string& config : sweep.configs) words.insert(words.end(), {"--config", config});
    words.insert(words.end(), {"--config", options_of(o, run).string(), "--seed", std::to_string(run.seed), "--out-dir",
                               directory_of(o, run).string(), "--quiet", "--max-minutes", "0"});
    const Common standard;
    const auto pass = [&](const char* option, const std::string& value, const std::string& usual) {
        if (value != usual) words.insert(words.end(), {option, value});
    };
    pass("--device", common.device, standard.device);
    pass("--precision", common.precision, standard.precision);
    pass("--half", common.half, standard.half);
    pass("--kernels", common.kernels, standard.kernels);
    if (has_begun(o, run)) words.emplace_back("--resume");
    return words;
}

/// Throws InputError if the directory holds files and is not that of a sweep, which has a copy of its file.
void require_sweep_directory(const SweepOptions& o) {
    std::error_code ignored;
    const fs::path path = o.out_dir;
    require(file_exists(path / sweep_copy) || !fs::exists(path, ignored) || fs::is_empty(path, ignored), o.out_dir,
            ": has files and is no sweep's directory, wanted a new or empty one");
}

/// Writes the options of the runs. Throws InputError for a run that was begun with other options.
void write_options(const SweepOptions& o, const Sweep& sweep, const std::vector<SweepRun>& runs) {
    for (const SweepRun& run : runs) {
        const std::string wanted = options_toml(sweep, *run.point);
        const fs::path path = options_of(o, run);
        if (file_exists(path) && read_small_text(path) == wanted) continue;
        require(!has_begun(o, run), path.string(), ": the run was begun with other options than ", o.file,
                " gives it now: wanted the same, or another --out-dir");
        write_atomically(path, wanted);
    }
}

/// Runs that are under way, each a process of its own.
class Jobs {
public:
    Jobs(const Common& common, const SweepOptions& o, const Sweep& sweep) : common_(common), o_(o), sweep_(sweep) {}

    std::size_t count() const { return jobs_.size(); }
    void start(const SweepRun& run) {
        Job& job = jobs_.emplace_back();
        job.run = &run;
        job.process = std::make_unique<ChildProcess>(words_of(common_, o_, sweep_, run));
    }
    /// Waits a little, and takes note of runs that ended; returns their number.
    std::size_t wait() {
        constexpr std::int64_t PAUSE = 50;  // milliseconds
        const std::chrono::milliseconds each(
            std::max<std::int64_t>(1, PAUSE / std::max<std::int64_t>(1, std::ssize(jobs_))));
        std::size_t ended = 0;
        for (auto job = jobs_.begin(); job != jobs_.end();) {
            Outcome& outcome = job->outcome;
            const bool read = job->process->read(outcome.output, outcome.errors, each);
            for (std::string* kept : {&outcome.output, &outcome.errors})
                kept->resize(std::min(kept->size(), MOST_KEPT));
            if (read || !job->process->ended()) {
                ++job;
                continue;
            }
            finish(*job);
            job = jobs_.erase(job);
            ++ended;
        }
        return ended;
    }
    /// Asks all runs to save their state and end, and waits for them.
    void interrupt() {
        for (Job& job : jobs_) job.process->interrupt();
        while (!jobs_.empty()) wait();
    }
    /// "NAME: MESSAGE" of every run that failed.
    const std::vector<std::string>& failures() const { return failures_; }

private:
    static constexpr std::size_t MOST_KEPT = 64 * 1024;

    struct Job {
        const SweepRun* run = nullptr;
        std::unique_ptr<ChildProcess> process = {};
        Outcome outcome = {};
    };

    void finish(Job& job) {
        job.outcome.status = job.process->status();
        if (job.outcome.status == 0)
            write_atomically(end_of(o_, *job.run), "");
        else
            failures_.push_back(text(job.run->name, ": ", job.outcome.complaint()));
    }

    const Common& common_;
    const SweepOptions& o_;
    const Sweep& sweep_;
    std::list<Job> jobs_;
    std::vector<std::string> failures_;
};

/// Does the runs that have not come to their end. Throws Interrupted after Ctrl-C, when all runs have saved their
/// state, and Error if a run failed, after the others.
void do_runs(const Common& common, const SweepOptions& o, const Sweep& sweep, const std::vector<SweepRun>& runs) {
    std::vector<const SweepRun*> open;
    for (const SweepRun& run : runs)
        if (!has_ended(o, run)) open.push_back(&run);
    const auto total = std::ssize(runs), before = total - std::ssize(open);
    Progress progress(common, "sweep", "runs", total, before);
    Jobs jobs(common, o, sweep);
    catch_interrupts();
    std::int64_t done = before;
    for (std::size_t next = 0; next < open.size() || jobs.count() > 0;) {
        while (next < open.size() && static_cast<std::int64_t>(jobs.count()) < o.jobs) jobs.start(*open[next++]);
        done += static_cast<std::int64_t>(jobs.wait());
        progress.update(done, next > 0 ? open[next - 1]->name : "");
        if (interrupted()) {
            jobs.interrupt();
            throw Interrupted();
        }
    }
    if (!jobs.failures().empty())
        throw Error(jobs.failures().size(), " of ", total, " runs failed; the first: ", jobs.failures().front());
}

void print_plan(const Common& common, const SweepOptions& o, const std::vector<SweepRun>& runs) {
    std::vector<std::vector<std::string>> rows{{"run", "state"}};
    auto document = nlohmann::ordered_json::array();
    for (const SweepRun& run : runs) {
        const char* state = has_ended(o, run) ? "done" : has_begun(o, run) ? "begun" : "open";
        rows.push_back({run.name, state});
        document.push_back({{"run", run.name}, {"state", state}});
    }
    if (common.json) return print_json(document);
    print(table(rows));
}

void sweep(const Common& common, const SweepOptions& o) {
    const Sweep sweep = read_sweep(o.file);
    const std::vector<SweepRun> runs = runs_of(sweep);
    if (o.dry_run) return print_plan(common, o, runs);
    require_sweep_directory(o);
    const ManagedDirectory claimed = ManagedDirectory::claim(o.out_dir);
    write_atomically(fs::path(o.out_dir) / sweep_copy, read_small_text(o.file));
    write_options(o, sweep, runs);
    do_runs(common, o, sweep, runs);

    std::vector<RunLog> logs;
    std::vector<SweepResult> results;
    for (const SweepRun& run : runs) {
        logs.push_back(read_run_log(directory_of(o, run)));
        results.push_back(result_of(run, logs.back()));
    }
    const std::string metric = deciding_metric(results);
    const std::vector<Comparison> comparisons = compare(results, metric);
    const std::vector<RunGroup> groups = grouped(logs);
    write_atomically(fs::path(o.out_dir) / "report.html",
                     report_page(groups, {{"Training", training_figures(groups)},
                                          {"Attention by depth, at the last probe", depth_figures(groups)}}));
    if (common.json) return print_json(comparison_document(comparisons, metric));
    print(table(comparison_rows(comparisons, metric)));
}

}  // namespace

void add_sweep(cli::Command& app, Common& common) {
    cli::Command& command = app.add_subcommand("sweep", "Training runs over a grid of options and seeds, compared");
    auto o = std::make_shared<SweepOptions>();
    command.add_option("file", o->file, "TOML file of the sweep").required().type_name("FILE.toml");
    command.add_option("--out-dir", o->out_dir, "Directory of the runs; a sweep that was stopped goes on there")
        .required()
        .type_name("DIR");
    command.add_option("--jobs", o->jobs, "Runs at the same time").type_name("N").capture_default_str().check(whole(1));
    command.add_flag("--dry-run", o->dry_run, "List the runs and their states, and do nothing");
    add_common(command, common);
    command.footer(
        "Example:\n"
        "  vkformer sweep configs/sweeps/variants-shakespeare.toml --out-dir variants --jobs 2\n"
        "\n"
        "The file names a command of `train`, options of all runs, a grid of options, and seeds:\n"
        "  train = \"gpt\"\n"
        "  config = [\"configs/shakespeare-char-cpu.toml\"]\n"
        "  seeds = [1, 2, 3]\n"
        "  [options]\n"
        "  data = \"input.txt\"\n"
        "  [grid]\n"
        "  attention = [\"standard\", \"belief-star\"]\n"
        "\n"
        "The table has the best evaluation of each point, and its differences from the first point, seed by seed, "
        "with\n"
        "their 95 % interval. DIR/report.html draws all runs.\n");
    command.callback([o, &common, &command] {
        require(command.count("--seed") == 0, "--seed has no effect on a sweep: its file has the seeds");
        sweep(common, *o);
    });
}

}  // namespace vkf

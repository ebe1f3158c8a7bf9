// A training run on disk: a model directory with the optimiser's state and the run's history.
//
//     config.json model.safetensors …              the last weights: a model directory
//     optimizer.safetensors                        moments, moving averages; the run's progress as metadata
//     train.toml                                   the full configuration
//     manifest.json                                contents of this checkpoint (models/files/manifest.h)
//     metrics.jsonl                                one object per logged step and per evaluation; the first object that
//                                                  a process logs also describes the process
//     best/                                        the model directory of the best evaluation, as it was evaluated:
//                                                  with moving averages, if the run keeps them
//     checkpoint-STEP/                             the latest checkpoints, if the run keeps some: runs to resume,
//                                                  or models
//
// If adapters are trained, the model's files are adapter_config.json and adapter_model.safetensors.
//
// Everything but metrics.jsonl is published as one set (base/files/managed_directory.h): a kill at any moment leaves
// the last checkpoint whole. The first checkpoint of a fresh run replaces the earlier contents of the directory, which
// stay as they are until then.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/files/os_file.h"
#include "models/files/held_files.h"
#include "models/files/manifest.h"
#include "models/train/run_progress.h"
#include "models/train/trainer.h"

namespace vkf {

/// Text files of a model directory by name: config.json, and those that convert data to the model's input and back.
using ModelFiles = std::map<std::string, std::string>;

/// File of a run's parameters: all parameters of a model, or those that training changes, its adapters.
struct WeightsFile {
    std::string name = "model.safetensors";
    std::string prefix = {};             // before every parameter's name
    std::string config = "config.json";  // file that determines the parameters
    bool frozen = true;                  // with the parameters that training does not change
};

class RunDirectory {
public:
    /// Creates the directory of a fresh run on `data`. Throws InputError if the directory holds a run, a model or data
    /// and may not be overwritten, or holds `data`; Error if it cannot be made.
    static RunDirectory create(const std::filesystem::path& path, bool overwrite, const std::filesystem::path& data);
    /// Opens the directory of a run to continue; finishes an interrupted publication. Throws InputError if there is no
    /// run; Error if another process writes there.
    static RunDirectory reopen(const std::filesystem::path& path);

    /// Sets the contents of every checkpoint other than the weights: the model's small files and train.toml; and the
    /// file of the weights. Required before a checkpoint is read. The latest `numbered` checkpoints are also kept under
    /// their numbers.
    void describe(ModelFiles files, const std::string& train_toml, std::int64_t numbered = 0, WeightsFile weights = {});

    /// Throw NotFinite, and change no file, if a weight or moment is not finite. save returns the name of the numbered
    /// checkpoint if it could not be kept because a folder that this run did not write is there; else "".
    std::string save(const Trainer& trainer, const RunProgress& progress);
    void save_best(const Trainer& trainer, const RunProgress& progress);
    /// True if the directory holds a checkpoint of this run.
    bool begun() const { return begun_; }
    /// True if the first checkpoint will replace files.
    bool replaces() const { return !claimed_.obsolete.empty(); }
    /// Loads the weights that training changes, and moments; cuts metrics back to the checkpoint, and finishes its
    /// numbered copy. Throws InputError if something does not fit.
    RunProgress restore(Trainer& trainer);

    /// Sets the member "run" of the next line of metrics.jsonl, which describes what makes the lines from there on.
    void introduce(nlohmann::ordered_json part) { part_ = std::move(part); }
    /// Appends a line to metrics.jsonl. The run must have begun.
    void log(nlohmann::ordered_json line);

    const std::filesystem::path& path() const { return claimed_.directory.path(); }

private:
    explicit RunDirectory(ClaimedDirectory claimed) : claimed_(std::move(claimed)) {}
    /// The states `trained` hold the parameters that training changes, in their order.
    void write_model(const std::filesystem::path& folder, const Trainer& trainer,
                     std::vector<std::string> trained) const;
    Manifest write_manifest(const std::filesystem::path& folder, const RunProgress& progress) const;
    void cut_metrics(const RunProgress& progress);

    ClaimedDirectory claimed_;  // with the files that the first checkpoint replaces
    std::string run_;           // the run's id in manifests
    ModelFiles files_;
    std::string train_toml_;
    WeightsFile weights_;
    std::int64_t numbered_ = 0;  // number of checkpoints kept
    os::File metrics_;
    nlohmann::ordered_json part_;  // null if a line has it
    bool begun_ = false;
};

}  // namespace vkf

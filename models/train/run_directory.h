// A training run on disk: a model directory with the optimiser's state and the run's history beside it.
//
//     config.json model.safetensors …              the last weights: a model directory
//     optimizer.safetensors                        moments, moving averages; where the run stands in its metadata
//     train.toml                                   the full configuration
//     manifest.json                                what belongs to this checkpoint (models/files/manifest.h)
//     metrics.jsonl                                one object per logged step and per evaluation
//     best/                                        the model directory of the best evaluation, as it was evaluated:
//                                                  of moving averages, where the run keeps them
//     checkpoint-STEP/                             the latest checkpoints, where it is to keep some: runs to resume,
//                                                  or models
//
// Where adapters are trained, what is written of the model is adapter_config.json and adapter_model.safetensors.
//
// Everything but metrics.jsonl is published as one set (base/managed_directory.h): a kill at any moment leaves the last
// checkpoint whole. A fresh run's first checkpoint is the moment at which it takes the place of whatever the directory
// held: until then that stays as it is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/os_file.h"
#include "models/files/held_files.h"
#include "models/files/manifest.h"
#include "models/train/run_progress.h"
#include "models/train/trainer.h"

namespace vkf {

/// The text files of a model directory by name: config.json, and what turns data into the model's input and back.
using ModelFiles = std::map<std::string, std::string>;

/// The file of what training moves: all of a model's parameters, or its adapters.
struct WeightsFile {
    std::string name = "model.safetensors";
    std::string prefix = {};             // before every parameter's name
    std::string config = "config.json";  // what says which there are
};

class RunDirectory {
public:
    /// For a fresh run on `data`. Throws InputError if the directory holds a run, a model or data and may not be
    /// overwritten, or holds this very data; Error if it cannot be made.
    static RunDirectory create(const std::filesystem::path& path, bool overwrite, const std::filesystem::path& data);
    /// For continuing: finishes an interrupted publication. Throws InputError if there is no run; Error if another
    /// process writes there.
    static RunDirectory reopen(const std::filesystem::path& path);

    /// What every checkpoint carries beside the weights, and before any is read: the model's small files, and
    /// train.toml; where the weights are. So many of the latest checkpoints are kept under their numbers, too.
    void describe(ModelFiles files, const std::string& train_toml, std::int64_t numbered = 0, WeightsFile weights = {});

    /// Throw NotFinite, and leave what is there, if a weight or moment is not finite. save returns the name of the
    /// numbered checkpoint if it could not be kept, for somebody else's is there; else nothing.
    std::string save(const Trainer& trainer, const RunProgress& progress);
    void save_best(const Trainer& trainer, const RunProgress& progress);
    /// Whether the directory holds a checkpoint of this run.
    bool begun() const { return begun_; }
    /// Whether the first checkpoint will take the place of something.
    bool replaces() const { return !claimed_.obsolete.empty(); }
    /// Loads the weights that training moves, and moments; metrics are cut back to the checkpoint. Throws InputError if
    /// something does not fit.
    RunProgress restore(Trainer& trainer);

    /// Appends a line to metrics.jsonl; the run has begun.
    void log(const nlohmann::ordered_json& line);

    const std::filesystem::path& path() const { return claimed_.directory.path(); }

private:
    explicit RunDirectory(ClaimedDirectory claimed) : claimed_(std::move(claimed)) {}
    /// `states` hold the parameters that training moves, in their order.
    void write_model(const std::filesystem::path& folder, const Trainer& trainer,
                     const std::vector<std::string>& states) const;
    Manifest write_manifest(const std::filesystem::path& folder, const RunProgress& progress) const;
    void cut_metrics(const RunProgress& progress);

    ClaimedDirectory claimed_;  // with what the first checkpoint takes the place of
    std::string run_;           // of the manifests
    ModelFiles files_;
    std::string train_toml_;
    WeightsFile weights_;
    std::int64_t numbered_ = 0;  // checkpoints kept
    os::File metrics_;
    bool begun_ = false;
};

}  // namespace vkf

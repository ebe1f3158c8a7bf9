#include "models/train/run_directory.h"

#include <cmath>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/safetensors.h"
#include "models/files/held_files.h"
#include "models/files/numbered_checkpoints.h"
#include "models/files/weights.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> trained_names(const Trainer& trainer) {
    std::vector<std::string> names;
    for (const Parameter& parameter : trainer.parameters().trained()) names.push_back(parameter.name);
    return names;
}

std::vector<std::string> moments_of(const Trainer& trainer) {
    std::vector<std::string> names = trainer.kept_states();
    names.erase(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(trainer.parameters().list().size()));
    return names;
}

/// `otherwise` is for what earlier versions did not keep.
std::int64_t integer_in(const Safetensors& file, const std::string& key, std::optional<std::int64_t> otherwise = {}) {
    const auto found = file.metadata().find(key);
    if (found == file.metadata().end() && otherwise) return *otherwise;
    require(found != file.metadata().end(), file.path().string(), ": metadata has no '", key, "'");
    try {
        return std::stoll(found->second);
    } catch (const std::exception&) {
        throw InputError(file.path().string(), ": metadata '", key, "' is '", found->second, "', wanted an integer");
    }
}

}  // namespace

RunDirectory::RunDirectory(fs::path path) : path_(std::move(path)), lock_(path_ / ".lock") {}

RunDirectory RunDirectory::create(const fs::path& path, bool overwrite, const fs::path& data) {
    claim_directory(path, overwrite, data);  // before anything is put there
    std::error_code error;
    fs::create_directories(path, error);
    if (error) throw Error(path.string(), ": cannot make the directory: ", error.message());
    RunDirectory made(path);
    made.obsolete_ = claim_directory(path, overwrite, data);  // now that nobody else trains there
    return made;
}

RunDirectory RunDirectory::reopen(const fs::path& path) {
    require(fs::is_directory(path), path.string(), " is not a directory: there is no run to resume");
    RunDirectory made(path);
    settle_files(path);
    require(fs::exists(path / "optimizer.safetensors"), path.string(),
            " holds no run to resume (optimizer.safetensors is missing): begin one without --resume");
    made.begun_ = true;
    return made;
}

void RunDirectory::describe(ModelFiles files, const std::string& train_toml, std::int64_t numbered,
                            WeightsFile weights) {
    files_ = std::move(files);
    train_toml_ = train_toml;
    numbered_ = numbered;
    weights_ = std::move(weights);
}

void RunDirectory::write_model(const fs::path& folder, const Trainer& trainer,
                               const std::vector<std::string>& states) const {
    for (const auto& [name, text] : files_) write_atomically(folder / name, text);
    std::vector<TensorSource> sources = state_sources(trainer.state(), states);
    const std::vector<std::string> names = trained_names(trainer);
    for (std::size_t i = 0; i < sources.size(); ++i) sources[i].name = weights_.prefix + names[i];
    write_safetensors(folder / weights_.name, sources);
}

void RunDirectory::save(const Trainer& trainer, const RunProgress& progress) {
    const auto fill = [&](const fs::path& folder) {
        write_model(folder, trainer, trained_names(trainer));
        if (!begun_) write_atomically(folder / "metrics.jsonl", std::string_view());
        write_atomically(folder / "train.toml", train_toml_);
        std::ostringstream best;
        best << std::hexfloat << progress.best;
        write_safetensors(folder / "optimizer.safetensors", state_sources(trainer.state(), moments_of(trainer)),
                          {{"step", std::to_string(progress.step)},
                           {"evaluated", std::to_string(progress.evaluated)},
                           {"best", best.str()},
                           {"without_improvement", std::to_string(progress.without_improvement)},
                           {"outliers", std::to_string(progress.outliers)}});
    };
    publish_files(path_, fill, obsolete_);
    begun_ = true;
    obsolete_.clear();
    if (numbered_ == 0) return;
    std::vector<fs::path> names{weights_.name, "optimizer.safetensors", "train.toml"};
    for (const auto& [name, text] : files_) names.emplace_back(name);
    keep_numbered(path_, names, progress.step, numbered_);
}

void RunDirectory::save_best(const Trainer& trainer) {
    publish_files(path_ / "best",
                  [&](const fs::path& folder) { write_model(folder, trainer, trainer.evaluated_states()); });
}

RunProgress RunDirectory::restore(Trainer& trainer) {
    load_weights(path_ / weights_.name, trainer.parameters().trained(), trainer.state(),
                 {.prefix = weights_.prefix, .config = weights_.config});
    const Safetensors file = Safetensors::open(path_ / "optimizer.safetensors");
    RunProgress progress;
    progress.step = integer_in(file, "step");
    progress.evaluated = integer_in(file, "evaluated");
    progress.without_improvement = integer_in(file, "without_improvement", 0);
    progress.outliers = integer_in(file, "outliers", 0);
    require(progress.step >= 0, file.path().string(), ": step is ", progress.step);
    const auto best = file.metadata().find("best");
    if (best != file.metadata().end()) progress.best = std::strtod(best->second.c_str(), nullptr);
    const std::vector<std::string> names = moments_of(trainer);
    require(names.size() == file.tensors().size(), file.path().string(), " holds ", file.tensors().size(),
            " tensors, this optimizer keeps ", names.size(), ": was the run made with another --optimizer or --half?");
    for (const std::string& name : names) {
        const Shape& wanted = trainer.state().type(name).shape;
        require(file.contains(name) && Shape(file.at(name).shape) == wanted, file.path().string(), ": tensor ", name,
                " of shape ", wanted, " is missing or has another shape");
        load_state(file, name, trainer.state());
    }
    cut_metrics(progress);
    return progress;
}

void RunDirectory::cut_metrics(const RunProgress& progress) const {
    const fs::path path = path_ / "metrics.jsonl";
    const std::string all = fs::exists(path) ? read_text(path) : std::string();
    std::string kept;
    std::istringstream lines(all);
    for (std::string line; std::getline(lines, line);) {
        nlohmann::json entry;
        try {
            entry = parse_json(line, path.string());
        } catch (const InputError&) {
            continue;  // cut short by a kill
        }
        if (!entry.contains("step") || !entry["step"].is_number_integer()) continue;
        const auto step = entry["step"].get<std::int64_t>();
        if (entry.contains("val_loss") ? step <= progress.evaluated : step < progress.step) kept += line + "\n";
    }
    if (kept != all) write_atomically(path, kept);
}

void RunDirectory::log(const nlohmann::ordered_json& line) {
    require(begun_, path_.string(), ": a line of metrics before the first checkpoint");
    const std::filesystem::path path = path_ / "metrics.jsonl";
    if (!metrics_.is_open()) metrics_.open(path, std::ios::app | std::ios::binary);
    metrics_ << line.dump() << std::endl;
    if (!metrics_) throw Error(path.string(), ": cannot be written (disk full?)");
}

}  // namespace vkf

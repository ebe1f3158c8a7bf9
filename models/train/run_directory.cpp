#include "models/train/run_directory.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/published.h"
#include "base/files/safetensors.h"
#include "base/text/json.h"
#include "base/text/json_text.h"
#include "models/files/numbered_checkpoints.h"
#include "models/files/weights.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

/// Parameters that the file holds: those that training changes, and then the others.
std::vector<Parameter> parameters_in(const WeightsFile& file, const Trainer& trainer) {
    std::vector<Parameter> all = trainer.parameters().trained();
    if (!file.frozen) return all;
    for (Parameter& parameter : trainer.parameters().frozen()) all.push_back(std::move(parameter));
    return all;
}

std::vector<std::string> moments_of(const Trainer& trainer) {
    std::vector<std::string> names = trainer.kept_states();
    names.erase(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(trainer.parameters().list().size()));
    return names;
}

/// Integer of a file's metadata. `otherwise` is the value of a key that earlier versions did not write.
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

RunDirectory RunDirectory::create(const fs::path& path, bool overwrite, const fs::path& data) {
    return RunDirectory(claim_directory(path, overwrite, {data}));
}

RunDirectory RunDirectory::reopen(const fs::path& path) {
    require(fs::is_directory(path), path.string(), " is not a directory: there is no run to resume");
    RunDirectory made({ManagedDirectory::claim(path), {}});
    made.claimed_.directory.settle();
    require(file_exists(path / "optimizer.safetensors"), path.string(),
            " holds no run to resume (optimizer.safetensors is missing): begin one without --resume");
    if (const auto manifest = read_manifest(path)) made.run_ = manifest->run;
    made.begun_ = true;
    return made;
}

void RunDirectory::describe(ModelFiles files, const std::string& train_toml, std::int64_t numbered,
                            WeightsFile weights) {
    files_ = std::move(files);
    train_toml_ = train_toml;
    numbered_ = numbered;
    weights_ = std::move(weights);
    if (run_.empty()) run_ = content_hash(train_toml);
}

void RunDirectory::write_model(const fs::path& folder, const Trainer& trainer, std::vector<std::string> trained) const {
    for (const auto& [name, text] : files_) write_atomically(folder / name, text);
    const std::vector<Parameter> parameters = parameters_in(weights_, trainer);
    for (std::size_t i = trained.size(); i < parameters.size(); ++i) trained.push_back(parameters[i].name);
    std::vector<TensorSource> sources = state_sources(trainer.state(), trained);
    for (std::size_t i = 0; i < sources.size(); ++i) sources[i].name = weights_.prefix + parameters[i].name;
    write_safetensors(folder / weights_.name, sources);
}

Manifest RunDirectory::write_manifest(const fs::path& folder, const RunProgress& progress) const {
    Manifest manifest = make_manifest(folder, run_, progress.step, weights_.config);
    write_atomically(folder / manifest_file, manifest_text(manifest));
    return manifest;
}

std::string RunDirectory::save(const Trainer& trainer, const RunProgress& progress) {
    Manifest manifest;
    const auto fill = [&](const fs::path& folder) {
        std::vector<std::string> trained;
        for (const Parameter& parameter : trainer.parameters().trained()) trained.push_back(parameter.name);
        write_model(folder, trainer, std::move(trained));
        write_atomically(folder / "train.toml", train_toml_);
        std::ostringstream best;
        best << std::hexfloat << progress.best;
        write_safetensors(folder / "optimizer.safetensors", state_sources(trainer.state(), moments_of(trainer)),
                          {{"step", std::to_string(progress.step)},
                           {"evaluated", std::to_string(progress.evaluated)},
                           {"best", best.str()},
                           {"without_improvement", std::to_string(progress.without_improvement)},
                           {"outliers", std::to_string(progress.outliers)}});
        manifest = write_manifest(folder, progress);
        if (!begun_) write_atomically(folder / "metrics.jsonl", std::string_view());
    };
    claimed_.publish(fill);
    begun_ = true;
    claimed_.obsolete.clear();
    const bool kept = numbered_ == 0 || keep_numbered(claimed_.directory, manifest, numbered_);
    return kept ? "" : numbered_name(progress.step);
}

void RunDirectory::save_best(const Trainer& trainer, const RunProgress& progress) {
    claimed_.directory.publish_in("best", [&](const fs::path& folder) {
        write_model(folder, trainer, trainer.evaluated_states());
        write_manifest(folder, progress);
    });
}

RunProgress RunDirectory::restore(Trainer& trainer) {
    load_weights(path() / weights_.name, parameters_in(weights_, trainer), trainer.state(),
                 {.prefix = weights_.prefix, .config = weights_.config});
    const Safetensors file = Safetensors::open(path() / "optimizer.safetensors");
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
    // A kill may have come between the last save and its numbered checkpoint, or the removal of the oldest one.
    if (const auto manifest = numbered_ == 0 ? std::nullopt : read_manifest(path()))
        keep_numbered(claimed_.directory, *manifest, numbered_);
    return progress;
}

void RunDirectory::cut_metrics(const RunProgress& progress) {
    const fs::path name = "metrics.jsonl", path = this->path() / name;
    const os::File file = claimed_.directory.folder().open(name, os::Open::read_at_once);
    require(file.valid() || errno == ENOENT, path.string(), ": is no regular file, wanted one, or none");
    const std::string all = file.valid() ? read_text(file, path) : std::string();
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
    if (kept != all) claimed_.directory.replace(name, kept);
}

void RunDirectory::log(nlohmann::ordered_json line) {
    require(begun_, path().string(), ": a line of metrics before the first checkpoint");
    const fs::path name = "metrics.jsonl", shown = path() / name;
    if (!metrics_.valid()) metrics_ = claimed_.directory.folder().open(name, os::Open::append);
    if (!metrics_.valid()) throw Error("cannot write ", shown.string(), ": ", std::strerror(errno));
    if (!part_.is_null()) line["run"] = std::exchange(part_, nullptr);
    FileWriter(metrics_, shown).write(json_text(line) + "\n");
}

}  // namespace vkf

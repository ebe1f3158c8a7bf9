// vkformer eval on HellaSwag: share of tasks in which the model finds the right one of four endings likeliest.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/progress.h"
#include "apps/eval/eval.h"
#include "apps/model.h"
#include "base/text/json.h"
#include "models/data/text/hellaswag.h"
#include "models/language_model.h"
#include "program/compiled_graph.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

constexpr std::int64_t STEP = 32;  // lengths are rounded up to multiples of STEP; each multiple has its own program

/// A sequence; the mean loss of its last tokens is its score.
struct Completion {
    Tokens tokens;
    std::size_t context = 0;  // leading tokens, which are not predicted
    bool cut = false;         // true if the context lost its beginning
};

/// Encodes a task as llm.c and nanoGPT's speed runs do: the ending by itself, with a space before it.
Completion completion(const Tokenizer& tokenizer, const HellaswagTask& task, const std::string& ending,
                      std::size_t longest) {
    Completion made;
    if (const auto begin = tokenizer.begin_of_text()) made.tokens.push_back(*begin);
    const auto append = [&](const std::string& words) {
        const Tokens tokens = tokenizer.encode(words);
        made.tokens.insert(made.tokens.end(), tokens.begin(), tokens.end());
    };
    append(task.context);
    made.context = made.tokens.size();
    append(tokenizer.prepends_space() ? ending : " " + ending);
    require(made.tokens.size() > std::max<std::size_t>(made.context, 1),
            "there is no token to start from, or none to predict: the tokenizer leaves nothing of the ending ",
            one_line(nlohmann::json(ending)), " or of what stands before it");
    if (made.tokens.size() > longest) {
        const std::size_t excess = made.tokens.size() - longest;
        made.tokens.erase(made.tokens.begin(), made.tokens.begin() + static_cast<std::ptrdiff_t>(excess));
        made.context -= std::min(made.context, excess);
        made.cut = true;
    }
    return made;
}

/// Computes losses of sequences of any length, by programs that share one set of weights.
class Scorer {
public:
    Scorer(Device& device, const LanguageModel& model, Format activations)
        : device_(device), model_(model), activations_(activations), state_(device) {}

    /// Mean loss of the tokens after the context.
    double loss(const Completion& c) {
        const std::int64_t context = model_.config.size(Dimension::context);
        const std::int64_t inputs = std::ssize(c.tokens) - 1;
        const std::int64_t length = std::min(context, (inputs + STEP - 1) / STEP * STEP);
        Program& program = program_for(length);
        std::vector<std::int32_t> tokens(static_cast<std::size_t>(length)), targets(tokens.size(), -1);
        std::copy(c.tokens.begin(), c.tokens.end() - 1, tokens.begin());
        for (std::size_t i = std::max<std::size_t>(c.context, 1); i < c.tokens.size(); ++i)
            targets[i - 1] = c.tokens[i];
        program.write("tokens", tokens);
        program.write("targets", targets);
        program.run();
        return static_cast<double>(program.read_scalar("loss"));
    }

private:
    Program& program_for(std::int64_t length) {
        std::unique_ptr<CompiledGraph>& made = programs_[length];
        if (made) return made->program;
        const bool first = programs_.size() == 1;
        made = std::make_unique<CompiledGraph>(device_, state_, activations_, [&](Graph& graph) {
            graph.output("loss", language_loss(Scope(graph, parameters_), model_.config, 1, length));
        });
        if (first) model_.load(parameters_, state_);
        return made->program;
    }

    Device& device_;
    const LanguageModel& model_;
    Format activations_;
    State state_;
    Parameters parameters_;
    std::map<std::int64_t, std::unique_ptr<CompiledGraph>> programs_;  // programs by length
};

struct Score {
    std::int64_t tasks = 0, right = 0, cut = 0;

    double accuracy() const { return static_cast<double>(right) / static_cast<double>(tasks); }
    /// Standard error of the accuracy over `tasks` independent tasks, at least two.
    double standard_error() const { return std::sqrt(accuracy() * (1 - accuracy()) / static_cast<double>(tasks - 1)); }
    std::string words() const {
        const std::string error = tasks > 1 ? " +- " + percent_text(standard_error()) : "";
        return "accuracy " + percent_text(accuracy()) + error;
    }
};

Score evaluate(Device& device, const Common& common, const EvalOptions& o, const LanguageModel& model,
               std::span<const HellaswagTask> tasks) {
    Scorer scorer(device, model, common.activations());
    const std::size_t longest = static_cast<std::size_t>(model.config.size(Dimension::context).value) + 1;
    Score score;
    Progress progress(common, "hellaswag", "tasks", std::ssize(tasks));
    for (const HellaswagTask& task : tasks) {
        std::array<double, 4> losses;
        bool cut = false;
        for (std::size_t i = 0; i < losses.size(); ++i) {
            stop_if_interrupted();
            const Completion ending = completion(**model.tokenizer, task, task.endings[i], longest);
            losses[i] = scorer.loss(ending);
            require_finite(o, "loss", losses[i]);
            cut = cut || ending.cut;
        }
        const auto best = static_cast<std::size_t>(std::ranges::min_element(losses) - losses.begin());
        score.right += best == task.label;
        score.cut += cut;
        progress.update(++score.tasks, score.words());
    }
    return score;
}

}  // namespace

void eval_hellaswag(const Common& common, const EvalOptions& o) {
    const LanguageModel model = open_language_model({o.model, o.base, o.verify});
    require(model.family().generates(), "model ", o.model, ": a ", model.family().title,
            " does not continue text, so it has no loss of an ending");
    require(model.tokenizer.has_value(), "model ", o.model, " has no tokenizer, which --hellaswag needs");
    std::vector<HellaswagTask> tasks = read_hellaswag(o.hellaswag);
    if (o.limit && *o.limit < std::ssize(tasks)) tasks.resize(static_cast<std::size_t>(*o.limit));
    catch_interrupts();
    Score score;
    with_device(common, [&](Device& device) { score = evaluate(device, common, o, model, tasks); });
    if (score.cut > 0)
        note(common, text(score.cut, " of ", score.tasks, " tasks are longer than the model's context; they lost ",
                          "their beginning"));
    nlohmann::ordered_json facts{{"model", o.model},     {"hellaswag", o.hellaswag},     {"tasks", score.tasks},
                                 {"right", score.right}, {"accuracy", score.accuracy()}, {"standard_error", nullptr}};
    if (score.tasks > 1) facts["standard_error"] = score.standard_error();
    if (common.json) return print_json(facts);
    print(text(score.words(), "\ntasks ", score.tasks, "\n"));
}

}  // namespace vkf

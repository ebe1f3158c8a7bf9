#include "apps/tasks.h"

#include <algorithm>
#include <iterator>

#include "apps/bench/bench_models.h"
#include "apps/cli/command.h"
#include "apps/eval/forward_case.h"
#include "apps/eval/model_evaluation.h"
#include "apps/inspect/inspect.h"
#include "base/error.h"
#include "models/families/task.h"

namespace vkf {

namespace {

constexpr TaskCommands ALL[] = {
    {.task = language_task,
     .add_train = add_train_language,
     .eval = eval_language,
     .evaluation = evaluation_of_language,
     .forward = language_case,
     .add_inspect = add_inspect_language,
     .inspect = inspect_language,
     .bench = bench_language},
    {.task = image_task,
     .add_train = add_train_images,
     .eval = eval_images,
     .evaluation = evaluation_of_images,
     .forward = image_case,
     .add_inspect = add_inspect_images,
     .inspect = inspect_images,
     .bench = bench_images},
    {.task = translation_task,
     .add_train = add_train_translation,
     .eval = eval_translation,
     .evaluation = evaluation_of_translation,
     .forward = translation_case,
     .add_inspect = add_inspect_translation,
     .inspect = inspect_translation,
     .bench = bench_translation},
    {.task = sequence_task,
     .add_train = add_train_sequences,
     .eval = eval_sequences,
     .evaluation = evaluation_of_sequences,
     .forward = sequence_case,
     .add_inspect = add_inspect_sequences,
     .inspect = inspect_sequences,
     .bench = bench_sequences},
};

}  // namespace

const TaskCommands& commands_of(const Task& task) {
    return *std::ranges::find_if(ALL, [&](const TaskCommands& commands) { return &commands.task() == &task; });
}

std::string option_group(const Task& task) {
    std::string heading = text(task.model, 's');
    heading.front() = static_cast<char>(heading.front() - 'a' + 'A');
    return heading;
}

void require_options_of(const cli::Command& command, const Task& task, const std::string& model) {
    for (const TaskCommands& other : ALL)
        for (const cli::Option& option : command.options())
            require(&other.task() == &task || option.count() == 0 || option.group() != option_group(other.task()),
                    option.name(), " is for ", other.task().model, "s; ", model, " is none");
}

}  // namespace vkf

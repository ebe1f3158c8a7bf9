// vkformer data listops: expressions and their values, as Long Range Arena makes them.

#include "apps/data/data_listops.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/option_values.h"
#include "apps/cli/progress.h"
#include "apps/inspect/facts.h"
#include "base/error.h"
#include "base/files/file.h"
#include "models/data/sequences/listops.h"
#include "models/files/held_files.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

struct ListOpsOptions {
    std::string out;
    ListOpsRules rules;
    std::int64_t train = 96'000, val = 2'000, test = 2'000;
    bool overwrite = false;

    std::int64_t examples() const { return train + val + test; }
};

/// Examples and tokens written so far.
struct ListOpsTally {
    std::int64_t examples = 0, tokens = 0;
};

/// Writes `count` examples with Long Range Arena's columns.
void write_examples(ListOps& expressions, const ListOpsOptions& o, std::int64_t count, FileWriter& file,
                    Progress& progress, ListOpsTally& tally) {
    file.write("Source\tTarget\n");
    for (std::int64_t i = 0; i < count; ++i) {
        const std::optional<ListOpsExample> found = expressions.next(stop_if_interrupted);
        require(found.has_value(), "found ", tally.examples, " different expressions of ", o.rules.min_length, " to ",
                o.rules.max_length, " tokens, and then no more in ten million draws: wanted fewer examples than ",
                o.examples(), ", or other lengths");
        file.write(text(found->source, '\t', found->value, '\n'));
        tally.tokens += found->length;
        progress.update(++tally.examples);
    }
}

void make_listops(const Common& common, const ListOpsOptions& o) {
    ListOps expressions(o.rules, common.seed);
    ClaimedDirectory out = claim_directory(o.out, o.overwrite);
    catch_interrupts();
    Progress progress(common, "listops", "examples", o.examples());
    ListOpsTally tally;
    const auto fill = [&](const fs::path& folder) {
        for (const auto& [name, count] : {std::pair("train.tsv", o.train), {"val.tsv", o.val}, {"test.tsv", o.test}})
            if (count > 0)
                write_atomically(folder / name, [&](FileWriter& file) {
                    write_examples(expressions, o, count, file, progress, tally);
                });
    };
    out.publish(fill);
    progress.clear();
    print_facts(common,
                {{"out", o.out}, {"train", o.train}, {"val", o.val}, {"test", o.test}, {"tokens", tally.tokens}});
}

}  // namespace

void add_data_listops(cli::Command& data, Common& common) {
    cli::Command& part =
        data.add_subcommand("listops", "ListOps: expressions and their values, as train.tsv, val.tsv, …");
    auto o = std::make_shared<ListOpsOptions>();
    part.add_option("--out", o->out, "Directory to write to").required().type_name("DIR");
    const auto size = [&](const char* name, std::int64_t& value, const char* help, std::int64_t least,
                          std::int64_t most) {
        part.add_option(name, value, help).type_name("N").check(whole(least, most)).capture_default_str();
    };
    constexpr std::int64_t most_examples = 100'000'000, most_tokens = 1'000'000;
    size("--train", o->train, "Examples for training", 1, most_examples);
    size("--val", o->val, "Examples by which training chooses its best model; 0: no val.tsv", 0, most_examples);
    size("--test", o->test, "Examples for the test; 0: no test.tsv", 0, most_examples);
    size("--min-length", o->rules.min_length, "Fewest tokens of an expression", 1, most_tokens);
    size("--max-length", o->rules.max_length, "Most tokens of an expression", 1, most_tokens);
    size("--max-depth", o->rules.max_depth, "Levels of an expression, with that of its digits", 1, 1000);
    size("--max-args", o->rules.max_args, "Most arguments of an operator; the fewest are 2", 2, 1000);
    part.add_flag("--overwrite", o->overwrite, "Replace the data, model or run that is there");
    part.footer(
        "Examples:\n"
        "  vkformer data listops --out listops\n"
        "  vkformer data listops --out short --train 2000 --val 200 --test 200 --min-length 5 --max-length 60\n"
        "\n"
        "An expression such as [MAX 2 9 [MIN 4 7 ] 0 ] has 11 tokens and the value 9. MIN, MAX, MED (the median; of\n"
        "an even count the mean of the middle two, rounded down) and SM (the sum modulo 10) take digits and\n"
        "expressions. The defaults are Long Range Arena's, whose lengths are between 500 and 2000. No expression "
        "comes\n"
        "twice, in whatever file. A seed gives the same files on every machine.\n");
    part.callback([o, &common] { make_listops(common, *o); });
    add_common(part, common);
}

}  // namespace vkf

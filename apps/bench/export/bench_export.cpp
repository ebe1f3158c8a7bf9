// vkformer bench export: saved reports in the forms of other programs.

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/bench/export/export_forms.h"
#include "apps/cli/command.h"
#include "apps/cli/option_values.h"
#include "apps/cli/output_file.h"
#include "apps/cli/raw_output.h"
#include "base/files/file.h"

namespace vkf {

namespace {

struct ExportOptions {
    std::vector<std::string> reports;
    std::string form, out, outputs;
};

std::vector<std::string> form_names() {
    std::vector<std::string> names;
    for (const ExportForm& form : export_forms()) names.push_back(form.name);
    return names;
}

void export_reports(const Common& common, const ExportOptions& o) {
    const ExportForm& form = *std::ranges::find(export_forms(), o.form, &ExportForm::name);
    require(form.outputs || o.outputs.empty(), "--outputs has no effect with --as ", form.name);
    require(!form.outputs || !o.outputs.empty(), "--as ", form.name,
            " wants --outputs, the logits and the loss of vkformer forward: the form has a model's outputs");
    require(!common.json || !o.out.empty(), "--json says what --out got, wanted --out");
    std::vector<std::filesystem::path> read(o.reports.begin(), o.reports.end());
    if (!o.outputs.empty()) read.emplace_back(o.outputs);
    if (!o.out.empty()) require_output("--out", o.out, read);

    ExportInput input{.files = {}, .outputs = o.outputs};
    std::size_t total = 0;
    for (const std::string& path : o.reports) {
        input.files.push_back({path, read_report(path)});
        total += input.files.back().report.measurements.size();
    }
    const Exported exported = form.write(input);
    require(exported.measurements > 0, joined(o.reports, ", "), ": nothing has a place in the form of ", form.name,
            ", which takes ", form.contents);
    const std::size_t left_out = total - exported.measurements;
    if (left_out > 0)
        note(common, text(left_out, left_out == 1 ? " measurement has" : " measurements have",
                          " no place in the form of ", form.name, ", which takes ", form.contents));
    if (o.out.empty()) return print_as_is(exported.text);
    write_atomically(o.out, exported.text);
    if (common.json)
        print_json(
            {{"out", o.out}, {"as", form.name}, {"measurements", exported.measurements}, {"left_out", left_out}});
}

}  // namespace

void add_bench_export(cli::Command& bench, Common& common) {
    auto o = std::make_shared<ExportOptions>();
    cli::Command& command = bench.add_subcommand("export", "Reports in the forms of other programs");
    add_common(command, common);
    command.add_option("reports", o->reports, "Reports of --out").required().type_name("REPORT.json").any_number();
    command.add_option("--as", o->form, "Form: csv for spreadsheets, or that of a program")
        .required()
        .type_name(joined(form_names(), "|"))
        .check(one_of(form_names()));
    command.add_option("--out", o->out, "File to write; else standard output").type_name("FILE");
    command.add_option("--outputs", o->outputs, "inferena: logits and loss that vkformer forward wrote")
        .type_name("FILE.safetensors");
    command.footer(
        "Examples:\n"
        "  vkformer bench kernels --out a.json\n"
        "  vkformer bench export a.json --as csv --out a.csv\n"
        "  vkformer bench export a.json b.json --as phoronix --out composite.xml\n"
        "  vkformer bench generate --model gpt2 --out generate.json\n"
        "  vkformer bench export generate.json --as llama-bench\n"
        "\n"
        "Measurements without a place in a form are counted on standard error. llama-bench's averages are medians "
        "here.\n"
        "Times that were not measured are left out, null, or 0 in inferena's form, which shows 0 as none.");
    command.callback([o, &common] { export_reports(common, *o); });
}

}  // namespace vkf

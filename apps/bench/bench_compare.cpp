// vkformer bench compare: two saved reports side by side, of two devices, drivers or versions.

#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/bench/bench_report.h"
#include "apps/bench/compile_report.h"
#include "apps/cli/command.h"
#include "apps/cli/output_file.h"
#include "base/files/file.h"
#include "base/text/json.h"
#include "vulkan/cpu/lavapipe.h"

namespace vkf {

namespace {

struct CompareOptions {
    std::string first, second, markdown;
};

struct Pair {
    const Measurement *a, *b;

    /// Speed of b relative to a.
    double speedup() const { return a->seconds.median / b->seconds.median; }
};

std::vector<Pair> pairs(const BenchReport& a, const BenchReport& b) {
    const auto key = [](const Measurement& m) { return std::tie(m.family, m.name, m.shape, m.layout); };
    std::vector<Pair> made;
    for (const Measurement& of_a : a.measurements) {
        const auto same = [&](const Measurement& of_b) { return key(of_a) == key(of_b); };
        const auto found = std::ranges::find_if(b.measurements, same);
        if (found != b.measurements.end()) made.push_back({&of_a, &*found});
    }
    return made;
}

/// Geometric mean of the speedups, family by family in the order of the first report.
std::vector<std::pair<std::string, double>> means(const std::vector<Pair>& list) {
    std::vector<std::pair<std::string, double>> made;
    std::map<std::string, int> counts;
    for (const Pair& pair : list) {
        if (counts[pair.a->family]++ == 0) made.emplace_back(pair.a->family, 0.0);
        std::ranges::find(made, pair.a->family, &std::pair<std::string, double>::first)->second +=
            std::log(pair.speedup());
    }
    for (auto& [family, mean] : made) mean = std::exp(mean / counts[family]);
    return made;
}

nlohmann::ordered_json device(const ReportHead& head) {
    return document(head)["device"];
}

void compare_measurements(const Common& common, const CompareOptions& o) {
    const BenchReport a = read_report(o.first), b = read_report(o.second);
    const std::vector<Pair> list = pairs(a, b);
    require(!list.empty(), o.first, " and ", o.second, " have no measurement in common");
    const std::int64_t only_a = std::ssize(a.measurements) - std::ssize(list),
                       only_b = std::ssize(b.measurements) - std::ssize(pairs(b, a));

    std::vector<std::vector<std::string>> rows{
        {"family", "what", "shape", "layout", "A ms", "B ms", "A/B", "A of peak", "B of peak"}};
    nlohmann::ordered_json entries = nlohmann::ordered_json::array(), families = nlohmann::ordered_json::object();
    for (const Pair& pair : list) {
        const Measurement& m = *pair.a;
        const double share_a = m.share_of_peak(a.peak), share_b = pair.b->share_of_peak(b.peak);
        rows.push_back({m.family, m.name, m.shape, m.layout, milliseconds_text(m.seconds.median),
                        milliseconds_text(pair.b->seconds.median), fixed(pair.speedup(), 2), share_text(share_a),
                        share_text(share_b)});
        entries.push_back({{"family", m.family},
                           {"name", m.name},
                           {"shape", m.shape},
                           {"layout", m.layout},
                           {"seconds", {m.seconds.median, pair.b->seconds.median}},
                           {"speedup", pair.speedup()},
                           {"share_of_peak", {share_a, share_b}}});
    }
    for (const auto& [family, mean] : means(list)) {
        rows.push_back({family, "geometric mean", "", "", "", "", fixed(mean, 2), "", ""});
        families[family] = mean;
    }
    const std::string head = "A: " + heading(a) + "B: " + heading(b) + "\n",
                      foot = text("\n", only_a, " measurements are in A only, ", only_b, " in B only\n");
    if (!o.markdown.empty()) write_atomically(o.markdown, head + markdown(rows) + foot);
    if (!common.json) return print(head + table(rows) + foot);
    print_json({{"devices", {device(a.head), device(b.head)}},
                {"measurements", entries},
                {"geometric_mean_speedup", families},
                {"only_a", only_a},
                {"only_b", only_b}});
}

// --- Kernels that were compiled ------------------------------------------------------------------

/// "96" if both reports agree, else "96 → 102".
std::string both(const std::optional<double>& a, const std::optional<double>& b) {
    return a == b ? figure_text(a) : figure_text(a) + " → " + figure_text(b);
}

/// Compares the figures of kernels; kernels that differ only in compile time are left out.
void compare_compiled(const Common& common, const CompareOptions& o) {
    const CompileReport a = read_compile_report(o.first), b = read_compile_report(o.second);
    const CompileComparison compared = compare(a, b);
    require(!compared.pairs.empty(), o.first, " and ", o.second, " have no kernel in common");
    std::vector<std::vector<std::string>> rows{{"kernel", "implementation", "precision", "first use"}};
    for (const char* name : figure_names) rows[0].push_back(name);
    nlohmann::ordered_json entries = nlohmann::ordered_json::array();
    for (const auto& [of_a, of_b] : compared.pairs) {
        if (of_a->figures == of_b->figures && of_a->error == of_b->error) continue;
        rows.push_back({of_a->kernel, of_a->implementation, of_a->precision,
                        text(of_a->name, ' ', of_a->shape, of_a->layout.empty() ? "" : " ", of_a->layout)});
        nlohmann::ordered_json entry{{"kernel", of_a->kernel},       {"implementation", of_a->implementation},
                                     {"precision", of_a->precision}, {"name", of_a->name},
                                     {"shape", of_a->shape},         {"errors", {of_a->error, of_b->error}}};
        for (std::size_t i = 0; i < figure_names.size(); ++i) {
            rows.back().push_back(both(of_a->figures[i], of_b->figures[i]));
            entry[figure_names[i]] =
                nlohmann::ordered_json::array({figure_document(of_a->figures[i]), figure_document(of_b->figures[i])});
        }
        entries.push_back(std::move(entry));
    }
    const std::int64_t alike = std::ssize(compared.pairs) - std::ssize(entries);
    const std::string head = "A: " + heading(a.head) + "\nB: " + heading(b.head) + "\n\n",
                      foot = text("\n", alike, " kernels have the same figures, ", entries.size(), " others; ",
                                  compared.only_a, " are in A only, ", compared.only_b, " in B only\n");
    if (!o.markdown.empty()) write_atomically(o.markdown, head + markdown(rows) + foot);
    if (!common.json) return print(head + (rows.size() > 1 ? table(rows) : "") + foot);
    print_json({{"devices", {device(a.head), device(b.head)}},
                {"kernels", entries},
                {"alike", alike},
                {"only_a", compared.only_a},
                {"only_b", compared.only_b}});
}

void compare(const Common& common, const CompareOptions& o) {
    if (!o.markdown.empty()) require_output("--markdown", o.markdown, {o.first, o.second});
    const auto compiled = [](const std::string& path) {
        return is_compile_report(parse_json(read_text(path), path + ": is no report of vkformer bench: it"));
    };
    const bool of_a = compiled(o.first), of_b = compiled(o.second);
    require(of_a == of_b, of_a ? o.first : o.second, " is a report of bench compile, ", of_a ? o.second : o.first,
            " is one of measurements: wanted two of a kind");
    (of_a ? compare_compiled : compare_measurements)(common, o);
}

}  // namespace

void add_bench_compare(cli::Command& bench, Common& common) {
    auto o = std::make_shared<CompareOptions>();
    cli::Command& command = bench.add_subcommand("compare", "Two reports side by side, of two devices or drivers");
    add_common(command, common);
    command.add_option("a", o->first, "Report of --out").required().type_name("A.json");
    command.add_option("b", o->second, "Another one").required().type_name("B.json");
    command.add_option("--markdown", o->markdown, "Write the table as Markdown").type_name("FILE.md");
    command.footer(
        text("Example:\n"
             "  vkformer bench kernels --device ",
             cpu_device_example,
             " --out a.json; vkformer bench kernels --out b.json\n"
             "  vkformer bench compare a.json b.json\n"
             "\n"
             "A/B: how many times as fast B is, by medians. Of two reports of bench compile: kernels whose figures "
             "differ."));
    command.callback([o, &common] { compare(common, *o); });
}

}  // namespace vkf

// vkformer bench compare: two saved reports side by side, of two devices, drivers or versions.

#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "apps/bench_report.h"
#include "apps/output_file.h"
#include "base/file.h"

namespace vkf {

namespace {

struct Options {
    std::string first, second, markdown;
};

struct Pair {
    const Measurement *a, *b;

    /// How many times as fast b is.
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

/// The geometric mean of the speedups, family by family in the order of the first report.
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

void compare(const Common& common, const Options& o) {
    if (!o.markdown.empty()) require_output("--markdown", o.markdown, {o.first, o.second});
    const BenchReport a = read_report(o.first), b = read_report(o.second);
    const std::vector<Pair> list = pairs(a, b);
    require(!list.empty(), o.first, " and ", o.second, " have no measurement in common");

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
    const std::string head = "A: " + heading(a) + "B: " + heading(b) + "\n";
    if (!o.markdown.empty()) write_atomically(o.markdown, head + markdown(rows));
    if (!common.json) return print(head + table(rows));
    const auto device = [](const BenchReport& report) { return document(report)["device"]; };
    print_json({{"devices", {device(a), device(b)}}, {"measurements", entries}, {"geometric_mean_speedup", families}});
}

}  // namespace

void add_bench_compare(CLI::App& bench, Common& common) {
    auto o = std::make_shared<Options>();
    CLI::App* command = bench.add_subcommand("compare", "Two reports side by side, of two devices or drivers");
    add_common(*command, common);
    command->add_option("a", o->first, "Report of --out")->required()->type_name("A.json");
    command->add_option("b", o->second, "Another one")->required()->type_name("B.json");
    command->add_option("--markdown", o->markdown, "Write the table as Markdown")->type_name("FILE.md");
    command->footer(
        "Example:\n"
        "  vkformer bench kernels --device llvmpipe --out a.json; vkformer bench kernels --out b.json\n"
        "  vkformer bench compare a.json b.json\n"
        "\n"
        "A/B: how many times as fast B is, by medians.");
    command->callback([o, &common] { compare(common, *o); });
}

}  // namespace vkf

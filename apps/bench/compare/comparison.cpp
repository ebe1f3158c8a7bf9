#include "apps/bench/compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "apps/bench/suite/suite_plan.h"

namespace vkf {

namespace {

using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;

Key key_of(const Measurement& m) {
    return {m.family, m.name, m.shape, m.layout, m.precision};
}

std::vector<std::pair<std::string, Speedups>> means(const std::vector<ComparedMeasurement>& measurements,
                                                    std::size_t reports) {
    struct Sum {
        double logarithms = 0;
        std::int64_t count = 0;
    };
    std::vector<std::pair<std::string, std::vector<Sum>>> sums;
    for (const ComparedMeasurement& m : measurements) {
        const std::string& family = m.any().family;
        auto found = std::ranges::find(sums, family, &std::pair<std::string, std::vector<Sum>>::first);
        if (found == sums.end()) found = sums.insert(sums.end(), {family, std::vector<Sum>(reports)});
        for (std::size_t i = 0; i < reports; ++i)
            if (const auto speedup = m.speedup(i)) {
                found->second[i].logarithms += std::log(*speedup);
                ++found->second[i].count;
            }
    }
    std::vector<std::pair<std::string, Speedups>> made;
    for (const auto& [family, of] : sums) {
        made.emplace_back(family, Speedups());
        for (const Sum& sum : of)
            made.back().second.push_back(sum.count > 0
                                             ? std::optional(std::exp(sum.logarithms / static_cast<double>(sum.count)))
                                             : std::nullopt);
    }
    return made;
}

std::string speedup_text(const std::optional<double>& speedup) {
    return speedup ? fixed(*speedup, 2) : "";
}

}  // namespace

const Measurement& ComparedMeasurement::any() const {
    return **std::ranges::find_if(of, [](const Measurement* m) { return m != nullptr; });
}

std::optional<double> ComparedMeasurement::speedup(std::size_t report) const {
    if (!of.front() || !of[report]) return std::nullopt;
    return of.front()->seconds.median / of[report]->seconds.median;
}

Comparison compare(std::span<const BenchReport> reports) {
    Comparison made;
    std::vector<ComparedMeasurement> all;
    std::map<Key, std::size_t> places;  // in `all`
    made.unmatched.assign(reports.size(), 0);
    for (std::size_t i = 0; i < reports.size(); ++i)
        for (const Measurement& m : reports[i].measurements) {
            const auto [place, is_new] = places.try_emplace(key_of(m), all.size());
            if (is_new) all.push_back({std::vector<const Measurement*>(reports.size())});
            const Measurement*& here = all[place->second].of[i];
            if (here)
                ++made.unmatched[i];  // a report that has it twice
            else
                here = &m;
        }
    const auto wanted = std::min<std::ptrdiff_t>(2, std::ssize(reports));
    for (ComparedMeasurement& m : all) {
        const auto have = std::ranges::count_if(m.of, [](const Measurement* at) { return at != nullptr; });
        if (have >= wanted) {
            made.measurements.push_back(std::move(m));
            continue;
        }
        for (std::size_t i = 0; i < reports.size(); ++i) made.unmatched[i] += m.of[i] != nullptr;
    }
    made.families = means(made.measurements, reports.size());
    return made;
}

std::string report_letter(std::size_t report) {
    return std::string(1, static_cast<char>('A' + report));
}

std::vector<std::string> comparison_notes(std::span<const BenchReport> reports) {
    std::vector<std::string> made;
    int oldest = SUITE_VERSION;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const BenchReport& report = reports[i];
        if (report.suite) {
            require(report.suite->version <= SUITE_VERSION, "report ", report_letter(i), " is of version ",
                    report.suite->version, " of the suite, newer than this program's version ", SUITE_VERSION);
            oldest = std::min(oldest, report.suite->version);
        }
        if (report.precision != reports[0].precision)
            made.push_back(text("A is in ", reports[0].precision, ", ", report_letter(i), " in ", report.precision));
        if (report.kernels != reports[0].kernels)
            made.push_back(
                text("A uses kernels ", reports[0].kernels, ", ", report_letter(i), " uses ", report.kernels));
    }
    for (const std::string& change : suite_changes_since(oldest)) made.push_back("changed in the suite by " + change);
    return made;
}

std::vector<std::vector<std::string>> rows_of(const Comparison& comparison, std::span<const BenchReport> reports) {
    std::vector<std::vector<std::string>> rows{{"family", "what", "shape", "layout"}};
    const bool varied = std::ranges::any_of(comparison.measurements,
                                            [](const ComparedMeasurement& m) { return !m.any().precision.empty(); });
    if (varied) rows[0].push_back("precision");
    for (std::size_t i = 0; i < reports.size(); ++i) rows[0].push_back(report_letter(i) + " ms");
    for (std::size_t i = 1; i < reports.size(); ++i) rows[0].push_back("A/" + report_letter(i));
    for (std::size_t i = 0; i < reports.size(); ++i) rows[0].push_back(report_letter(i) + " of peak");
    for (const ComparedMeasurement& compared : comparison.measurements) {
        const Measurement& m = compared.any();
        std::vector<std::string> row{m.family, m.name, m.shape, m.layout};
        if (varied) row.push_back(m.precision);
        for (const Measurement* at : compared.of) row.push_back(at ? milliseconds_text(at->seconds.median) : "");
        for (std::size_t i = 1; i < reports.size(); ++i) row.push_back(speedup_text(compared.speedup(i)));
        for (std::size_t i = 0; i < reports.size(); ++i)
            row.push_back(compared.of[i] ? share_text(compared.of[i]->share_of_peak(reports[i].peak)) : "");
        rows.push_back(std::move(row));
    }
    for (const auto& [family, speedups] : comparison.families) {
        std::vector<std::string> row{family, "geometric mean"};
        row.resize(rows[0].size());
        const std::size_t first = (varied ? 5 : 4) + reports.size();
        for (std::size_t i = 1; i < reports.size(); ++i) row[first + i - 1] = speedup_text(speedups[i]);
        if (reports.size() > 1) rows.push_back(std::move(row));
    }
    return rows;
}

std::string unmatched_text(const Comparison& comparison) {
    std::string made = "no match:";
    for (std::size_t i = 0; i < comparison.unmatched.size(); ++i)
        made +=
            text(i > 0 ? ", " : " ", comparison.unmatched[i], i > 0 ? "" : " measurements", " of ", report_letter(i));
    return made;
}

}  // namespace vkf

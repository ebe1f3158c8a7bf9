// vkformer pdmm: the distributed optimisation that the papers derive their attention from, on graphs.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/option_values.h"
#include "apps/cli/output_file.h"
#include "apps/cli/progress.h"
#include "apps/pdmm/convergence.h"
#include "apps/plots/line_plot.h"
#include "base/files/file.h"

namespace vkf {

namespace {

struct PdmmOptions {
    std::string graph = "random", cost = "quadratic", method = "all", form = "solve", plot;
    std::int64_t nodes = 20, dimension = 5, iterations = 200;
    std::optional<double> edge_probability, rho, eta, tolerance;
    double message_loss = 0;
    bool asynchronous = false;
};

struct MethodRun {
    std::string name;
    pdmm::Method method;
    Convergence convergence = {};
};

/// Probability of edges in a random graph: twice the value above which large random graphs are connected.
double edge_probability(const PdmmOptions& o) {
    const double n = static_cast<double>(o.nodes);
    return o.edge_probability.value_or(std::min(1.0, 2 * std::log(n) / n));
}

pdmm::Graph make_graph(const PdmmOptions& o, std::uint64_t seed) {
    const auto nodes = static_cast<std::size_t>(o.nodes);
    if (o.graph == "chain") return pdmm::chain(nodes);
    if (o.graph == "ring") return pdmm::ring(nodes);
    if (o.graph == "random") return pdmm::random_graph(nodes, edge_probability(o), seed);
    auto rows = static_cast<std::size_t>(std::sqrt(static_cast<double>(nodes)));
    while (nodes % rows != 0) --rows;
    require(rows > 1, "--nodes ", nodes, ": a grid needs a number of rows times one of columns, both above 1");
    return pdmm::grid(rows, nodes / rows);
}

/// Throws InputError if the problem takes too much memory.
void require_size(const PdmmOptions& o) {
    constexpr double MOST = 2.0 * 1024 * 1024 * 1024;
    const double n = static_cast<double>(o.nodes), d = static_cast<double>(o.dimension);
    const double edges = o.graph == "random" ? edge_probability(o) * n * n / 2 : 2 * n;
    const double bytes = 8 * (n * (12 * d * d + 20 * d) + edges * (2 * d * d + 8 * d + 40));
    require(bytes <= MOST, "--nodes ", o.nodes, " of --dimension ", o.dimension, ": the problem takes about ",
            bytes_text(bytes), ", wanted at most ", bytes_text(MOST));
}

std::vector<MethodRun> wanted_methods(const PdmmOptions& o) {
    const pdmm::Method quadratic = o.form == "difference" ? pdmm::Method::qa_pdmm_difference : pdmm::Method::qa_pdmm;
    std::vector<MethodRun> all{{"pdmm", pdmm::Method::pdmm}, {"qa-pdmm", quadratic}, {"admm", pdmm::Method::admm}};
    if (o.method != "all") std::erase_if(all, [&](const MethodRun& each) { return each.name != o.method; });
    return all;
}

std::string scientific(double value) {
    std::ostringstream stream;
    stream.precision(2);
    stream << std::scientific;
    print_part(stream, value);
    return stream.str();
}

std::string convergence_plot(const PdmmOptions& o, const std::vector<MethodRun>& runs) {
    LinePlot plot{
        .title = text(o.cost, " costs on a ", o.graph, o.graph == "random" ? " graph" : "", " of ", o.nodes, " nodes"),
        .x_label = "iterations",
        .y_label = "relative error",
        .log_y = true};
    for (const MethodRun& run : runs) {
        Curve curve{.name = run.name, .y = run.convergence.errors};
        for (std::size_t k = 0; k < curve.y.size(); ++k) curve.x.push_back(static_cast<double>(k));
        plot.curves.push_back(std::move(curve));
    }
    return line_plot_svg(plot);
}

void print_results(const Common& common, const PdmmOptions& o, const pdmm::Problem& problem, pdmm::StepSizes steps,
                   const std::vector<MethodRun>& runs) {
    const auto [m, l] = problem.curvature();
    const std::size_t edges = problem.graph().edges().size();
    if (common.json) {
        nlohmann::ordered_json document{{"graph", o.graph},         {"nodes", o.nodes},
                                        {"edges", edges},           {"cost", o.cost},
                                        {"dimension", o.dimension}, {"convexity", m},
                                        {"smoothness", l},          {"rho", steps.rho},
                                        {"eta", steps.eta},         {"methods", nlohmann::ordered_json::array()}};
        for (const MethodRun& run : runs) {
            const Convergence& c = run.convergence;
            document["methods"].push_back({{"method", run.name},
                                           {"iterations", c.errors.size() - 1},
                                           {"error", c.errors.back()},
                                           {"residual", c.residual},
                                           {"diverged", c.diverged},
                                           {"seconds", c.seconds},
                                           {"errors", c.errors}});
        }
        return print_json(document);
    }
    std::vector<std::vector<std::string>> rows{{"method", "iterations", "error", "residual", "seconds"}};
    for (const MethodRun& run : runs) {
        const Convergence& c = run.convergence;
        rows.push_back({run.name, text(c.errors.size() - 1, c.diverged ? " (diverges)" : ""),
                        scientific(c.errors.back()), scientific(c.residual), fixed(c.seconds, 3)});
    }
    print(text(o.nodes, " nodes, ", edges, " edges, ", o.cost, " costs of ", o.dimension, " variables, m ", m, ", L ",
               l, "; rho ", steps.rho, ", eta ", steps.eta, '\n', table(rows)));
}

void run_pdmm(const Common& common, const PdmmOptions& o) {
    require(o.graph == "random" || !o.edge_probability, "--edge-probability has no effect without --graph random");
    const bool quadratic = o.method == "all" || o.method == "qa-pdmm";
    require(quadratic || !o.eta, "--eta has no effect without --method qa-pdmm");
    require(quadratic || o.form == "solve", "--form has no effect without --method qa-pdmm");
    if (!o.plot.empty()) require_output("--plot", o.plot, {});
    require_size(o);
    pdmm::Costs costs = random_costs(o.cost, static_cast<std::size_t>(o.nodes), o.dimension, common.seed);
    const auto total = pdmm::sum_of(costs);
    const pdmm::Vector zero = pdmm::Vector::Zero(o.dimension);
    const pdmm::Vector optimum = pdmm::minimizer(*total, pdmm::Matrix::Zero(o.dimension, o.dimension), zero, zero);
    const pdmm::Problem problem = pdmm::consensus(make_graph(o, common.seed), std::move(costs));
    const pdmm::Curvature curvature = problem.curvature();
    const pdmm::StepSizes steps{.rho = o.rho.value_or(std::sqrt(curvature.convexity * curvature.smoothness)),
                                .eta = o.eta.value_or(pdmm::stable_eta(curvature))};
    std::vector<MethodRun> runs = wanted_methods(o);
    catch_interrupts();
    for (MethodRun& run : runs) {
        Progress progress(common, run.name, "iterations", o.iterations);
        pdmm::Network network(problem, run.method, steps,
                              {.asynchronous = o.asynchronous, .loss = o.message_loss, .seed = common.seed});
        run.convergence =
            converge(network, problem, optimum, o.iterations, o.tolerance.value_or(0), [&](std::int64_t done) {
                stop_if_interrupted();
                progress.update(done);
            });
    }
    if (!o.plot.empty()) write_atomically(o.plot, convergence_plot(o, runs));
    for (const MethodRun& run : runs)
        if (o.tolerance && !(run.convergence.errors.back() <= *o.tolerance))
            throw Error(run.name, ": error ", scientific(run.convergence.errors.back()), " after ",
                        run.convergence.errors.size() - 1, " iterations, wanted ", scientific(*o.tolerance));
    print_results(common, o, problem, steps, runs);
}

}  // namespace

void add_pdmm(cli::Command& app, Common& common) {
    cli::Command& command =
        app.add_subcommand("pdmm", "Distributed optimisation on graphs, which the attention variants come from");
    auto o = std::make_shared<PdmmOptions>();
    const auto choice = [&](const char* name, std::string& value, const std::vector<std::string>& words,
                            const char* help) {
        command.add_option(name, value, help).type_name(joined(words, "|")).capture_default_str().check(one_of(words));
    };
    const auto count = [&](const char* name, std::int64_t& value, std::int64_t least, std::int64_t most,
                           const char* help) {
        command.add_option(name, value, help).type_name("N").capture_default_str().check(whole(least, most));
    };
    const auto optional = [&](const char* name, std::optional<double>& value, const Range& range, const char* help) {
        command
            .add_option_function(
                name, [&value](const std::vector<std::string>& words) { value = read_number(words.back()); }, help)
            .type_name("X")
            .check(number(range));
    };
    const Range positive{.least = 0, .most = 1e12, .least_too = false};
    choice("--graph", o->graph, {"chain", "ring", "grid", "random"}, "How nodes are connected");
    count("--nodes", o->nodes, 2, 10'000, "Nodes");
    optional("--edge-probability", o->edge_probability, {.least = 0, .most = 1, .least_too = false},
             "Probability that --graph random connects a pair of nodes [2·ln(nodes)/nodes]");
    choice("--cost", o->cost, {"quadratic", "logistic"}, "Each node's cost: least squares, or logistic regression");
    count("--dimension", o->dimension, 1, 1000, "Variables of each node");
    choice("--method", o->method, {"all", "pdmm", "qa-pdmm", "admm"}, "Method to run; all compares them");
    choice("--form", o->form, {"solve", "difference"},
           "How qa-pdmm computes its updates; both are equal but for rounding");
    optional("--rho", o->rho, positive, "Weight of the constraints [√(m·L) of the costs' curvatures m and L]");
    optional("--eta", o->eta, positive, "Second derivative in qa-pdmm's approximations [max(L, L²/2m)]");
    count("--iterations", o->iterations, 1, 10'000'000, "Iterations");
    command.add_flag("--asynchronous", o->asynchronous, "Activate one node at a time, at random");
    command.add_option("--message-loss", o->message_loss, "Probability that a message is lost")
        .type_name("X")
        .capture_default_str()
        .check(number({.least = 0, .most = 1, .most_too = false}));
    optional("--tolerance", o->tolerance, positive, "Relative error at which to stop; a method that misses it fails");
    command.add_option("--plot", o->plot, "Picture to write: errors by iteration").type_name("FILE.svg");
    add_common(command, common);
    command.footer(
        "Examples:\n"
        "  vkformer pdmm --graph grid --nodes 25 --plot convergence.svg\n"
        "  vkformer pdmm --method qa-pdmm --cost logistic --asynchronous --message-loss 0.2 --iterations 2000\n"
        "\n"
        "Every node has a cost and a vector, and neighbours must agree. The error is that of all vectors against the\n"
        "minimum of the costs' sum. docs/pdmm.md tells how attention's terms come from PDMM's.\n");
    command.callback([o, &common] { run_pdmm(common, *o); });
}

}  // namespace vkf

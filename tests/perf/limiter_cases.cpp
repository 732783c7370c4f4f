// Small and odd quotas, row by row: whether the limiter stalls or storms.
//
//   bench_limiter_cases simulated [SEEDS] [PART OF A NAME]    on the virtual clock
//   bench_limiter_cases sockets [PART OF A NAME]              against servers, side by side,
//   minutes
//
// Ends with 1 when a row misses: less than 80 % of what the quota allows, 429s after the first
// burst, a silence that the quota does not explain, or a call that fails.
#include "limit_cases.hpp"
#include "quota_server.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace heddle;

std::vector<testing::limit_case> chosen(std::string_view part) {
    std::vector<testing::limit_case> cases;
    for (auto& each : testing::limit_cases()) {
        if (each.name.find(part) != std::string::npos) cases.push_back(std::move(each));
    }
    return cases;
}

void print_heading() {
    std::printf("%-42s %6s %6s %6s %7s %8s %8s %8s\n", "", "sent", "burst", "later", "later %",
                "seconds", "ideal %", "silence");
}

/// Whether the row holds.
bool print_row(const std::string& name, const testing::limit_case_figures& figures) {
    const std::string fault = figures.fault();
    std::printf("%-42s %6zu %6zu %6zu %7.2f %8.2f %8.1f %8.2f %s\n", name.c_str(), figures.sent,
                figures.limited - figures.limited_late, figures.limited_late,
                100 * figures.late_share(), figures.seconds, 100 * figures.of_ideal(),
                figures.silence, fault.c_str());
    return fault.empty();
}

/// The worst of the seeds, by what the service lets through.
int simulated(unsigned seeds, std::string_view part) {
    int faults = 0;
    print_heading();
    for (const auto& each : chosen(part)) {
        std::optional<testing::limit_case_figures> worst;
        for (unsigned seed = 1; seed <= seeds; ++seed) {
            testing::limit_case varied = each;
            varied.quota.phase = std::fmod((seed - 1) * 0.37, 1.0);
            const auto figures = testing::simulate_case(varied, seed);
            const bool bad = !figures.fault().empty();
            const bool was_bad = worst && !worst->fault().empty();
            if (!worst || (bad && !was_bad) ||
                (bad == was_bad && figures.of_ideal() < worst->of_ideal())) {
                worst = figures;
            }
        }
        faults += print_row(each.name, *worst) ? 0 : 1;
    }
    return faults;
}

int over_sockets(std::string_view part) {
    const auto cases = chosen(part);
    const auto all = testing::run_cases_over_sockets(cases);
    int faults = 0;
    print_heading();
    for (std::size_t i = 0; i < cases.size(); ++i) {
        faults += print_row(cases[i].name, all[i]) ? 0 : 1;
    }
    return faults;
}

} // namespace

int main(int count, char** arguments) {
    const std::string_view how = count > 1 ? arguments[1] : "simulated";
    if (how == "sockets") return over_sockets(count > 2 ? arguments[2] : "") == 0 ? 0 : 1;
    const int seeds = count > 2 ? std::max(1, std::atoi(arguments[2])) : 5;
    return simulated(static_cast<unsigned>(seeds), count > 3 ? arguments[3] : "") == 0 ? 0 : 1;
}

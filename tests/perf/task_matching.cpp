// What it costs to find the tasks that a text speaks of.
//
//   bench_task_matching [TEMPLATES] [WORDS]
//
// Descriptions are of WORDS words out of 20,000, a few of which are everywhere; the questions hold
// 3, 10 and 30 words.
#include <heddle/tasks/definition/task_registry.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace heddle::tasks;
using clock_type = std::chrono::steady_clock;

class words {
public:
    std::string text(int count) {
        std::string out;
        for (int i = 0; i < count; ++i) out += next() + " ";
        return out;
    }

private:
    std::string next() {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        const double even = static_cast<double>(state_ >> 11) / 9007199254740992.0;
        return "w" + std::to_string(static_cast<int>(std::pow(20'000.0, even)));
    }
    std::uint64_t state_ = 42;
};

double milliseconds(clock_type::duration span) {
    return std::chrono::duration<double, std::milli>(span).count();
}

} // namespace

int main(int count, char** arguments) {
    const int templates = count > 1 ? std::atoi(arguments[1]) : 10'000;
    const int each = count > 2 ? std::atoi(arguments[2]) : 12;
    words source;
    task_registry all;
    auto began = clock_type::now();
    for (int i = 0; i < templates; ++i) {
        task_template declared;
        declared.name = "task-" + std::to_string(i);
        declared.description = source.text(each);
        all.add({compile_task(std::move(declared)).value(), {}});
    }
    std::printf("%d templates of %d words registered in %.1f ms\n", templates, each,
                milliseconds(clock_type::now() - began));
    began = clock_type::now();
    (void)all.find_matching_tasks("w1");
    std::printf("first match, which reads the descriptions: %.1f ms\n",
                milliseconds(clock_type::now() - began));
    for (const int asked : {3, 10, 30}) {
        std::vector<double> took;
        std::size_t found = 0;
        for (int i = 0; i < 101; ++i) {
            const std::string text = source.text(asked);
            began = clock_type::now();
            found += all.find_matching_tasks(text, default_match_threshold, {"task-7"}).size();
            took.push_back(milliseconds(clock_type::now() - began));
        }
        std::sort(took.begin(), took.end());
        std::printf("question of %2d words: median %.2f ms, worst of 101 %.2f ms, %zu matches\n",
                    asked, took[50], took[100], found / 101);
    }
    return 0;
}

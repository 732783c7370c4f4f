// The property of templates_fuzzer.cpp over pieces of real files, put together at random: a short
// run without libFuzzer.
#include "templates_check.hpp"
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

namespace heddle::fuzzing {
namespace {

std::vector<std::string> seeds() {
    std::vector<std::string> strings;
    const std::filesystem::path root = heddle::test_paths::source_folder();
    for (const char* folder : {"tests/fuzz/corpus/templates", "tests/data/templates"}) {
        for (const auto& each : std::filesystem::directory_iterator(root / folder)) {
            std::ifstream in(each.path(), std::ios::binary);
            strings.emplace_back(std::istreambuf_iterator<char>(in),
                                 std::istreambuf_iterator<char>());
        }
    }
    std::sort(strings.begin(), strings.end());
    return strings;
}

/// One file with a few pieces cut out, doubled, taken from another, or spoilt.
std::string mutated(const std::vector<std::string>& from, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string text = from[random() % from.size()];
    const auto place = [&](const std::string& in) { return in.empty() ? 0 : random() % in.size(); };
    static constexpr std::string_view pieces[]{"<",     ">",     "&",    "\"",        "{{",
                                               "}}",    "]]>",   "<!--", "<![CDATA[", "&lt;",
                                               "&#x0;", "<?x?>", "=",    "'"};
    for (std::uint64_t i = 0; i < 1 + seed % 6; ++i) {
        const std::size_t at = place(text);
        switch (random() % 5) {
        case 0: text.erase(at, random() % 40); break;
        case 1: text.insert(at, text.substr(place(text), random() % 60)); break;
        case 2: {
            const std::string& other = from[random() % from.size()];
            text.insert(at, other.substr(place(other), random() % 80));
            break;
        }
        case 3: text.insert(at, pieces[random() % std::size(pieces)]); break;
        default:
            if (!text.empty()) text[at] = static_cast<char>(random());
        }
    }
    return text;
}

TEST(templates_check, holds_for_spoilt_files) {
    const std::vector<std::string> from = seeds();
    ASSERT_GE(from.size(), 8U);
    for (const std::string& text : from) ASSERT_EQ(check_templates(text), "");
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    std::uint64_t seed = 1;
    for (; seed <= 20'000 && std::chrono::steady_clock::now() < give_up; ++seed) {
        const std::string text = mutated(from, seed);
        ASSERT_EQ(check_templates(text), "") << "seed " << seed << "\n" << text;
    }
    EXPECT_GE(seed, 20U);
    RecordProperty("files", static_cast<int>(seed));
}

} // namespace
} // namespace heddle::fuzzing

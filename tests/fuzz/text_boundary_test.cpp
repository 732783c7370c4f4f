// The property of text_boundary_fuzzer.cpp over a fixed series of inputs: a short run without
// libFuzzer.
#include "test_paths.hpp"
#include "text_boundary_check.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace heddle::fuzzing {
namespace {

using bytes = std::vector<std::uint8_t>;

void add(bytes& to, std::string_view text) { to.insert(to.end(), text.begin(), text.end()); }

std::vector<std::string> recorded_bodies() {
    std::vector<std::string> strings;
    for (const auto& file : std::filesystem::recursive_directory_iterator(
             std::filesystem::path(heddle::test_paths::data_folder()) / "wire")) {
        if (!file.is_regular_file()) continue;
        std::ifstream in(file.path(), std::ios::binary);
        std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
        if (!text.empty() && text.size() < 20'000) strings.push_back(std::move(text));
    }
    std::sort(strings.begin(), strings.end());
    return strings;
}

/// Text with parts of characters in it.
std::string odd_text(std::mt19937& random) {
    static constexpr std::array<std::string_view, 24> pieces{
        "a",        "é",       "日",           "🧵",         "\xF0",     "\xF0\x9F",
        "\xE2\x82", "\x80",    "\xFF",         "\xED\xA0\x80", "\xC0\xAF", "\xC2\x9B",
        "\x1b[31m", "\\ud83e", "\\uddf5",      "\"",           "\\",       "{",
        "}}",       "(",       "\xEF\xBB\xBF", "\n",           "\"a\":",   "[1,"};
    std::string text;
    for (unsigned n = random() % 12; n > 0; --n) text += pieces[random() % pieces.size()];
    return text;
}

bytes some_input(const std::vector<std::string>& bodies, std::mt19937& random) {
    bytes result;
    for (int i = 0; i < 4; ++i) result.push_back(static_cast<std::uint8_t>(random()));
    if (result[0] % text_boundary_check::boundaries() == 4 ||
        result[0] % text_boundary_check::boundaries() == 5) {
        result.resize(3);
        std::string body = bodies[random() % bodies.size()];
        for (unsigned n = random() % 4; n > 0 && !body.empty(); --n) {
            const std::size_t at = random() % body.size();
            body.replace(at, random() % 4, odd_text(random));
        }
        add(result, body);
        return result;
    }
    for (unsigned n = random() % 6; n > 0; --n) {
        result.push_back(static_cast<std::uint8_t>(random()));
        add(result, odd_text(random));
    }
    return result;
}

TEST(text_boundary_check, holds_for_odd_bytes_at_every_boundary) {
    const auto bodies = recorded_bodies();
    ASSERT_GE(bodies.size(), 100U);
    text_boundary_check check;
    std::mt19937 random(9);
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(4);
    int round = 0;
    for (; round < 100'000 && std::chrono::steady_clock::now() < give_up; ++round) {
        const bytes input = some_input(bodies, random);
        ASSERT_EQ(check.run(input), "") << "in round " << round;
    }
    EXPECT_GE(check.values * 4, static_cast<std::uint64_t>(round));
    EXPECT_GE(check.errors * 10, static_cast<std::uint64_t>(round));
    RecordProperty("inputs", round);
}

} // namespace
} // namespace heddle::fuzzing

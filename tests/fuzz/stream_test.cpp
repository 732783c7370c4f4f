// The properties of the stream fuzzers over a fixed series of inputs: a short run without
// libFuzzer.
#include "stream_check.hpp"
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace heddle::fuzzing {
namespace {

struct seeds {
    std::string folder;
    std::size_t codec; ///< as chat_stream_check counts them
    std::vector<std::string> streams;
};

/// The recorded and documented streams.
std::vector<seeds> recorded() {
    std::vector<seeds> seedss = {{"openai-chat", 0, {}},
                                 {"openai-responses", 1, {}},
                                 {"anthropic", 2, {}},
                                 {"gemini", 3, {}},
                                 {"ollama", 4, {}}};
    for (seeds& one : seedss) {
        const auto folder =
            std::filesystem::path(heddle::test_paths::data_folder()) / "wire" / one.folder;
        for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
            const auto type = file.path().extension();
            if (type != ".sse" && type != ".ndjson") continue;
            std::ifstream in(file.path(), std::ios::binary);
            one.streams.emplace_back(std::istreambuf_iterator<char>(in),
                                     std::istreambuf_iterator<char>());
        }
    }
    return seedss;
}

/// A few bytes lost, doubled, exchanged or taken from another stream.
std::string damaged(const std::vector<std::string>& streams, std::mt19937& random) {
    std::string stream = streams[random() % streams.size()];
    for (unsigned n = random() % 4; n > 0 && !stream.empty(); --n) {
        const std::size_t at = random() % stream.size();
        const std::string& other = streams[random() % streams.size()];
        switch (random() % 6) {
        case 0: stream[at] = static_cast<char>(random()); break;
        case 1: stream.erase(at, random() % 80); break;
        case 2: stream.insert(at, stream.substr(random() % stream.size(), 200)); break;
        case 3: stream.insert(at, other.substr(random() % other.size(), 300)); break;
        case 4:
            stream.insert(at, std::array{"\n", "\r", "\r\n", "\n\n", "data:", ":"}[random() % 6]);
            break;
        default: stream.resize(at); break;
        }
    }
    return stream;
}

TEST(stream_check, holds_for_damaged_streams_of_every_service) {
    const auto all = recorded();
    chat_stream_check check;
    ASSERT_EQ(check.codecs(), all.size());
    std::mt19937 random(5);
    // The same streams each time; how many of them depends on the machine and the build.
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    int round = 0;
    for (; round < 4'000 && std::chrono::steady_clock::now() < give_up; ++round) {
        const seeds& one = all[static_cast<std::size_t>(round) % all.size()];
        ASSERT_FALSE(one.streams.empty()) << one.folder;
        std::string bytes(1, static_cast<char>(one.codec));
        bytes += static_cast<char>(random());
        bytes += damaged(one.streams, random);
        ASSERT_EQ(check.run(bytes), "") << one.folder << " in round " << round;
        ASSERT_EQ(check_sse(std::string_view(bytes).substr(2), 1 + random() % 90), "") << round;
        ASSERT_EQ(check_ndjson(std::string_view(bytes).substr(2), 1 + random() % 90), "") << round;
    }
    // The streams do what they are for: a good part is read to its end, a good part is not.
    EXPECT_GE(check.responses * 10, static_cast<std::size_t>(round)) << check.responses;
    EXPECT_GE(check.errors * 10, static_cast<std::size_t>(round)) << check.errors;
    RecordProperty("streams", round);
}

} // namespace
} // namespace heddle::fuzzing

// A folder with files of rows.
#pragma once

#include <heddle/rows/row_reader.hpp>

#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::rows {

class rows_fixture : public ::testing::Test {
protected:
    rows_fixture() {
        static std::atomic<int> count{0};
        folder = std::filesystem::temp_directory_path() /
                 ("heddle-rows-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
        std::filesystem::create_directories(folder);
    }
    ~rows_fixture() override { std::filesystem::remove_all(folder); }

    [[nodiscard]] std::string path(const std::string& name) const { return folder / name; }
    std::string put(const std::string& name, std::string_view bytes) const {
        std::ofstream(path(name), std::ios::binary) << bytes;
        return path(name);
    }
    [[nodiscard]] std::string get(const std::string& name) const {
        std::ifstream in(path(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    [[nodiscard]] static std::string zstd(std::string_view text) {
        std::string packed(ZSTD_compressBound(text.size()), '\0');
        packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
        return packed;
    }

    /// What a reader delivered: JSON of good rows, "! message" of bad ones, and how it ended.
    struct reading {
        std::vector<std::string> rows;
        std::vector<row_item> items;
        std::string failure;
    };
    [[nodiscard]] static reading read(row_input input) {
        reading all;
        auto reader = row_reader::open(std::move(input));
        if (!reader) {
            all.failure = reader.error().message();
            return all;
        }
        for (;;) {
            auto item = (*reader)->next();
            if (!item) {
                all.failure = item.error().message();
                EXPECT_FALSE((*reader)->next());
                return all;
            }
            if (!*item) return all;
            if (const auto* good = std::get_if<row>(&**item)) all.rows.push_back(good->json);
            else all.rows.push_back("! " + std::get<bad_row>(**item).problem.message());
            all.items.push_back(**std::move(item));
        }
    }
    [[nodiscard]] reading read_file(const std::string& name, std::string_view bytes) const {
        row_input input;
        input.files = {put(name, bytes)};
        reading all = read(input);
        for (std::string& line : all.rows) shorten(line);
        shorten(all.failure);
        return all;
    }
    /// Without the name of the folder.
    void shorten(std::string& text) const {
        const std::string prefix = folder.string() + "/";
        for (std::size_t at = 0; (at = text.find(prefix, at)) != std::string::npos;)
            text.erase(at, prefix.size());
    }

    std::filesystem::path folder;
};

using lines = std::vector<std::string>;

} // namespace heddle::rows

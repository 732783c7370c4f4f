#include "batch/results/output_mark.hpp"

#include "sources/digest_text.hpp"

#include <heddle/rows/row.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

namespace heddle::cli {

namespace {

constexpr std::string_view database_beginning = "SQLite format 3";

} // namespace

std::string mark_of_output(const std::string& file, std::uint64_t size) {
    constexpr std::uint64_t described = 4096;
    std::error_code failed;
    if (size == 0 || !std::filesystem::is_regular_file(file, failed)) return {};
    std::ifstream in(file, std::ios::binary);
    std::string beginning(database_beginning.size(), '\0');
    if (in.read(beginning.data(), static_cast<std::streamsize>(beginning.size())) &&
        beginning == database_beginning) {
        return {}; // whose table names its run
    }
    in.clear();
    const std::uint64_t bytes = std::min(size, described);
    std::string text(bytes, '\0');
    in.seekg(static_cast<std::streamoff>(size - bytes));
    in.read(text.data(), static_cast<std::streamsize>(bytes));
    if (!in) text.clear(); // a file that ends earlier
    return std::to_string(size) + ':' + hex_of(rows::digest_of_content(text));
}

std::optional<bool> fits_mark(const std::string& file, std::string_view mark) {
    std::uint64_t size = 0;
    const auto [end, wrong] = std::from_chars(mark.data(), mark.data() + mark.size(), size);
    std::error_code failed;
    if (wrong != std::errc() || size == 0 || !std::filesystem::is_regular_file(file, failed))
        return std::nullopt;
    return mark_of_output(file, size) == mark;
}

} // namespace heddle::cli

#include "repl/history_file.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/fs/descriptor.hpp>
#include <heddle/fs/replacement_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

namespace heddle::cli {

namespace {

constexpr char line_mark = '\x1e'; ///< between the lines of an entry

/// Opens for its owner alone, also a file that others could read until now.
fs::descriptor open_private(const std::string& path, int flags) {
    fs::descriptor file(::open(path.c_str(), flags | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file.open()) (void)::fchmod(file.get(), 0600);
    return file;
}

/// Leaves the file as it is if anything fails: a longer history costs less than a lost one.
void shorten(const std::string& path, const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    fs::replacement_file shorter(path);
    (void)(shorter.is_open() && shorter.write(text) && shorter.sync() && shorter.take_place());
}

} // namespace

std::optional<std::string> history_path(const setup::environment& variables) {
    const auto folder = variables.state_folder();
    return folder ? std::optional(*folder + "/history") : std::nullopt;
}

bool looks_secret(std::string_view given) {
    const std::string text = ascii::to_lower(given);
    static constexpr std::array<std::string_view, 9> marks{"sk-",    "api_key",  "api-key",
                                                           "apikey", "password", "passwd",
                                                           "secret", "bearer ",  "authorization"};
    return std::any_of(marks.begin(), marks.end(),
                       [&](std::string_view mark) { return text.find(mark) != std::string::npos; });
}

std::vector<std::string> history_file::load() const {
    std::vector<std::string> lines;
    if (!path_) return lines;
    std::ifstream stream(*path_, std::ios::binary);
    for (std::string line; std::getline(stream, line);) {
        if (!line.empty()) lines.push_back(std::move(line));
    }
    // What could not be read must not be lost.
    const bool grown = lines.size() > 2 * max_entries && !stream.bad();
    if (lines.size() > max_entries)
        lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(max_entries));
    if (grown) shorten(*path_, lines);
    for (std::string& line : lines) std::replace(line.begin(), line.end(), line_mark, '\n');
    return lines;
}

void history_file::add(std::string_view entry) {
    if (!path_ || entry.empty() || entry == last_ || looks_secret(entry)) return;
    last_ = entry;
    std::string line(entry);
    std::replace(line.begin(), line.end(), '\n', line_mark);
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(*path_).parent_path(), ignored);
    const fs::descriptor file = open_private(*path_, O_WRONLY | O_APPEND);
    if (file.open()) (void)fs::write_all(file.get(), line + "\n");
}

} // namespace heddle::cli

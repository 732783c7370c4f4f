#include "repl/history_file.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/setup/input_files.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

namespace heddle::cli {

namespace fs = std::filesystem;

namespace {

constexpr char line_mark = '\x1e'; ///< between the lines of an entry

/// Opens for its owner alone, also a file that others could read until now.
int open_private(const std::string& path, int flags) {
    const int file = ::open(path.c_str(), flags | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0) (void)::fchmod(file, 0600);
    return file;
}

void write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(file, text.data(), text.size());
        if (count <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
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
    const bool grown = lines.size() > 2 * max_entries;
    if (lines.size() > max_entries)
        lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(max_entries));
    if (grown) {
        const std::string shorter = *path_ + ".part-" + std::to_string(::getpid());
        if (const int file = open_private(shorter, O_WRONLY | O_TRUNC); file >= 0) {
            std::string text;
            for (const std::string& line : lines) text += line + "\n";
            write_all(file, text);
            ::close(file);
            if (::rename(shorter.c_str(), path_->c_str()) != 0) ::unlink(shorter.c_str());
        }
    }
    for (std::string& line : lines) std::replace(line.begin(), line.end(), line_mark, '\n');
    return lines;
}

void history_file::add(std::string_view entry) {
    if (!path_ || entry.empty() || entry == last_ || looks_secret(entry)) return;
    last_ = entry;
    std::string line(entry);
    std::replace(line.begin(), line.end(), '\n', line_mark);
    std::error_code ignored;
    fs::create_directories(fs::path(*path_).parent_path(), ignored);
    const int file = open_private(*path_, O_WRONLY | O_APPEND);
    if (file < 0) return;
    write_all(file, line + "\n");
    ::close(file);
}

} // namespace heddle::cli

#include "batch/results/dead_letter_file.hpp"

#include <heddle/fs/replacement_file.hpp>
#include <heddle/fs/sync_file.hpp>
#include <heddle/rows/result_replacement.hpp>

#include <boost/json/parse.hpp>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace heddle::cli {

namespace {

error failed(const std::string& file) {
    return error(errc::io_error, file + ": " + std::strerror(errno));
}

/// As dead_letter_writer has written it, however deep the row is.
std::optional<std::uint64_t> row_as_written(std::string_view line) {
    constexpr std::string_view beginning = "{\"id\":\"";
    constexpr std::string_view next = ",\"row\":";
    if (!line.starts_with(beginning)) return std::nullopt;
    std::size_t at = beginning.size();
    while (at < line.size() && line[at] != '"') at += line[at] == '\\' ? 2 : 1;
    if (at >= line.size()) return std::nullopt;
    line.remove_prefix(at + 1);
    if (!line.starts_with(next)) return std::nullopt;
    line.remove_prefix(next.size());
    std::uint64_t number = 0;
    const auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), number);
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    if (failed != std::errc() || !line.starts_with(",\"file\":") || !line.ends_with('}'))
        return std::nullopt;
    return number;
}

/// The number of the row of a letter; nothing for a line that is none.
std::optional<std::uint64_t> row_of(const std::string& line) {
    if (const auto row = row_as_written(line)) return row;
    boost::system::error_code wrong;
    boost::json::parse_options bounds;
    bounds.max_depth = 200;
    const boost::json::value letter = boost::json::parse(line, wrong, {}, bounds);
    if (wrong || !letter.is_object()) return std::nullopt;
    const boost::json::value* row = letter.get_object().if_contains("row");
    if (!row || !letter.get_object().if_contains("error")) return std::nullopt;
    const auto number = row->to_number<std::uint64_t>(wrong);
    if (wrong) return std::nullopt;
    return number;
}

/// Calls `see(line number, line)` for each whole line. Result: whether the last line was whole.
template <class See>
bool for_each_line(std::ifstream& in, See see) {
    std::string line;
    for (std::uint64_t number = 0; std::getline(in, line); ++number) {
        if (in.eof()) return false; // without its end
        see(number, line);
    }
    return true;
}

/// Letters that take the place of a file.
class replacement {
public:
    replacement(std::string file, mode_t permissions)
        : file_(std::move(file)), fresh_(file_), permissions_(permissions) {}

    [[nodiscard]] result<void> make() {
        if (!fresh_.is_open() || !fresh_.set_mode(permissions_)) return failed(fresh_.name());
        return {};
    }
    void add(const std::string& line) {
        text_ += line;
        text_ += '\n';
        if (text_.size() >= 65'536) write();
    }
    [[nodiscard]] result<void> take_place() {
        write();
        if (failure_) return *failure_;
        if (!fresh_.sync()) return failed(fresh_.name());
        if (!fresh_.take_place() || !fs::sync_folder_of(file_)) return failed(file_);
        return {};
    }

private:
    void write() {
        if (!failure_ && !fresh_.write(text_)) failure_ = failed(fresh_.name());
        text_.clear();
    }

    std::string file_;
    fs::replacement_file fresh_;
    mode_t permissions_;
    std::optional<error> failure_;
    std::string text_;
};

} // namespace

result<void> tidy_dead_letters(const std::string& file,
                               const std::function<bool(std::uint64_t)>& keep) {
    struct stat about {};
    if (file.empty() || ::stat(file.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
    std::unordered_map<std::uint64_t, std::uint64_t> last_of; // row: line
    bool changes = false;
    std::ifstream first(file, std::ios::binary);
    if (!first) return failed(file);
    const bool whole = for_each_line(first, [&](std::uint64_t number, const std::string& line) {
        const auto row = row_of(line);
        if (!row) return;
        if (!keep(*row) || last_of.contains(*row)) changes = true;
        if (keep(*row)) last_of[*row] = number;
    });
    if (whole && !changes) return {};

    std::error_code unresolved;
    const std::string real = std::filesystem::canonical(file, unresolved).string();
    if (unresolved) return error(errc::io_error, file + ": " + unresolved.message());
    replacement fresh(real, about.st_mode & 07777);
    HEDDLE_CHECK(fresh.make());
    std::ifstream second(file, std::ios::binary);
    if (!second) return failed(file);
    for_each_line(second, [&](std::uint64_t number, const std::string& line) {
        const auto row = row_of(line);
        const auto last = row ? last_of.find(*row) : last_of.end();
        if (!row || (last != last_of.end() && last->second == number)) fresh.add(line);
    });
    return fresh.take_place();
}

result<void> replace_dead_letters(const std::string& file, const std::string& fresh) {
    const std::string real = rows::file_behind_links(file);
    struct stat about {};
    if (::stat(fresh.c_str(), &about) != 0) return {};
    if (::stat(real.c_str(), &about) != 0)
        return std::rename(fresh.c_str(), real.c_str()) == 0 && fs::sync_folder_of(real)
                   ? result<void>()
                   : failed(real);
    replacement whole(real, about.st_mode & 07777);
    HEDDLE_CHECK(whole.make());
    std::ifstream earlier(real, std::ios::binary);
    if (!earlier) return failed(real);
    for (std::string line; std::getline(earlier, line);) {
        const bool is_cut = earlier.eof() && line.starts_with("{\"id\":"); // a letter, by a crash
        if (!is_cut && !row_of(line)) whole.add(line);
    }
    std::ifstream letters(fresh, std::ios::binary);
    if (!letters) return failed(fresh);
    for_each_line(letters, [&](std::uint64_t, const std::string& line) { whole.add(line); });
    HEDDLE_CHECK(whole.take_place());
    ::unlink(fresh.c_str());
    return {};
}

result<std::unique_ptr<rows::dead_letter_writer>> open_dead_letters(
    const std::string& file, bool is_own, bool force,
    const std::function<bool(std::uint64_t)>& keep) {
    if (is_own) HEDDLE_CHECK(tidy_dead_letters(file, keep));
    struct stat about {};
    const bool has_bytes =
        ::stat(file.c_str(), &about) == 0 && S_ISREG(about.st_mode) && about.st_size != 0;
    if (!is_own && has_bytes && !force) {
        return error(errc::invalid_argument, file +
                                                 " already exists and does not belong to this "
                                                 "run")
            .with_hint(
                "remove it, name another file with --dead-letters, or replace both with --force");
    }
    rows::output_target target;
    target.file = file;
    target.force = force;
    target.start = is_own ? rows::output_start::after_last_line : rows::output_start::fresh;
    return rows::dead_letter_writer::open(std::move(target));
}

} // namespace heddle::cli

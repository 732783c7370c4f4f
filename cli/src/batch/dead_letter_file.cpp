#include "batch/dead_letter_file.hpp"

#include <boost/json/parse.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <unordered_map>

#include <fcntl.h>
#include <unistd.h>

namespace heddle::cli {

namespace {

error failed(const std::string& file) {
    return error(errc::io_error, file + ": " + std::strerror(errno));
}

/// The number of the row of a letter; nothing for a line that is none.
std::optional<std::uint64_t> row_of(const std::string& line) {
    boost::system::error_code wrong;
    const boost::json::value letter = boost::json::parse(line, wrong);
    if (wrong || !letter.is_object()) return std::nullopt;
    const boost::json::value* row = letter.get_object().if_contains("row");
    if (!row) return std::nullopt;
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

[[nodiscard]] result<void> flush_to_disk(const std::string& file) {
    const int opened = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (opened < 0) return failed(file);
    const bool flushed = ::fsync(opened) == 0;
    ::close(opened);
    if (!flushed) return failed(file);
    return {};
}

} // namespace

result<void> tidy_dead_letters(const std::string& file,
                               const std::function<bool(std::uint64_t)>& keep) {
    if (file.empty() || ::access(file.c_str(), F_OK) != 0) return {};
    std::unordered_map<std::uint64_t, std::uint64_t> last_of; // row: line
    std::uint64_t lines = 0;
    std::ifstream first(file, std::ios::binary);
    if (!first) return failed(file);
    const bool whole = for_each_line(first, [&](std::uint64_t number, const std::string& line) {
        ++lines;
        if (const auto row = row_of(line); row && keep(*row)) last_of[*row] = number;
    });
    if (whole && last_of.size() == lines) return {};

    const std::string fresh = file + ".new";
    {
        std::ifstream second(file, std::ios::binary);
        std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
        if (!second || !out) return failed(fresh);
        for_each_line(second, [&](std::uint64_t number, const std::string& line) {
            const auto row = row_of(line);
            if (!row) return;
            const auto last = last_of.find(*row);
            if (last != last_of.end() && last->second == number) out << line << '\n';
        });
        out.flush();
        if (!out) {
            const error lost = failed(fresh);
            std::remove(fresh.c_str());
            return lost;
        }
    }
    HEDDLE_CHECK(flush_to_disk(fresh));
    if (std::rename(fresh.c_str(), file.c_str()) != 0) return failed(file);
    return {};
}

} // namespace heddle::cli

#include <heddle/rows/result_replacement.hpp>

#include "rows/sqlite_results.hpp"
#include "rows/text_results.hpp"

#include <heddle/fs/sync_file.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace heddle::rows {

namespace {

namespace paths = std::filesystem;

result<void> rename_over(const std::string& fresh, const std::string& file) {
    std::error_code failed;
    const auto about = paths::status(file, failed);
    if (paths::is_regular_file(about)) paths::permissions(fresh, about.permissions(), failed);
    if (std::rename(fresh.c_str(), file.c_str()) == 0) {
        // Before the journal notes it: else a loss of power could bring the earlier file back.
        if (fs::sync_folder_of(file)) return {};
        return error(errc::io_error, file + ": " + std::strerror(errno));
    }
    return error(errc::io_error, file + ": " + std::strerror(errno))
        .with_hint("the results are in " + fresh + "; the same command puts them in their place");
}

} // namespace

std::string file_behind_links(const std::string& file) {
    std::error_code failed;
    if (!paths::is_symlink(file, failed)) return file;
    const paths::path real = paths::canonical(file, failed);
    return failed ? file : real.string();
}

bool has_results(const result_output& output, std::uint64_t size) {
    const auto format = resolved_format(output);
    std::error_code failed;
    const auto about = paths::status(output.target.file, failed);
    if (!format || !paths::is_regular_file(about)) return false;
    if (*format == result_format::sqlite) return has_sqlite_results(output.target.file, size);
    return paths::file_size(output.target.file, failed) == size && !failed;
}

result<void> replace_results(const result_output& output, const std::string& fresh) {
    HEDDLE_TRY(const result_format format, resolved_format(output));
    if (format != result_format::sqlite)
        return rename_over(fresh, file_behind_links(output.target.file));
    HEDDLE_CHECK(replace_sqlite_results(output.target.file, fresh));
    std::error_code failed;
    for (const char* end : {"", "-journal", "-wal", "-shm"}) paths::remove(fresh + end, failed);
    return {};
}

} // namespace heddle::rows

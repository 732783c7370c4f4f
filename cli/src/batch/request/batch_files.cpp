#include "batch/request/batch_files.hpp"

#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

namespace heddle::cli {

namespace {

bool look_at(const std::string& file, struct stat& about) {
    if (file == "-") return ::fstat(STDIN_FILENO, &about) == 0;
    return ::stat(file.c_str(), &about) == 0;
}

bool is_same_file(const std::string& one, const std::string& other) {
    struct stat first {};
    struct stat second {};
    const bool has_first = look_at(one, first);
    const bool has_second = look_at(other, second);
    if (!has_first && !has_second) return is_same_path(one, other);
    if (has_first != has_second || !S_ISREG(first.st_mode)) return false;
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

error refused(const named_file& written, const std::string& also) {
    return error(errc::invalid_argument,
                 written.file + " is " + written.role + " and " + also + " at once")
        .with_hint("name another file; --force does not replace it");
}

} // namespace

std::string absolute_path(const std::string& file) {
    std::error_code failed;
    if (file.empty() || file == "-") return file;
    return std::filesystem::absolute(file, failed).lexically_normal().string();
}

bool is_same_path(const std::string& one, const std::string& other) {
    std::error_code failed;
    return one == other || std::filesystem::weakly_canonical(absolute_path(one), failed) ==
                               std::filesystem::weakly_canonical(absolute_path(other), failed);
}

result<void> check_written_files(const std::vector<named_file>& written,
                                 const std::vector<named_file>& read) {
    for (auto each = written.begin(); each != written.end(); ++each) {
        if (each->file.empty() || each->file == "-") continue;
        for (const named_file& other : read) {
            if (!other.file.empty() && is_same_file(each->file, other.file))
                return refused(*each, other.role);
        }
        for (auto other = written.begin(); other != each; ++other) {
            if (!other->file.empty() && other->file != "-" && is_same_file(each->file, other->file))
                return refused(*each, other->role);
        }
    }
    return {};
}

} // namespace heddle::cli

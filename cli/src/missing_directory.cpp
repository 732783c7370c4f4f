#include "missing_directory.hpp"

#include <heddle/base/utf8.hpp>

#include <filesystem>

namespace heddle::cli {

bool is_missing(const std::string& directory) {
    std::error_code unknown;
    return std::filesystem::status(directory, unknown).type() ==
           std::filesystem::file_type::not_found;
}

error missing_directory(const std::string& directory) {
    return error(errc::not_found,
                 "there is no directory \"" + utf8::printable_line(directory) + "\"");
}

} // namespace heddle::cli

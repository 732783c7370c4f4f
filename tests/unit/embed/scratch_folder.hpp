// A folder for the files of one test.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace heddle::testing {

class scratch_folder {
public:
    scratch_folder()
        : path(std::filesystem::temp_directory_path() /
               ("heddle-embed-" + std::to_string(reinterpret_cast<std::uintptr_t>(this)))) {
        std::filesystem::create_directories(path);
    }
    ~scratch_folder() { std::filesystem::remove_all(path); }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path / name) << text;
        return (path / name).string();
    }
    const std::filesystem::path path;
};

} // namespace heddle::testing

// A program as its handles share it.
#pragma once

#include "program_version.hpp"
#include "runtime_core.hpp"

#include <heddle/runtime_options.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace heddle::embed {

/// Finds the version of the program that a call begins with. Threads: any.
class program_handle : public std::enable_shared_from_this<program_handle> {
public:
    program_handle(std::shared_ptr<runtime_core> core, std::shared_ptr<const program_version> first,
                   load_options options);

    [[nodiscard]] runtime_core& core() const noexcept { return *core_; }
    [[nodiscard]] const std::shared_ptr<runtime_core>& shared_core() const noexcept {
        return core_;
    }
    /// The version now. Looks at its files when it is time to.
    [[nodiscard]] std::shared_ptr<const program_version> current();
    [[nodiscard]] std::shared_ptr<const program_version> latest() const;

private:
    [[nodiscard]] bool is_changed();
    void read_again();
    void end_reading(std::shared_ptr<const program_version> version,
                     const std::optional<error>& failure);

    std::shared_ptr<runtime_core> core_;
    const load_options options_;
    mutable std::mutex mutex_;
    std::shared_ptr<const program_version> version_;
    std::shared_ptr<const imported_files> imports_; ///< of the version that was loaded last
    std::filesystem::file_time_type read_at_{};
    std::chrono::steady_clock::time_point next_look_;
    bool is_reading_ = false;
};

/// A version whose text was read from `file`. Errors: not_found, invalid_argument for text that is
/// not UTF-8.
[[nodiscard]] result<std::string> read_program(const std::string& file);

/// Checks a version, and loads it once where threads of the runtime can do that. Waits for it.
/// Errors: those of the program.
[[nodiscard]] result<void> try_program(const std::shared_ptr<runtime_core>& core,
                                       std::shared_ptr<const program_version> version);

} // namespace heddle::embed

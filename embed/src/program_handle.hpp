// A program as its handles share it.
#pragma once

#include "program_reload.hpp"
#include "program_version.hpp"
#include "runtime_core.hpp"

#include <heddle/coro/deadline.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/runtime_options.hpp>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace heddle::embed {

/// Finds the version of the program that a call begins with. Threads: any.
class program_handle : public std::enable_shared_from_this<program_handle> {
public:
    /// `noted`: of the file of `first`, from before its text was read.
    program_handle(std::shared_ptr<runtime_core> core, std::shared_ptr<const program_version> first,
                   imported_files::time_type noted, load_options options);

    [[nodiscard]] runtime_core& core() const noexcept { return *core_; }
    [[nodiscard]] const std::shared_ptr<runtime_core>& shared_core() const noexcept {
        return core_;
    }
    /// The version now. Looks at its files when it is time to.
    [[nodiscard]] std::shared_ptr<const program_version> current();
    [[nodiscard]] std::shared_ptr<const program_version> latest() const;

private:
    void look();
    [[nodiscard]] bool is_changed() const;
    void start_reload(const std::shared_ptr<program_reload>& begun,
                      std::shared_ptr<const void> place);
    [[nodiscard]] static coro::task<void> reload(std::shared_ptr<program_handle> self,
                                                 std::shared_ptr<program_reload> begun);
    [[nodiscard]] result<std::shared_ptr<const program_version>> read_again();
    void end_reload(std::shared_ptr<const program_version> loaded);
    void log_failure(const error& failure) const;

    const std::shared_ptr<runtime_core> core_;
    const load_options options_;
    const std::string name_;
    const std::string file_; ///< empty: none
    mutable std::mutex mutex_;
    std::shared_ptr<const program_version> version_;
    // Of the version that was read last.
    std::shared_ptr<const imported_files> imports_;
    imported_files::time_type noted_;
    coro::deadline next_look_;
    std::weak_ptr<program_reload> reloading_; ///< held by the load, however that ends
    bool has_read_ = false;                   ///< what is being loaded
};

/// A version whose text was read from `file`. Errors: not_found, io_error, limit_exceeded as
/// setup::read_input_file; invalid_argument for text that is not UTF-8.
[[nodiscard]] result<std::string> read_program(const std::string& file);

/// Checks a version, and loads it in all threads of the runtime. Waits for that, except where a
/// thread that runs workflows would wait for itself: there it is loaded next.
/// Errors: those of the program.
[[nodiscard]] result<void> try_program(const std::shared_ptr<runtime_core>& core,
                                       std::shared_ptr<const program_version> version);

} // namespace heddle::embed

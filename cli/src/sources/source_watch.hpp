// What a program reads of files and of their index.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/ports/file_port.hpp>
#include <heddle/ports/memory_port.hpp>
#include <heddle/ports/process_port.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::cli {

/// A file, directory or question to the index that a program has asked for, and what it got.
struct program_source {
    enum class kind : std::uint8_t {
        text = 1,     ///< of a file
        presence = 2, ///< whether there is a file or directory
        names = 3,    ///< in a directory
        files = 4     ///< that belong to a question (get_context)
    };
    kind what = kind::text;
    std::string asked;  ///< a path, or an encoded question
    std::string digest; ///< of the answer
    [[nodiscard]] friend bool operator==(const program_source&, const program_source&) = default;
};

/// For people: that the top level got another answer to it before.
[[nodiscard]] std::string change_of(const program_source& source);

/// Passes on what sessions ask of files, their index and programs. Notes what is read while
/// noting, and can keep everything from being changed. Threads: the loop's.
class source_watch {
public:
    source_watch();
    ~source_watch();
    source_watch(const source_watch&) = delete;
    source_watch& operator=(const source_watch&) = delete;

    /// The same ports, watched; null stays null. They and what is behind them live as long as this.
    [[nodiscard]] ports::file_port* watch(ports::file_port* behind);
    [[nodiscard]] ports::memory_port* watch(ports::memory_port* behind);
    [[nodiscard]] ports::process_port* watch(ports::process_port* behind);

    /// Files and directories that are written beside the program: no sources, wherever they are.
    void set_own(const std::vector<std::string>& files);
    /// What is read from now on is noted.
    void begin();
    /// What was read since begin(), in the order of its names. What the program has written itself
    /// counts as it left it.
    [[nodiscard]] std::vector<program_source> end();
    /// The first of the sources that has another answer now. Cancellation: of `context`.
    [[nodiscard]] coro::task<result<std::optional<program_source>>> first_changed(
        std::vector<program_source> sources, coro::call_context context);

    /// From now on nothing is written, as if it had been, and no program is started: that is a
    /// PermissionError.
    void perform_nothing() noexcept { performs_ = false; }
    [[nodiscard]] bool performs() const noexcept { return performs_; }

private:
    class watched_files;
    class watched_memory;
    class watched_processes;
    void note(program_source::kind what, std::string asked, std::string digest);
    void note_failure(program_source::kind what, std::string asked, const error& failure);
    void note_written(const std::string& path, const std::string& text);
    /// The last part of the path is that of a file of the batch itself.
    [[nodiscard]] bool is_own(const std::string& path) const;
    void note_names(std::string path, const std::vector<std::string>& names);
    [[nodiscard]] std::string digest_of_names(const std::vector<std::string>& names) const;
    [[nodiscard]] std::string digest_of_files(const ports::memory_response& response) const;
    [[nodiscard]] coro::task<result<std::string>> ask(program_source source,
                                                      coro::call_context context);

    ports::file_port* files_ = nullptr; ///< behind what is watched
    ports::memory_port* memory_ = nullptr;
    std::unique_ptr<watched_files> watched_files_;
    std::unique_ptr<watched_memory> watched_memory_;
    std::unique_ptr<watched_processes> watched_processes_;
    std::vector<std::string> own_; ///< last parts of paths
    std::map<std::pair<program_source::kind, std::string>, std::string> noted_;
    std::map<std::string, std::vector<std::string>> listed_; ///< names in noted directories
    bool is_noting_ = false;
    bool performs_ = true;
};

} // namespace heddle::cli

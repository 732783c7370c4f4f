// A session at a prompt: lines in, values out.
#pragma once

#include "application.hpp"
#include "console.hpp"
#include "exit_code.hpp"
#include "repl/evaluator.hpp"
#include "repl/line_reader.hpp"
#include "request_capture.hpp"
#include "workflow_options.hpp"

#include <heddle/host/session.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace heddle::cli {

/// Collects lines into expressions, evaluates them and shows their values; also runs commands that
/// begin with a colon. `*1`, `*2`, `*3` are the last values and `*e` the last error, as catch binds
/// it. Its arguments outlive it.
class repl_session {
public:
    struct parts {
        application* tools = nullptr;
        host::session* session = nullptr;
        evaluator* runs = nullptr;
        console* output = nullptr;
        request_capture* capture = nullptr; ///< sees what tasks ask; null: :prompt shows nothing
        bool interactive = false;
    };
    explicit repl_session(parts given);

    /// Evaluates a file and shows its last value. Result: false if it failed.
    bool load(const std::string& path);
    /// Reads until the end of the input, :quit or SIGTERM.
    [[nodiscard]] exit_code run(line_reader& lines);

    /// The commands with their colons, for completion.
    [[nodiscard]] static std::span<const std::string_view> command_names() noexcept;

private:
    struct command;
    [[nodiscard]] static std::span<const command> commands() noexcept;

    void take_line(const std::string& line);
    bool evaluate_pending();
    void end_entry();
    void at_end();
    void run_command(std::string_view line);
    void help(std::string_view rest);
    void doc(std::string_view rest);
    void load_file(std::string_view rest);
    void time(std::string_view rest);
    void last(std::string_view rest);
    void prompt(std::string_view rest);
    void undefine(std::string_view rest);
    void quit(std::string_view rest);

    enum class showing { all, last };
    /// False if an expression failed.
    bool evaluate_text(const std::string& name, const std::string& text, std::size_t first_line,
                       showing what);
    void show(const lang::value& content, bool as_text);
    void warn_of_hidden(const std::string& name) const;
    /// Of the terminal; 0: values are shown in one line.
    [[nodiscard]] std::size_t columns() const;
    void keep(const lang::value& content);
    void report(error failure);
    void report_mistake(const std::string& message, const std::string& hint = {});

    parts parts_;
    line_reader* lines_ = nullptr; ///< while run() reads
    std::string pending_;          ///< lines of an expression that is not complete
    std::size_t first_line_ = 1;   ///< of `pending_` in the input
    std::size_t next_line_ = 1;
    std::size_t looked_at_ = 0; ///< bytes of `pending_` when it was read last
    bool leaving_ = false;
    bool failed_ = false;
};

} // namespace heddle::cli

// A session of a workflow: its globals, tasks and evaluations.
#pragma once

#include <heddle/coro/task.hpp>
#include <heddle/host/engine.hpp>
#include <heddle/host/run_options.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/map_progress.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/realm.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::host {

class import_table;
class run_driver;
class session_image;
class source_keeper;

/// Counters of a run in progress.
struct run_counters {
    std::size_t fibers = 0; ///< alive now
    std::size_t peak_fibers = 0;
    std::uint64_t effects = 0; ///< effect requests so far
    std::uint64_t steps = 0;
};

/// Evaluates workflows. Evaluations of one session run one after another (a second one started
/// meanwhile is refused); sessions run concurrently on one loop.
///
/// Values that it returns may outlive it. Threads: the loop's only.
class session {
public:
    explicit session(host::engine& engine);
    /// For session_image, which is shareable.
    session(host::engine& engine, std::shared_ptr<const session_image> image);
    ~session();
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    /// Reads, compiles and runs a program. `name`: shown in errors. Result: the last value. A
    /// FAILED TaskResult is a value, not an error.
    /// Errors: the kinds of docs/spec/language.md §6; cancelled, with its reason. An exception from
    /// a part of the host becomes the error of the branch in which it occurs: LimitError when
    /// memory is exhausted, otherwise InternalError.
    /// Cancellation: by options.cancel or options.until; the call returns once every branch has
    /// ended, its connections are closed and its finally blocks have run.
    [[nodiscard]] coro::task<result<lang::value>> evaluate(std::string name, std::string text,
                                                           run_options options = {});

    /// As evaluate, for forms that were read (lang::read_all) from a source of this session.
    [[nodiscard]] coro::task<result<lang::value>> evaluate_forms(std::vector<lang::datum> forms,
                                                                 run_options options = {});

    /// Calls a function, task or builtin with values of this session.
    [[nodiscard]] coro::task<result<lang::value>> call(lang::value callee,
                                                       std::vector<lang::value> arguments,
                                                       run_options options = {});

    /// Calls a function as a part of the current evaluation, in a separate fiber that shares its
    /// bounds: for tools that are written in the language. The sandbox of `scope` determines what
    /// the function may reach only if `in_sandbox`: a tool was created outside of it, a function
    /// that a program passes was not. The limits on steps, memory and calls are those of the
    /// sandbox in any case.
    /// Errors: those of the function; LimitError for calls nested deeper than `max_nested`;
    /// invalid_argument if no evaluation is in progress.
    /// Cancellation: by `context`; the call returns once the fiber and its branches have ended.
    [[nodiscard]] coro::task<result<lang::value>> call_within(lang::value callee,
                                                              std::vector<lang::value> arguments,
                                                              lang::scope_ref scope,
                                                              coro::call_context context,
                                                              bool in_sandbox = false);
    static constexpr unsigned max_nested = 100;

    /// Whether the current evaluation is recorded, and can be repeated (run_options::steps).
    [[nodiscard]] bool is_durable() const noexcept;

    /// From here on a program that defines or assigns a global fails: evaluations leave nothing for
    /// each other (but variables that functions made before have closed over; see live_cells).
    void freeze_globals() noexcept { realm_->freeze_globals(); }

    /// The value of a global, or nothing.
    [[nodiscard]] std::optional<lang::value> global(std::string_view name);
    void define(std::string_view name, lang::value content);
    /// Names of the parameters of a function (required, optional, rest), or nothing for other
    /// values.
    [[nodiscard]] static std::optional<std::vector<std::string>> parameters_of(
        const lang::value& callee);

    /// The error for people: kind, message, source line, caret, trace, hint.
    [[nodiscard]] std::string render(const error& failure, bool colour = false);

    [[nodiscard]] lang::realm& realm() noexcept { return *realm_; }
    [[nodiscard]] lang::heap& memory() noexcept { return realm_->memory(); }
    [[nodiscard]] host::engine& engine() noexcept { return engine_; }
    void set_operators(std::unique_ptr<operator_source> operators);
    [[nodiscard]] operator_source* operators() noexcept { return operators_.get(); }
    /// Those of the session that this one begins with (session_image); null: of none.
    [[nodiscard]] const operator_source* base_operators() const noexcept;
    /// The files that the current run has imported.
    [[nodiscard]] import_table& imports() noexcept { return *imports_; }
    [[nodiscard]] const run_counters& counters() const noexcept { return counters_; }
    /// How far the outermost maps of the evaluation in progress have come; zeros without one.
    [[nodiscard]] lang::map_progress outermost_maps() const;
    /// False while all evaluations have failed before a program ran: its text could not be read or
    /// compiled.
    [[nodiscard]] bool has_run_code() const noexcept { return has_run_code_; }

private:
    friend class run_driver;
    class names;
    class evaluation;

    /// Compiles the forms and runs them. `compiled`: their code, once there is any.
    [[nodiscard]] coro::task<result<lang::value>> run_program(std::vector<lang::datum> forms,
                                                              run_options options,
                                                              lang::function_ref& compiled);

    [[nodiscard]] coro::task<result<lang::value>> drive(std::unique_ptr<lang::fiber> main,
                                                        run_options options);

    host::engine& engine_;
    std::shared_ptr<const session_image> image_; ///< null: begins with nothing
    std::unique_ptr<names> names_;
    std::unique_ptr<lang::realm> realm_;
    std::unique_ptr<operator_source> operators_;
    std::unique_ptr<source_keeper> sources_;
    std::shared_ptr<import_table> imports_;
    run_counters counters_;
    run_driver* driver_ = nullptr; ///< of the current evaluation
    bool running_ = false;
    bool has_run_code_ = false;
};

} // namespace heddle::host

// --where: which rows are a part of the run.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/host/engine.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/value.hpp>
#include <heddle/rows/row.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

/// An expression of the language over the columns of a row. A variable that the language does not
/// have is a column; `row` is the whole row as a map. It is evaluated in a separate session without
/// files, tasks and programs, in a sandbox: it sees nothing but the row, and its time, memory and
/// steps are limited. Threads: the loop's.
class row_filter {
public:
    /// `limit`: of the rows that are taken. Errors: invalid_argument naming --where for an
    /// expression that cannot be read or compiled.
    [[nodiscard]] static coro::task<result<std::unique_ptr<row_filter>>> make(
        coro::event_loop* loop, std::string expression, std::optional<std::uint64_t> limit,
        coro::call_context context);
    ~row_filter();
    row_filter(const row_filter&) = delete;
    row_filter& operator=(const row_filter&) = delete;

    struct verdict {
        bool takes = false;
        std::optional<error> problem; ///< of a row that is taken: it is to be rejected
    };
    /// Looks at a row; one that could not be read is taken. The problem names file and line.
    /// Errors: cancelled.
    [[nodiscard]] coro::task<result<verdict>> look(const rows::row_item* item,
                                                   coro::call_context context);

    /// The columns that the expression names.
    [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return columns_; }
    /// Whether no further row is taken, because of the limit.
    [[nodiscard]] bool is_complete() const noexcept { return limit_ && taken_ >= *limit_; }

private:
    explicit row_filter(coro::event_loop& loop) : engine_(loop, {}) {}
    [[nodiscard]] result<std::vector<lang::value>> arguments_of(const rows::row& row);

    host::engine engine_;
    std::unique_ptr<host::session> session_;
    lang::value expression_; ///< a function of the row and of `columns_`
    std::vector<std::string> columns_;
    std::optional<std::uint64_t> limit_;
    std::uint64_t taken_ = 0;
    std::uint64_t seen_ = 0;
};

} // namespace heddle::cli

#include "batch/rows/row_filter.hpp"

#include <heddle/coro/wait_point.hpp>
#include <heddle/lang/check.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <chrono>

namespace heddle::cli {

namespace {

using lang::value;

constexpr std::uint64_t max_steps = 1'000'000;
constexpr std::size_t max_memory = std::size_t{64} << 20; ///< bytes
constexpr auto max_time = std::chrono::seconds(10);
constexpr const char* whole_row = "row";

error wrong_expression(const error& why) {
    return error(errc::invalid_argument, "--where: " + why.message()).with_hint(why.info().hint);
}

struct examined {
    std::vector<std::string> columns; ///< names that the language does not have, each once
    std::optional<error> mistake;
};

/// `realm` is used for nothing else.
examined examine(lang::realm& realm, const std::string& expression) {
    const std::string text = std::string("(lambda (") + whole_row + ")\n" + expression + "\n)";
    const std::uint32_t position = realm.sources().add("--where", text);
    examined found;
    for (const lang::problem& each : lang::check_program(realm, text, position)) {
        if (each.level != lang::severity::error) continue;
        const std::string name(realm.sources().text(each.span));
        const std::size_t at = each.span.begin - position;
        const bool is_called = at != 0 && at < text.size() && text[at - 1] == '(';
        if (each.code != "unknown-name" || is_called) {
            const bool is_column = is_called && !each.hint.starts_with("did you mean");
            found.mistake =
                error(errc::invalid_argument, each.message)
                    .with_hint(is_column ? "a column is a value: (> stars 3)" : each.hint);
            return found;
        }
        if (std::find(found.columns.begin(), found.columns.end(), name) == found.columns.end())
            found.columns.push_back(name);
    }
    return found;
}

std::string place_of(const rows::row& row) {
    return *row.file + ", line " + std::to_string(row.line) + ": --where: ";
}

} // namespace

row_filter::~row_filter() { expression_ = value(); }

coro::task<result<std::unique_ptr<row_filter>>> row_filter::make(coro::event_loop* loop,
                                                                 std::string expression,
                                                                 std::optional<std::uint64_t> limit,
                                                                 coro::call_context context) {
    std::unique_ptr<row_filter> object(new row_filter(*loop));
    object->limit_ = limit;
    auto session = object->engine_.new_session();
    if (!session) co_return std::move(session).error();
    object->session_ = *std::move(session);
    host::session& own = *object->session_;
    // One expression by itself: nothing that closes the sandbox.
    auto read = lang::read_one(own.memory(), expression);
    if (!read) co_return wrong_expression(read.error());
    auto checked = object->engine_.new_session();
    if (!checked) co_return std::move(checked).error();
    examined found = examine((*checked)->realm(), expression);
    if (found.mistake) co_return wrong_expression(*found.mistake);
    object->columns_ = std::move(found.columns);
    std::string parameters;
    for (const std::string& each : object->columns_) parameters += ' ' + each;
    host::run_options bounds;
    bounds.cancel = context.cancel;
    bounds.step_limit = max_steps;
    bounds.memory_limit = max_memory;
    std::string text("(lambda (");
    text.append(whole_row).append(parameters).append(") (sandbox ()\n");
    text.append(expression).append("\n))");
    result<value> function = co_await own.evaluate("--where", std::move(text), bounds);
    if (!function) co_return wrong_expression(function.error());
    object->expression_ = *std::move(function);
    own.freeze_globals();
    co_return object;
}

result<std::vector<value>> row_filter::arguments_of(const rows::row& row) {
    lang::json_read_options trusted;
    trusted.is_valid_text = true;
    HEDDLE_TRY(value whole, lang::json_to_value(session_->memory(), row.json, trusted));
    std::vector<value> arguments{whole};
    for (const std::string& each : columns_) {
        const value* found = lang::map_find(whole, each);
        if (found) {
            arguments.push_back(*found);
            continue;
        }
        std::vector<std::string> there;
        for (const lang::map_entry& entry : lang::map_entries(whole))
            there.emplace_back(lang::string_bytes(entry.key));
        const std::string near = lang::suggest_names(each, there);
        return error(errc::invalid_argument, "the row has no column " + each)
            .with_hint((near.empty() ? "" : near + " ") + "A column that not every row has is " +
                       "(get row \"" + each + "\" nil)");
    }
    return arguments;
}

coro::task<result<row_filter::verdict>> row_filter::look(const rows::row_item* item,
                                                         coro::call_context context) {
    verdict found;
    if (++seen_ % 64 == 0) co_await coro::yield_now(*context.loop);
    found.takes = true;
    if (const auto* row = std::get_if<rows::row>(item)) {
        auto arguments = arguments_of(*row);
        host::run_options bounds;
        bounds.cancel = context.cancel;
        bounds.step_limit = max_steps;
        bounds.memory_limit = max_memory;
        bounds.until = coro::deadline(context.loop->now() + max_time);
        result<value> answer = error(errc::internal, "");
        if (arguments) {
            result<value> called =
                co_await session_->call(expression_, *std::move(arguments), bounds);
            answer = std::move(called);
        } else {
            answer = std::move(arguments).error();
        }
        if (answer) {
            found.takes = answer->truthy();
        } else if (context.cancel && context.cancel->requested()) {
            co_return std::move(answer).error();
        } else {
            const error& why = answer.error();
            found.problem = error(errc::invalid_argument, place_of(*row) + why.message())
                                .with_hint(why.info().hint);
        }
    }
    if (found.takes) ++taken_;
    co_return found;
}

} // namespace heddle::cli

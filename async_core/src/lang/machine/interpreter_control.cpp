// Builtins that the machine runs itself: those that call, compile, or know the realm.
#include "interpreter.hpp"

#include "lang/realm/code_service.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/sandbox_policy.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>

namespace heddle::lang {

struct interpreter::control_row {
    std::string_view name;
    next (interpreter::*run)(std::size_t at, std::size_t count, bool tail);
};

/// The callee is at `at`, its arguments above. A value goes to the callee's place.
interpreter::next interpreter::call_control(const builtin& row, std::size_t at, std::size_t count,
                                            bool tail) {
    static constexpr std::array<control_row, 16> rows{{
        {"apply", &interpreter::control_apply},
        {"await", &interpreter::control_await},
        {"cancel", &interpreter::control_cancel},
        {"help", &interpreter::control_help},
        {"eval", &interpreter::control_eval},
        {"parse", &interpreter::control_parse},
        {"read-all", &interpreter::control_read_all},
        {"macroexpand", &interpreter::control_macroexpand},
        {"semaphore", &interpreter::control_semaphore},
        {"%second-run", &interpreter::control_second_run},
        {"%out-of-reach", &interpreter::control_out_of_reach},
        {"%eval-rest", &interpreter::control_eval_rest},
        {"%eval-source", &interpreter::control_eval_source},
        {"%library", &interpreter::control_library},
        {"%library-done", &interpreter::control_library_done},
        {"%run-library", &interpreter::control_run_library},
    }};
    for (const control_row& each : rows) {
        if (each.name == row.name) return (this->*each.run)(at, count, tail);
    }
    return raise(error(heddle::errc::internal, std::string(row.name) + " has no code"));
}

interpreter::next interpreter::control_value(std::size_t at, std::size_t count, value v) {
    for (std::size_t k = 1; k <= count; ++k) f_.stack_[at + k].set_nil();
    f_.stack_[at] = std::move(v);
    return next::go_on;
}

// ---------------------------------------------------------------- reading

namespace {

/// Reads argument 1, a string. The text is kept if it is not too long, for messages about code that
/// is made of it.
result<value> read_argument(realm& realm, native_call& call, const value& text, bool one) {
    constexpr std::uint64_t units_of_a_source = 300; // to keep it
    const std::string_view bytes = string_bytes(text);
    const error stopped = error::cancelled(cancel_reason::sibling);
    if (!call.expect(units_of_a_source + bytes.size() / 4) || !call.spend(units_of_a_source))
        return stopped;
    read_options options;
    options.work = &call.work();
    std::uint32_t position = 0;
    if (source_map::keeps_generated(bytes.size())) {
        if (!call.spend_bytes(bytes.size())) return stopped;
        position = realm.sources().add_generated("parsed text", std::string(bytes));
    }
    if (!one) return read_list(realm.memory(), bytes, position, options);
    auto read = read_one(realm.memory(), bytes, position, options);
    if (!read) return std::move(read).error();
    return std::move(read->content);
}

} // namespace

interpreter::next interpreter::control_parse(std::size_t at, std::size_t count, bool) {
    const value& text = f_.stack_[at + 1];
    if (!text.is(kind::string)) return raise_type("parse", 1, "a string", text);
    realm& realm = *f_.realm_;
    const auto run = [&realm](native_call& call, std::span<value> a) {
        auto read = read_argument(realm, call, a[0], true);
        return read ? *std::move(read) : call.fail(std::move(read).error());
    };
    return run_native(*find_builtin("parse"), run,
                      {at, at + 1, count, builtin_place::arguments::clear});
}

interpreter::next interpreter::control_read_all(std::size_t at, std::size_t count, bool) {
    const value& text = f_.stack_[at + 1];
    if (!text.is(kind::string)) return raise_type("read-all", 1, "a string", text);
    realm& realm = *f_.realm_;
    const auto run = [&realm](native_call& call, std::span<value> a) {
        auto read = read_argument(realm, call, a[0], false);
        return read ? *std::move(read) : call.fail(std::move(read).error());
    };
    return run_native(*find_builtin("read-all"), run,
                      {at, at + 1, count, builtin_place::arguments::clear});
}

constexpr std::uint64_t steps_of_an_entry = 500;
constexpr std::uint64_t steps_of_an_overview = 2500;

/// (help), (help 'name), (help "name"), (help function)
interpreter::next interpreter::control_help(std::size_t at, std::size_t count, bool) {
    const value* about = count == 0 ? nullptr : &f_.stack_[at + 1];
    auto text = f_.realm_->stages().help(*f_.realm_, about, sandbox() != nullptr);
    spend_steps(about ? steps_of_an_entry : steps_of_an_overview);
    if (!text) return raise(std::move(text).error());
    if (!*text) return raise_type("help", 1, "a name or a function", *about);
    return control_value(at, count, make_string(memory_, **text));
}

/// (%out-of-reach name how): a name that closed code may not use, or that nobody knows; `how` is
/// that of analyzer::out_of_reach.
interpreter::next interpreter::control_out_of_reach(std::size_t at, std::size_t, bool) {
    const value named = f_.stack_[at + 1];
    if (!named.is(kind::symbol)) return raise_type("%out-of-reach", 1, "a symbol", named);
    const std::string_view name = symbol_name(named);
    if (!f_.stack_[at + 2].truthy()) return raise(f_.realm_->unbound_error(name));
    const bool assigned = f_.stack_[at + 2].is(kind::symbol);
    error failure(errc::permission,
                  assigned ? "set!: '" + std::string(name) + "' is outside of the sandbox"
                           : "'" + std::string(name) + "' cannot be reached from here");
    if (!sandbox()) {
        return raise(
            std::move(failure).with_hint("eval with a map reaches builtins and the map alone"));
    }
    if (assigned) failure = std::move(failure).with_hint("return the new value from the sandbox");
    else
        failure = std::move(failure).with_hint(
            "a sandbox reaches pure builtins, what is defined "
            "inside it, and what (allow (…)) names");
    value refusing = sandbox()->refusing({&name, 1});
    if (refusing.is_nil()) refusing = sandbox()->own().as_value();
    return raise(with_extent(std::move(failure), std::move(refusing)));
}

} // namespace heddle::lang

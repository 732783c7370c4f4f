// Primitives that the machine runs itself: those that call, compile, or know the realm.
#include "interpreter.hpp"

#include "lang/compile/compile_request.hpp"
#include "lang/stdlib/stdlib_sources.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/help.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/sandbox_policy.hpp>
#include <heddle/lang/text.hpp>

#include <array>

namespace heddle::lang {

namespace {

/// A list that was read, or made, as the forms of a program, with what is known of their places.
std::vector<datum> forms_of(const value& list) {
    std::vector<datum> forms;
    const auto* storage = static_cast<const list_object*>(list.target());
    const auto items = list_items(list);
    for (std::size_t i = 0; i < items.size(); ++i) {
        source_span place;
        if (storage && storage->places) place = storage->places->elements[list.offset() + i];
        forms.push_back({items[i], place});
    }
    return forms;
}

/// Data as code: where it was read, if it was.
datum form_of(const value& code) {
    source_span place;
    if (code.is(kind::list) && code.target()) {
        const auto* storage = static_cast<const list_object*>(code.target());
        if (storage->places && code.offset() == storage->begin) place = storage->places->whole;
    }
    return {code, place};
}

/// The name of a library without its "std/".
std::string library_of(std::string_view full) {
    return std::string(full.substr(full.find('/') + 1));
}

} // namespace

struct interpreter::control_row {
    std::string_view name;
    next (interpreter::*run)(std::size_t at, std::size_t count, bool tail);
};

/// The callee is at `at`, its arguments above. A value goes to the callee's place.
interpreter::next interpreter::call_control(const builtin& row, std::size_t at, std::size_t count,
                                            bool tail) {
    static constexpr std::array<control_row, 14> rows{{
        {"apply", &interpreter::control_apply},
        {"await", &interpreter::control_await},
        {"cancel", &interpreter::control_cancel},
        {"help", &interpreter::control_help},
        {"eval", &interpreter::control_eval},
        {"parse", &interpreter::control_parse},
        {"read-all", &interpreter::control_read_all},
        {"macroexpand", &interpreter::control_macroexpand},
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

/// (apply f x… list)
interpreter::next interpreter::control_apply(std::size_t at, std::size_t count, bool tail) {
    const value list = f_.stack_[at + count];
    if (!list.is(kind::list)) return raise_type("apply", count, "a list", list);
    const std::size_t spread = list.length();
    if (!memory_.can_allocate(spread * sizeof(value))) {
        return raise(error(errc::limit, "apply: " + std::to_string(spread) +
                                            " arguments do not fit in the memory limit"));
    }
    f_.reserve(at + count + spread + 1);
    value* R = f_.stack_ + at;
    for (std::size_t k = 0; k < count; ++k)
        R[k] = std::move(R[k + 1]); // callee and leading arguments move down
    R[count] = value();
    const std::span<const value> items = list_items(list);
    for (std::size_t k = 0; k < spread; ++k) R[count - 1 + k] = items[k];
    return call_value(at, count - 2 + spread, tail);
}

// ---------------------------------------------------------------- reading

interpreter::next interpreter::control_parse(std::size_t at, std::size_t count, bool) {
    const value text = f_.stack_[at + 1];
    if (!text.is(kind::string)) return raise_type("parse", 1, "a string", text);
    const std::string_view bytes = string_bytes(text);
    const std::uint32_t position =
        f_.world_->sources().add_generated("parsed text", std::string(bytes));
    auto read = read_one(memory_, bytes, position);
    if (!read) return raise_where_it_is(std::move(read).error());
    return control_value(at, count, std::move(read->content));
}

interpreter::next interpreter::control_read_all(std::size_t at, std::size_t count, bool) {
    const value text = f_.stack_[at + 1];
    if (!text.is(kind::string)) return raise_type("read-all", 1, "a string", text);
    const std::string_view bytes = string_bytes(text);
    const std::uint32_t position =
        f_.world_->sources().add_generated("parsed text", std::string(bytes));
    auto read = read_all(memory_, bytes, position);
    if (!read) return raise_where_it_is(std::move(read).error());
    value forms = value::empty_list();
    for (datum& each : *read)
        forms = list_push_back(memory_, std::move(forms), std::move(each.content));
    return control_value(at, count, std::move(forms));
}

// ---------------------------------------------------------------- compiling

/// What code that is made here and now may reach.
compile_request interpreter::request_for_code() const {
    compile_request request;
    request.generated = true;
    if (const sandbox_policy* policy = sandbox()) {
        request.limits.closed = true;
        request.limits.world = false;
        request.limits.sandboxes = 1;
        request.limits.sandbox = policy;
    }
    return request;
}

/// Compiles and calls: the code's value takes the callee's place.
interpreter::next interpreter::run_code(std::span<const datum> forms, compile_request& request,
                                        std::size_t at, std::size_t count, bool tail) {
    auto made = code_closure(forms, request, {});
    if (!made) return raise_where_it_is(std::move(made).error());
    const next placed = control_value(at, count, *std::move(made));
    (void)placed;
    return call_value(at, 0, tail);
}

/// The code as a function over the cells of its site.
result<value> interpreter::code_closure(std::span<const datum> forms, compile_request& request,
                                        std::span<const value> cells) {
    auto code = compile_within(*f_.world_, forms, request);
    if (!code) return std::move(code).error();
    const auto& captures = (*code)->captures;
    value made = new_closure(**code);
    for (std::size_t i = 0; i < captures.size(); ++i)
        closure_of(made)->captured()[i] = cells[captures[i].index];
    return made;
}

/// (eval x) at the top level or as a value, and (eval x map).
interpreter::next interpreter::control_eval(std::size_t at, std::size_t count, bool tail) {
    const datum code = form_of(f_.stack_[at + 1]);
    compile_request request = request_for_code();
    if (count == 1 && !request.limits.closed) return run_code({&code, 1}, request, at, count, tail);
    // A scope of its own: the names of the map, and a place for what the code defines.
    eval_site site;
    std::vector<value> cells;
    if (f_.scope_->sandbox) {
        site.in_sandbox = true;
        cells.push_back(make_cell(memory_, f_.scope_->sandbox.as_value()));
    }
    eval_site::level& level = site.levels.emplace_back();
    level.has_extras = true;
    if (count == 2) {
        const value& names = f_.stack_[at + 2];
        if (!names.is(kind::map)) return raise_type("eval", 2, "a map of names to values", names);
        request.limits.closed = true;
        request.limits.sandbox = nullptr;
        for (const map_entry& entry : map_entries(names)) {
            level.names.push_back({std::string(string_bytes(entry.key)), true, false, false, {}});
            cells.push_back(make_cell(memory_, entry.item));
        }
    }
    cells.push_back(make_cell(memory_, value::unbound()));
    request.site = &site;
    auto made = code_closure({&code, 1}, request, cells);
    if (!made) return raise_where_it_is(std::move(made).error());
    const next placed = control_value(at, count, *std::move(made));
    (void)placed;
    return call_value(at, 0, tail);
}

/// Whether code that is made here belongs to the sandbox of `policy`, whose body it stands in.
bool interpreter::sees(const value& policy) const {
    const auto standing = host_ref<sandbox_policy>::from_value(policy);
    return standing && standing->own() == f_.scope_->sandbox->own();
}

/// op::eval_code: code in the scope where the eval stands.
interpreter::next interpreter::eval_in_place(std::size_t base, instruction i, const value& known) {
    value* R = f_.stack_ + base;
    const auto* site = static_cast<const eval_site*>(host_of(known));
    const datum code = form_of(R[i.a]);
    compile_request request = request_for_code();
    eval_site hidden;
    std::vector<value> cells(R + i.a + 1, R + i.a + 1 + i.b);
    if (const value& policy = f_.scope_->sandbox.as_value();
        !policy.is_nil() && !(site->in_sandbox && sees(cell_of(cells[0])->content))) {
        // The eval stands outside of the sandbox that it runs in: nothing around it may be seen.
        hidden.in_sandbox = true;
        hidden.levels.emplace_back().has_extras = true;
        site = &hidden;
        cells = {make_cell(memory_, policy), make_cell(memory_, value::unbound())};
    }
    request.site = site;
    auto made = code_closure({&code, 1}, request, cells);
    R = f_.stack_ + base;
    for (std::size_t k = 1; k <= i.b; ++k) R[i.a + k].set_nil();
    if (!made) return raise_where_it_is(std::move(made).error());
    R[i.a] = *std::move(made);
    return next::go_on;
}

// ---------------------------------------------------------------- programs and libraries

/// What a text that is loaded as a program may reach. In a sandbox nothing is loaded.
result<compile_request> interpreter::request_for_program() const {
    compile_request request = request_for_code();
    request.generated = false;
    if (!request.limits.closed) return request;
    return error(errc::permission, "import: a sandbox cannot import")
        .with_hint("import before the sandbox");
}

/// (%eval-rest forms internal): what stands behind an import at the top level, of a library if
/// `internal`.
interpreter::next interpreter::control_eval_rest(std::size_t at, std::size_t count, bool tail) {
    const value list = f_.stack_[at + 1];
    if (!list.is(kind::list)) return raise_type("%eval-rest", 1, "a list", list);
    const std::vector<datum> forms = forms_of(list);
    auto request = request_for_program();
    if (!request) return raise_where_it_is(std::move(request).error());
    request->internal_names = f_.stack_[at + 2].truthy();
    return run_code(forms, *request, at, count, tail);
}

/// (%eval-source text name): a file as a program of its own.
interpreter::next interpreter::control_eval_source(std::size_t at, std::size_t count, bool tail) {
    for (std::size_t k = 1; k <= 2; ++k) {
        const value& given = f_.stack_[at + k];
        if (!given.is(kind::string)) return raise_type("%eval-source", k, "a string", given);
    }
    auto request = request_for_program();
    if (!request) return raise_where_it_is(std::move(request).error());
    const std::string text(string_bytes(f_.stack_[at + 1]));
    const std::string name(string_bytes(f_.stack_[at + 2]));
    const std::uint32_t position = f_.world_->sources().add(name, text);
    auto forms = read_all(memory_, text, position);
    if (!forms) return raise_where_it_is(std::move(forms).error());
    return run_code(*forms, *request, at, count, tail);
}

/// (%library 'std/name): a list of its value when it was imported already, else nil.
interpreter::next interpreter::control_library(std::size_t at, std::size_t count, bool) {
    const value named = f_.stack_[at + 1];
    if (!named.is(kind::symbol)) return raise_type("%library", 1, "a symbol", named);
    const value* known = f_.world_->imported_library(library_of(symbol_name(named)));
    return control_value(at, count, known ? make_list(memory_, {known, 1}) : value());
}

/// (%run-library 'std/name): its text, which comes with the language, as a program.
interpreter::next interpreter::control_run_library(std::size_t at, std::size_t count, bool tail) {
    const value named = f_.stack_[at + 1];
    if (!named.is(kind::symbol)) return raise_type("%run-library", 1, "a symbol", named);
    const std::string full(symbol_name(named));
    const std::string name = library_of(full);
    std::vector<std::string> names;
    for (const library_source& each : stdlib_sources()) {
        names.push_back("std/" + std::string(each.name));
        if (each.name != name) continue;
        auto request = request_for_program();
        if (!request) return raise_where_it_is(std::move(request).error());
        request->internal_names = true;
        const std::uint32_t position = f_.world_->sources().add(full, std::string(each.text));
        auto forms = read_all(memory_, each.text, position);
        if (!forms) return raise_where_it_is(std::move(forms).error());
        return run_code(*forms, *request, at, count, tail);
    }
    std::string hint = suggest_names(full, names);
    if (hint.empty()) {
        hint = "there are";
        for (const std::string& each : names) hint += " " + each;
    }
    return raise(error(errc::evaluation, "import: there is no library '" + full + "'")
                     .with_hint(std::move(hint)));
}

/// (%library-done 'std/name value): notes it and gives the value.
interpreter::next interpreter::control_library_done(std::size_t at, std::size_t count, bool) {
    const value named = f_.stack_[at + 1];
    if (!named.is(kind::symbol)) return raise_type("%library-done", 1, "a symbol", named);
    value made = f_.stack_[at + 2];
    f_.world_->note_library(library_of(symbol_name(named)), made);
    return control_value(at, count, std::move(made));
}

interpreter::next interpreter::control_macroexpand(std::size_t at, std::size_t count, bool) {
    compile_request request = request_for_code();
    auto made = expand_macros(*f_.world_, form_of(f_.stack_[at + 1]), request);
    if (!made) return raise_where_it_is(std::move(made).error());
    return control_value(at, count, *std::move(made));
}

/// (help), (help 'name), (help "name"), (help function)
interpreter::next interpreter::control_help(std::size_t at, std::size_t count, bool) {
    realm& world = *f_.world_;
    const help_reach reach = sandbox() ? help_reach::language : help_reach::everything;
    if (count == 0)
        return control_value(at, count, make_string(memory_, help_overview(world, reach)));
    const value& what = f_.stack_[at + 1];
    const bool named = what.is(kind::symbol) || what.is(kind::string);
    if (named) {
        auto found =
            describe(world, what.is(kind::symbol) ? symbol_name(what) : string_bytes(what), reach);
        if (!found) return raise(std::move(found).error());
        return control_value(at, count, make_string(memory_, help_text(world, *found)));
    }
    const auto found = describe_callable(world, what);
    if (!found) return raise_type("help", 1, "a name or a function", what);
    return control_value(at, count, make_string(memory_, help_text(world, *found)));
}

/// (%out-of-reach name forbidden): a name that closed code may not use, or that nobody knows.
interpreter::next interpreter::control_out_of_reach(std::size_t at, std::size_t, bool) {
    const value named = f_.stack_[at + 1];
    if (!named.is(kind::symbol)) return raise_type("%out-of-reach", 1, "a symbol", named);
    const std::string_view name = symbol_name(named);
    if (!f_.stack_[at + 2].truthy()) return raise(f_.world_->unbound_error(name));
    error failure(errc::permission, "'" + std::string(name) + "' cannot be reached from here");
    if (!sandbox()) {
        return raise(
            std::move(failure).with_hint("eval with a map reaches builtins and the map alone"));
    }
    failure = std::move(failure).with_hint(
        "a sandbox reaches pure builtins, what is defined "
        "inside it, and what (allow (…)) names");
    value refusing = sandbox()->refusing({&name, 1});
    if (refusing.is_nil()) refusing = sandbox()->own().as_value();
    return raise(with_extent(std::move(failure), std::move(refusing)));
}

} // namespace heddle::lang

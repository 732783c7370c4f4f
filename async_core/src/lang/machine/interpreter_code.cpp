// Code that a program made: compiling and calling it.
#include "interpreter.hpp"
#include "pending_job.hpp"

#include "lang/realm/code_service.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/sandbox_policy.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>

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

// ---------------------------------------------------------------- compiling

/// What code that is made here and now may reach.
compile_request interpreter::request_for_code() const {
    compile_request request;
    request.generated = true;
    if (const sandbox_policy* policy = sandbox()) {
        request.limits.closed = true;
        request.limits.harness = false;
        request.limits.sandboxes = 1;
        request.limits.sandbox = policy;
    }
    return request;
}

/// Compiling takes steps, time and memory of the fiber that waits for it.
class interpreter::code_watch final : public compile_watch {
public:
    explicit code_watch(interpreter& owner) : owner_(owner) {}
    std::optional<error> spend(std::uint64_t work) override {
        owner_.spend_steps(work);
        return owner_.code_limit();
    }

private:
    interpreter& owner_;
};

/// The error that ends a compilation.
std::optional<error> interpreter::code_limit() {
    if (auto over = time_over()) return over;
    if (auto overlong = overlong_cleanup()) return overlong;
    return f_.cancellation_masked() ? std::nullopt : limit_passed();
}

/// Compiles; the result goes to `at`. What takes long is done in turns, unless other code waits for
/// it that is compiled itself.
interpreter::next interpreter::make_code(code_order order, std::size_t at,
                                         pending_job::next_step then) {
    order.scope = f_.scope_;
    if (f_.realm_->watch() == nullptr && takes_long(*f_.realm_, order)) {
        pending_job job;
        job.job = std::make_unique<code_job>(*f_.realm_, std::move(order));
        job.then = then;
        return start_job(std::move(job), at);
    }
    constexpr std::uint32_t steps_of_a_compilation = 100;
    shorten_slice(steps_of_a_compilation);
    code_watch watch(*this);
    return code_made(carry_out(*f_.realm_, order, watch), at, then);
}

interpreter::next interpreter::code_made(result<value> outcome, std::size_t at,
                                         pending_job::next_step then) {
    if (!outcome) return raise_where_it_is(std::move(outcome).error());
    f_.stack_[at] = *std::move(outcome);
    switch (then) {
    case pending_job::next_step::keep: return next::go_on;
    case pending_job::next_step::apply: return apply_to_list(at - 1, false);
    case pending_job::next_step::tail_apply: return apply_to_list(at - 1, true);
    default: break;
    }
    return call_value(at, 0, then == pending_job::next_step::tail_call);
}

namespace {

[[nodiscard]] pending_job::next_step call_of(bool tail) noexcept {
    return tail ? pending_job::next_step::tail_call : pending_job::next_step::call;
}

} // namespace

/// Nothing above the callee's place is needed any more.
void interpreter::forget_arguments(std::size_t at, std::size_t count) noexcept {
    for (std::size_t k = 0; k <= count; ++k) f_.stack_[at + k].set_nil();
}

/// Compiles the forms and calls the code.
interpreter::next interpreter::run_program(std::vector<datum> forms, compile_request request,
                                           std::size_t at, std::size_t count, bool tail) {
    code_order order;
    order.forms = std::move(forms);
    order.request = std::move(request);
    forget_arguments(at, count);
    return make_code(std::move(order), at, call_of(tail));
}

/// (eval x) at the top level or as a value, and (eval x map).
interpreter::next interpreter::control_eval(std::size_t at, std::size_t count, bool tail) {
    code_order order;
    order.forms.push_back(form_of(f_.stack_[at + 1]));
    order.request = request_for_code();
    if (count == 1 && !order.request.limits.closed)
        return run_program(std::move(order.forms), order.request, at, count, tail);
    // A scope of its own: the names of the map, and a place for what the code defines.
    order.see_nothing(memory_, f_.scope_->sandbox.as_value());
    if (count == 2) {
        const value& names = f_.stack_[at + 2];
        if (!names.is(kind::map)) return raise_type("eval", 2, "a map of names to values", names);
        order.request.limits.closed = true;
        order.request.limits.sandbox = nullptr;
        order.names = names;
    } else {
        order.add_extras(memory_);
    }
    forget_arguments(at, count);
    return make_code(std::move(order), at, call_of(tail));
}

/// Whether code that is made here belongs to the sandbox of `policy`, whose body contains it.
bool interpreter::sees(const value& policy) const {
    const auto standing = host_ref<sandbox_policy>::from_value(policy);
    return standing && standing->own() == f_.scope_->sandbox->own();
}

/// op::eval_code: code in the scope of the eval.
interpreter::next interpreter::eval_in_place(std::size_t base, instruction i, const value& known) {
    value* R = f_.stack_ + base;
    code_order order;
    order.forms.push_back(form_of(R[i.a]));
    order.request = request_for_code();
    order.site_value = known;
    const auto* site = static_cast<const eval_site*>(host_of(known));
    if (const value& policy = f_.scope_->sandbox.as_value();
        !policy.is_nil() && !(site->in_sandbox && sees(cell_of(R[i.a + 2])->content))) {
        // The eval is outside of the sandbox that it runs in: nothing around it may be seen.
        order.see_nothing(memory_, policy);
        order.add_extras(memory_);
    } else {
        order.request.site = site;
        order.environment = R[i.a + 1];
        if (site->in_sandbox) order.cells.push_back(R[i.a + 2]);
    }
    forget_arguments(base + i.a, i.b);
    return make_code(std::move(order), base + i.a, pending_job::next_step::keep);
}

interpreter::next interpreter::control_macroexpand(std::size_t at, std::size_t count, bool) {
    code_order order;
    order.forms.push_back(form_of(f_.stack_[at + 1]));
    order.request = request_for_code();
    order.expands_only = true;
    forget_arguments(at, count);
    return make_code(std::move(order), at, pending_job::next_step::keep);
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

/// (%eval-rest forms internal): what follows an import at the top level, of a library if
/// `internal`.
interpreter::next interpreter::control_eval_rest(std::size_t at, std::size_t count, bool tail) {
    const value list = f_.stack_[at + 1];
    if (!list.is(kind::list)) return raise_type("%eval-rest", 1, "a list", list);
    std::vector<datum> forms = forms_of(list);
    auto request = request_for_program();
    if (!request) return raise_where_it_is(std::move(request).error());
    request->internal_names = f_.stack_[at + 2].truthy();
    return run_program(std::move(forms), *std::move(request), at, count, tail);
}

/// (%eval-source text name): a file as a program of its own.
interpreter::next interpreter::control_eval_source(std::size_t at, std::size_t count, bool tail) {
    for (std::size_t k = 1; k <= 2; ++k) {
        const value& given = f_.stack_[at + k];
        if (!given.is(kind::string)) return raise_type("%eval-source", k, "a string", given);
    }
    auto request = request_for_program();
    if (!request) return raise_where_it_is(std::move(request).error());
    constexpr std::size_t long_text = 16 * 1024; // to read: some milliseconds
    std::string text(string_bytes(f_.stack_[at + 1]));
    const std::string name(string_bytes(f_.stack_[at + 2]));
    const std::uint32_t position = f_.realm_->sources().add(name, text);
    if (text.size() > long_text) {
        code_order order;
        order.text = std::move(text);
        order.text_position = position;
        order.request = *std::move(request);
        forget_arguments(at, count);
        return make_code(std::move(order), at, call_of(tail));
    }
    auto forms = read_all(memory_, text, position);
    if (!forms) return raise_where_it_is(std::move(forms).error());
    return run_program(*std::move(forms), *std::move(request), at, count, tail);
}

/// (%library 'std/name): a list of its value when it was imported already, else nil.
interpreter::next interpreter::control_library(std::size_t at, std::size_t count, bool) {
    const value named = f_.stack_[at + 1];
    if (!named.is(kind::symbol)) return raise_type("%library", 1, "a symbol", named);
    const value* known = f_.realm_->imported_library(library_of(symbol_name(named)));
    return control_value(at, count, known ? make_list(memory_, {known, 1}) : value());
}

/// (%run-library 'std/name): its text, which comes with the language, as a program.
interpreter::next interpreter::control_run_library(std::size_t at, std::size_t count, bool tail) {
    const value named = f_.stack_[at + 1];
    if (!named.is(kind::symbol)) return raise_type("%run-library", 1, "a symbol", named);
    const std::string full(symbol_name(named));
    const std::string name = library_of(full);
    std::vector<std::string> names;
    for (const library_source& each : f_.realm_->stages().libraries()) {
        names.push_back("std/" + std::string(each.name));
        if (each.name != name) continue;
        auto request = request_for_program();
        if (!request) return raise_where_it_is(std::move(request).error());
        request->internal_names = true;
        const std::uint32_t position = f_.realm_->sources().add(full, std::string(each.text));
        auto forms = read_all(memory_, each.text, position);
        if (!forms) return raise_where_it_is(std::move(forms).error());
        return run_program(*std::move(forms), *std::move(request), at, count, tail);
    }
    std::string hint = suggest_names(full, names);
    if (hint.empty()) {
        hint = "there are";
        for (const std::string& each : names) hint += " " + each;
    }
    return raise(error(errc::evaluation, "import: there is no library '" + full + "'")
                     .with_hint(std::move(hint)));
}

/// (%library-done 'std/name value): notes it and returns the value.
interpreter::next interpreter::control_library_done(std::size_t at, std::size_t count, bool) {
    const value named = f_.stack_[at + 1];
    if (!named.is(kind::symbol)) return raise_type("%library-done", 1, "a symbol", named);
    value result = f_.stack_[at + 2];
    f_.realm_->note_library(library_of(symbol_name(named)), result);
    return control_value(at, count, std::move(result));
}

} // namespace heddle::lang

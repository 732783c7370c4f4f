// defmacro: forms that are rewritten before they are compiled.
#include "analyzer.hpp"
#include "lang/print/form_text.hpp"
#include "special_form.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/machine.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>

namespace heddle::lang {

using ast::node_kind;

namespace {

constexpr std::size_t max_nested_expansions = 1000;
constexpr std::uint32_t slice_of_expansion = 10'000;
/// What the code that a macro returns costs to compile: few steps may double a program many times.
constexpr std::uint64_t steps_of_an_expansion = 25;

/// Runs a function to its end, without the outside world: what a macro does while code is compiled.
result<value> run_apart(realm& realm, value callee, std::span<const value> arguments,
                        std::uint64_t& steps, const std::string& who) {
    const auto self = start_fiber(realm, std::move(callee), arguments);
    run_budget budget;
    budget.steps = steps;
    for (;;) {
        outcome now = machine::run(*self, budget, slice_of_expansion);
        const std::uint64_t spent = steps - budget.steps;
        steps = budget.steps;
        if (compile_watch* watch = realm.watch()) {
            if (auto stop = watch->spend(spent)) return *std::move(stop);
        }
        switch (now.kind) {
        case outcome_kind::done: return std::move(now.result);
        case outcome_kind::failed:
            if (steps == 0 && now.failure->code() == errc::limit) {
                return error(errc::limit,
                             who +
                                 " takes too many steps: all macros of a program "
                                 "have " +
                                 std::to_string(compile_request::max_expansion_steps / 1'000'000) +
                                 " million of them");
            }
            return *std::move(now.failure);
        case outcome_kind::cancelled: return *std::move(now.failure);
        case outcome_kind::out_of_steps: break;
        default:
            // The request is never answered: the fiber ends here. A branch that was split off for
            // it has reported nothing to its join, and both go.
            return error(errc::evaluation, who + " cannot perform an effect while it expands")
                .with_hint("let it return code that performs the effect when it runs");
        }
    }
}

} // namespace

const value* analyzer::find_macro(std::string_view name) const {
    if (const name_binding* bound = names_.find(name, scope_)) return bound->macro;
    return request_.limits.closed ? nullptr : realm_.find_macro(name);
}

form analyzer::expand(const form& call, const value& expander) {
    const std::string who = "the macro '" + std::string(call[0].name()) + "'";
    if (expansions_ >= max_nested_expansions) {
        fail(call.span,
             who + " expands for ever: " + std::to_string(expansions_) +
                 " expansions inside each other",
             "", errc::limit);
        return call;
    }
    const auto arguments = list_items(call.content).subspan(1);
    // A copy: the program may define the macro anew while it runs.
    const value callee = expander; // NOLINT(performance-unnecessary-copy-initialization)
    auto outcome = run_apart(realm_, callee, arguments, request_.expansion_steps, who);
    request_.expansion_steps -= std::min(request_.expansion_steps, steps_of_an_expansion);
    if (!outcome) {
        if (!failure_) {
            failure_ = std::move(outcome).error().with_trace("expanding " + who, call.span);
            if (!failure_->info().span.known())
                failure_ = std::move(*failure_).with_span(call.span);
        }
        return call;
    }
    source_span place = call.span;
    if (outcome->is(kind::list)) {
        const auto* storage = static_cast<const list_object*>(outcome->target());
        if (storage && storage->places && outcome->length() != 0 && storage->places->whole.known())
            place = storage->places->whole;
    }
    return {*std::move(outcome), place};
}

/// What was read has a place inside of the list around it, and code that a macro makes has the
/// place of the call. So what is in the call is an argument of it, and the rest is the macro's.
ast::written analyzer::written_at(source_span span) const noexcept {
    if (!macro_call_.known()) return ast::written::in_program;
    if (span == macro_call_) return ast::written::nowhere;
    const bool argument = span.begin >= macro_call_.begin && span.end <= macro_call_.end;
    return argument ? macro_call_text_ : ast::written::in_macro;
}

/// The code that takes the place of a call, as an expression.
ast::node* analyzer::expansion(const form& call, const value& expander, position where) {
    const form created = expand(call, expander);
    if (failed()) return constant({}, call.span);
    const source_span outer = macro_call_;
    const ast::written outer_text = macro_call_text_;
    // A call that a macro has made has the place of the call of that macro.
    if (const ast::written text = written_at(call.span); text != ast::written::nowhere) {
        macro_call_ = call.span;
        macro_call_text_ = text;
    }
    ++expansions_;
    node* result = expression(created, where);
    --expansions_;
    macro_call_ = outer;
    macro_call_text_ = outer_text;
    // What is written there is the call: (debug?) is neither a constant nor a name.
    if (result->from == ast::origin::atom || result->from == ast::origin::data)
        result->from = ast::origin::other;
    return result;
}

/// The function of a `defmacro`, which needs nothing but what is defined so far.
std::optional<value> analyzer::make_expander(const form& definition) {
    compile_request request;
    request.limits = request_.limits;
    request.generated = request_.generated;
    request.internal_names = request_.internal_names;
    request.expansion_steps = request_.expansion_steps;
    ast::arena arena;
    analyzer apart(realm_, arena, request, max_depth_ - std::min(depth_, max_depth_));
    apart.expansions_ = expansions_;
    apart.making_expander_ = true;
    if (request_.limits.closed) apart.request_.site = nullptr;
    const datum one{definition.content, definition.span};
    auto code = compile_analysed(realm_, apart, {&one, 1});
    if (!code) {
        if (!failure_) failure_ = std::move(code).error();
        return std::nullopt;
    }
    value closure = make_closure(realm_.memory(), **code, 0);
    auto outcome = run_apart(realm_, std::move(closure), {}, request.expansion_steps, "a macro");
    request_.expansion_steps = request.expansion_steps;
    if (outcome) return *std::move(outcome);
    if (!failure_) failure_ = std::move(outcome).error();
    return std::nullopt;
}

/// A program that defines macros gets the functions of its top level while it is compiled too, so
/// that macros can use them. Until it is compiled: when it runs, they are defined where it does so.
void analyzer::define_early(std::string_view name, const form& definition) {
    if (!has_macros_ || scope_ || request_.limits.closed || failed() || defining_early_) return;
    compile_request request;
    request.in_one = true;
    request.internal_names = request_.internal_names;
    request.expansion_steps = request_.expansion_steps;
    ast::arena arena;
    analyzer apart(realm_, arena, request, max_depth_ - std::min(depth_, max_depth_));
    apart.defining_early_ = true;
    apart.expansions_ = expansions_;
    const datum one{definition.content, definition.span};
    const auto code = compile_analysed(realm_, apart, {&one, 1});
    if (!code) return; // reported when the definition itself is compiled
    const std::uint32_t index = realm_.global_index(name);
    before_early_.emplace_back(index, realm_.global(index));
    (void)run_apart(realm_, make_closure(realm_.memory(), **code, 0), {}, request.expansion_steps,
                    "a definition");
    request_.expansion_steps = request.expansion_steps;
}

analyzer::~analyzer() {
    for (; !before_early_.empty(); before_early_.pop_back()) {
        auto& [index, held] = before_early_.back();
        realm_.change_global(index) = std::move(held);
    }
}

void analyzer::bind_macro(const value& name, value expander) {
    if (!scope_) return realm_.define_macro(symbol_name(name), std::move(expander));
    const auto& kept = local_macros_.emplace_back(name, std::move(expander));
    names_.add(symbol_name(kept.first), {.in = scope_, .macro = &kept.second});
}

/// (defmacro name (parameter…) body…): the body computes code out of code. Returns the name.
static ast::node* form_defmacro(analyzer& a, const form& f, analyzer::position) {
    if (f.size() < 4 || !f[1].is_symbol() || !f[2].is_list()) {
        return a.fail(f.span, "defmacro: expects (defmacro name (parameter…) body…)");
    }
    const std::string name(f[1].name());
    if (a.is_internal(name)) return a.fail_internal(name, f[1].span);
    if (find_special_form(name)) {
        return a.fail(f[1].span,
                      "defmacro: '" + name + "' is a special form and cannot be redefined");
    }
    if (a.sandboxes() != 0) {
        return a.fail(f.span, "defmacro: a sandbox cannot define macros, which run outside of it",
                      "define '" + name + "' before the sandbox", errc::permission);
    }
    if (a.takes_expander()) {
        ast::node* expander = a.make(node_kind::make_lambda, f.span);
        expander->code = a.lambda_of(f, f[2], 3, name);
        return expander;
    }
    auto result = a.make_expander(f);
    if (!result) return a.constant({}, f.span);
    a.bind_macro(f[1].content, *std::move(result));
    return a.constant(f[1].content, f.span);
}

result<value> analyzer::expanded(const datum& whole) {
    form now{whole.content, whole.span};
    while (now.is_list() && now.size() != 0 && now[0].is_symbol()) {
        const value* expander = find_macro(now[0].name());
        if (!expander) break;
        now = expand(now, *expander);
        if (failed()) return *failure_;
        ++expansions_;
    }
    return now.content;
}

namespace {

constexpr special_form rows[] = {
    {.name = "defmacro",
     .analyse = &form_defmacro,
     .binds = binding::macro,
     .encloses_from = 1,
     .layout = {.form = shape::body, .beside_head = 2, .names = 2},
     .usage = "(defmacro name (parameter…) body…)",
     .summary = "Defines a form of your own: the body computes the code that replaces a call. It "
                "receives its arguments as data, before anything is evaluated; it should take "
                "new names from gensym.",
     .example = "(progn (defmacro twice (e) `(progn ,e ,e)) (let ((n 0)) (twice (set! n (+ n 1))) "
                "n)) => 2",
     .family = "code"},
};

} // namespace

std::span<const special_form> macro_forms() noexcept { return rows; }

} // namespace heddle::lang

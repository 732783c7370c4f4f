#include "analyzer_scopes.hpp"
#include "list_places.hpp"
#include "special_form.hpp"

#include "lang/print/form_text.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>

#include <cstdlib>

namespace heddle::lang {

using ast::node_kind;

namespace {

constexpr std::size_t max_generated_nodes = 1'000'000; // some 250 MB

/// malloc() keeps the small pieces that are freed apart, and puts all of them together before it
/// takes a large one: with a million of them that takes 60 ms.
void put_freed_together() noexcept {
    constexpr std::size_t large = 4096;
    void* volatile taken = std::malloc(large); // else the compiler leaves it out
    std::free(taken);
}

/// (quote x), however it is written.
bool is_quoted_symbol(const form& f) {
    return f.is_list() && f.size() == 2 && f[0].is_symbol() && f[0].name() == "quote" &&
           f[1].is_symbol();
}

} // namespace

form form::operator[](std::size_t i) const {
    form element{list_items(content)[i], span};
    const auto* storage = static_cast<const list_object*>(content.target());
    source_span known;
    if (storage->places) known = storage->places->elements[content.offset() + i];
    // In a list that a macro put together, what the macro was given has its place all the same.
    if (!known.known() && element.is_list() && element.size() != 0 &&
        element.content.offset() == 0) {
        const auto* own = static_cast<const list_object*>(element.content.target());
        if (own->places) known = own->places->whole;
    }
    if (known.known()) element.span = known;
    return element;
}

std::string_view form::name() const noexcept { return symbol_name(content); }

ast::node* analyzer::make(node_kind kind, source_span span) {
    if (request_.generated && arena_.nodes.size() >= max_generated_nodes) {
        fail(span, "the code is too large to be evaluated", "keep large data out of the code",
             errc::limit);
    }
    constexpr std::size_t size = sizeof(ast::node) + 64; // and the places of its children
    spend(1, size);
    ast::node& result = arena_.nodes.emplace_back();
    result.kind = kind;
    result.span = span;
    if (macro_call_.known()) result.text = written_at(span);
    return &result;
}

void analyzer::spend(std::uint64_t work, std::size_t bytes) {
    work_.take(bytes);
    if (auto stop = work_.add(work); stop && !failure_)
        failure_ = limit_at(*std::move(stop), work_.place());
}

void analyzer::end() {
    constexpr std::size_t portion = 256; // some 50 us
    const auto drop = [this](auto drop_one) {
        for (std::size_t i = 1; drop_one(); ++i) {
            if (i % portion != 0) continue;
            put_freed_together();
            // Whoever does not wait for it any more is notified at the next work.
            (void)work_.add(portion / 4);
        }
    };
    const auto drop_all = [&drop](auto& parts) {
        drop([&parts] {
            if (parts.empty()) return false;
            parts.pop_back();
            return true;
        });
    };
    drop_all(arena_.nodes);
    drop_all(arena_.variables);
    drop_all(arena_.lambdas);
    drop_all(arena_.labels);
    drop([this] { return names_.drop_one(); });
    drop([this] { return defined_.drop_one(); });
    (void)work_.pay();
}

ast::node* analyzer::constant(value v, source_span span) {
    node* result = make(node_kind::constant, span);
    result->constant = std::move(v);
    return result;
}

ast::node* analyzer::builtin_node(std::string_view name, source_span span,
                                  std::vector<node*> arguments) {
    node* result = make(node_kind::builtin_call, span);
    result->row = find_builtin(name);
    result->children = std::move(arguments);
    return result;
}

ast::node* analyzer::fail(source_span span, std::string message, std::string hint, errc code) {
    if (!failure_) {
        failure_ =
            error(code, std::move(message)).with_span(span).with_origin(error_origin::script);
        if (!hint.empty()) failure_ = std::move(*failure_).with_hint(std::move(hint));
    }
    // Not through make(), which may be what has failed.
    node& none = arena_.nodes.emplace_back();
    none.span = span;
    return &none;
}

/// A call of a function of the prelude, whatever the program has defined.
ast::node* analyzer::call_library(std::string_view function, source_span span,
                                  std::vector<node*> arguments) {
    node* callee = make(node_kind::global, span);
    const auto known = realm_.find_prelude_global(function);
    callee->index = known ? *known : realm_.global_index(function);
    node* result = make(node_kind::call, span);
    result->children = std::move(arguments);
    result->children.insert(result->children.begin(), callee);
    return result;
}

bool analyzer::check_name(const form& f, std::string_view form_name, std::string_view role) {
    if (f.is_symbol()) {
        if (!is_internal(f.name())) return true;
        fail_internal(f.name(), f.span);
        return false;
    }
    const std::string who = std::string(form_name) + ": " + std::string(role);
    if (is_quoted_symbol(f)) {
        fail(f.span, who + " is written without a quote", "write " + std::string(f[1].name()));
    } else {
        fail(f.span, who + " must be a symbol, not " + shown(f.content));
    }
    return false;
}

/// The innermost scope does not have it yet.
bool analyzer::check_new_name(const form& f, std::string_view form_name) {
    const name_binding* bound = names_.find(f.name(), scope_);
    if (!bound || bound->in != scope_) return true;
    fail(f.span, std::string(form_name) + ": '" + std::string(f.name()) + "' is bound twice");
    return false;
}

/// As check_name, for what is called: at the head of a list the name of a form means the form.
bool analyzer::check_function_name(const form& f, std::string_view form_name,
                                   std::string_view role) {
    if (!check_name(f, form_name, role)) return false;
    if (request_.internal_names || !find_special_form(f.name())) return true;
    fail(f.span,
         std::string(form_name) + ": '" + std::string(f.name()) +
             "' is a special form, and stays one wherever it is called",
         "choose another name");
    return false;
}

result<ast::lambda*> analyzer::program(std::span<const datum> forms) {
    ast::lambda& around = arena_.lambdas.emplace_back();
    around_ = &around;
    ast::lambda& top = arena_.lambdas.emplace_back();
    top.parent = &around;
    if (request_.generated) top.name = "eval";
    lambda_ = &top;
    sandboxes_ = request_.limits.sandboxes;
    std::deque<scope> scopes;
    if (request_.site) open_site(*request_.site, scopes);
    seen_lists seen;
    for (const datum& each : forms) {
        const form one{each.content, each.span};
        work_.at(each.span);
        collect_toplevel(one, seen);
        // Calls that stand before the definition, or in it, know how it is called.
        if (request_.site || !one.is_list() || one.size() < 2 || !one[0].is_symbol() ||
            !one[1].is_symbol())
            continue;
        const special_form* row = find_special_form(one[0].name());
        if (row && (row->binds == binding::task || row->binds == binding::tool))
            defined_tasks_[std::string(one[1].name())] = {inputs_of(one),
                                                          row->binds == binding::tool};
    }
    node* all = make(node_kind::sequence, forms.empty() ? source_span{} : forms.front().span);
    for (std::size_t i = 0; i < forms.size() && !failed(); ++i) {
        const form one{forms[i].content, forms[i].span};
        all->children.push_back(expression(one, {i + 1 == forms.size(), loops_.size()}));
        // What imports define, macros above all, is known once they have run: the rest is compiled
        // then.
        if (i + 1 < forms.size() && !request_.in_one && !request_.site && imports(one) &&
            !imports({forms[i + 1].content, forms[i + 1].span})) {
            all->children.push_back(rest_of_program(forms.subspan(i + 1)));
            break;
        }
    }
    if (all->children.empty()) all->children.push_back(constant({}, {}));
    top.body = all;
    top.span = all->span;
    scope_ = nullptr;
    if (failed()) return *failure_;
    return &top;
}

bool analyzer::imports(const form& f) const {
    return f.is_list() && f.size() != 0 && f[0].is_symbol() && f[0].name() == "import" &&
           !defined_.contains("import");
}

/// A call that compiles and runs the rest of a program.
ast::node* analyzer::rest_of_program(std::span<const datum> forms) {
    std::vector<value> contents;
    for (const datum& each : forms) contents.push_back(each.content);
    value rest = make_list(realm_.memory(), contents);
    auto places = std::make_unique<list_places>();
    places->whole = forms.front().span;
    auto* storage = static_cast<list_object*>(rest.target());
    places->elements = std::make_unique<source_span[]>(storage->capacity);
    for (std::size_t i = 0; i < forms.size(); ++i)
        places->elements[rest.offset() + i] = forms[i].span;
    storage->places = places.release();
    node* result = make(node_kind::call, forms.front().span);
    result->children = {constant(value::of_builtin(*find_builtin("%eval-rest")), result->span),
                        constant(std::move(rest), result->span),
                        constant(value::boolean(request_.internal_names), result->span)};
    return result;
}

// ---------------------------------------------------------------- expressions

ast::node* analyzer::expression(const form& f, position where) {
    if (failed()) return constant({}, f.span);
    if (!f.is_symbol() && (!f.is_list() || f.size() == 0)) {
        node* result = constant(f.content, f.span);
        result->from = f.is_list() ? ast::origin::data : ast::origin::atom;
        return result;
    }
    if (!enter(f)) return constant({}, f.span);
    node* result = nullptr;
    if (collected_) result = expression_or_error(f, where);
    else result = f.is_symbol() ? reference(f) : call(f, where);
    leave();
    return result;
}

bool analyzer::enter(const form& f) {
    if (depth_ < max_depth_) {
        ++depth_;
        work_.at(f.span);
        return true;
    }
    fail_too_deep(f);
    return false;
}

void analyzer::fail_too_deep(const form& f) {
    fail(f.span, "code nested deeper than " + std::to_string(max_depth_) + " levels", "",
         errc::limit);
}

/// The forms from `from` on, in order; the last one's value counts.
ast::node* analyzer::body(const form& f, std::size_t from, position where) {
    if (f.size() == from + 1) return expression(f[from], where);
    node* all = make(node_kind::sequence, f.span);
    for (std::size_t i = from; i < f.size(); ++i) {
        all->children.push_back(expression(f[i], i + 1 == f.size() ? where : inner()));
    }
    return all;
}

/// Wraps `wrapped` (with the first `bound` variables of the scope initialised by its children) when
/// the scope has variables that its body binds.
ast::node* analyzer::with_scope(scope& opened, node* wrapped, std::size_t bound) {
    for (std::size_t i = bound; i < opened.variables.size(); ++i)
        wrapped->cleared.push_back(opened.variables[i]);
    return wrapped;
}

ast::lambda* analyzer::lambda_of(const form& whole, const form& parameters, std::size_t body_from,
                                 std::string name, ast::variable* self) {
    ast::lambda& result = arena_.lambdas.emplace_back();
    result.name = std::move(name);
    if (whole.size() > body_from + 1 && whole[body_from].content.is(kind::string)) {
        result.doc = string_bytes(whole[body_from].content);
        ++body_from;
    }
    result.span = whole.span;
    result.parent = lambda_;
    result.part_of_outer = std::exchange(named_let_next_, false);
    result.self = self;
    if (self) self->self = &result;
    const std::string who(whole[0].is_symbol() ? whole[0].name() : "lambda");
    ast::lambda* outer = std::exchange(lambda_, &result);
    std::vector<ast::loop_label*> outer_loops = std::exchange(loops_, {});
    const std::uint32_t outer_depth = std::exchange(loop_depth_, 0);
    const std::uint32_t outer_conditional = std::exchange(conditional_, 0);
    {
        scope own;
        scope_guard guard(*this, own);
        enum { required, optional, rest, done } stage = required;
        for (std::size_t i = 0; i < parameters.size() && !failed(); ++i) {
            const form p = parameters[i];
            spend(1, 0);
            if (p.is_list() && p.size() == 2 && p[0].is_symbol() && p[0].name() != "quote") {
                fail(p.span, who + ": a parameter must be a symbol, not " + shown(p.content),
                     "write &optional " + std::string(p[0].name()) +
                         ", which is nil where it is not given");
                break;
            }
            if (!check_name(p, who, "a parameter")) break;
            const std::string_view parameter = p.name();
            if (parameter == "&optional" && stage == required) {
                stage = optional;
                continue;
            }
            if ((parameter == "." || parameter == "&rest") && stage <= optional &&
                i + 2 == parameters.size()) {
                stage = rest;
                continue;
            }
            if (parameter == "." || parameter == "&rest" || parameter == "&optional") {
                fail(p.span, who + ": '" + std::string(parameter) + "' is in the wrong place",
                     "write (a &optional b &rest c) or (a b . c)");
                break;
            }
            const name_binding* taken = names_.find(parameter, &own);
            if (taken && taken->in == &own)
                fail(p.span, who + ": parameter '" + std::string(parameter) + "' appears twice");
            ast::variable* var = declare(parameter, p.span);
            var->definite = var->bound_once = true;
            result.parameters.push_back(var);
            if (stage == required) ++result.required;
            else if (stage == optional) ++result.optional;
            else if (stage == rest) {
                result.has_rest = true;
                stage = done;
            }
        }
        const std::size_t bound = own.variables.size();
        declare_binds(whole, body_from);
        node* inside = make(node_kind::scope, whole.span);
        inside->children.push_back(body(whole, body_from, {true, 0}));
        result.body = with_scope(own, inside, bound);
    }
    conditional_ = outer_conditional;
    loop_depth_ = outer_depth;
    loops_ = std::move(outer_loops);
    lambda_ = outer;
    return &result;
}

ast::node* analyzer::scope_node(scope_kind opens, node* operand) {
    node* result = make(node_kind::with_settings, operand->span);
    result->flag = static_cast<std::uint8_t>(opens);
    result->children.push_back(operand);
    return result;
}

} // namespace heddle::lang

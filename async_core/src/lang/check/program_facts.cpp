#include "lang/check/program_facts.hpp"

#include "lang/stdlib/stdlib_sources.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>

namespace heddle::lang {

using ast::node_kind;

program_facts::program_facts(realm& realm, const ast::node& program, const check_options& options,
                             std::vector<problem>& problems)
    : realm_(realm), options_(options), problems_(problems), libraries_(realm.memory()) {
    libraries_.add_prelude();
    collect(program);
    for (const ast::node* n : nodes_) note(*n);
    finish();
}

/// The condition of a part of a form, which adds to that of the form.
std::uint32_t program_facts::condition_of_part(const ast::node& whole, std::size_t part,
                                               std::uint32_t outer) {
    const ast::node* test = nullptr;
    switch (whole.kind) {
    case node_kind::branch_if:
        if (part != 0 && whole.var) { // what eval may have bound
            conditions_.push_back({nullptr, outer});
            return static_cast<std::uint32_t>(conditions_.size() - 1);
        }
        [[fallthrough]];
    case node_kind::while_loop:
    case node_kind::repeat:
        if (part != 0) test = whole.children[0];
        break;
    case node_kind::all_of:
    case node_kind::any_of:
        // The parts before the last one are tests of the part before this one already.
        if (part != 0) test = whole.children[part - 1];
        break;
    default: break;
    }
    if (!test) return outer;
    conditions_.push_back({test, outer});
    return static_cast<std::uint32_t>(conditions_.size() - 1);
}

void program_facts::collect(const ast::node& program) {
    struct entry {
        const ast::node* node;
        bool guarded;
        std::uint32_t condition;
        std::size_t whole;   ///< the number of the node around it
        std::size_t cleanup; ///< the `finally` or kind of error around it, or 0
    };
    std::vector<entry> work{{&program, false, no_condition, 0, 0}};
    std::vector<std::size_t> wholes;
    std::vector<std::uint32_t> of_parts;
    while (!work.empty()) {
        const auto [n, guarded, around, whole, cleanup] = work.back();
        work.pop_back();
        const std::size_t number = nodes_.size();
        nodes_.push_back(n);
        wholes.push_back(whole);
        ends_.push_back(number + 1);
        guarded_.push_back(guarded);
        conditions_of_.push_back(around);
        cleanups_.push_back(cleanup);
        if (n->cleanup) work.push_back({n->cleanup, guarded, around, number, number + 1});
        for (const ast::catch_clause& clause : n->catches) {
            if (clause.wanted_kind)
                work.push_back({clause.wanted_kind, guarded, around, number, number + 1});
            conditions_.push_back({nullptr, around});
            work.push_back({clause.body, guarded,
                            static_cast<std::uint32_t>(conditions_.size() - 1), number, cleanup});
        }
        const bool catches = guarded || !n->catches.empty();
        if (n->kind == node_kind::make_lambda && n->code->body) {
            conditions_.push_back({nullptr, around});
            work.push_back({n->code->body, guarded,
                            static_cast<std::uint32_t>(conditions_.size() - 1), number, cleanup});
        }
        // Read by clauses it calls nobody but a task; that is what an unknown name is taken for.
        const std::size_t count = n->kind == node_kind::either_call ? 1 : n->children.size();
        of_parts.assign(count, around);
        const bool in_order = n->kind == node_kind::all_of || n->kind == node_kind::any_of;
        for (std::size_t i = 0; i < count; ++i)
            of_parts[i] = condition_of_part(*n, i, in_order && i != 0 ? of_parts[i - 1] : around);
        for (std::size_t i = count; i-- > 0;) {
            const ast::node* part = n->children[i];
            // What is read or assigned in place of a local that is not bound yet does not use a
            // global.
            const bool falls_back =
                n->kind == node_kind::local || (n->kind == node_kind::set_local && i == 1);
            const bool fallback =
                falls_back && part->kind != node_kind::local && part->kind != node_kind::set_local;
            // How a name that eval may have bound is looked for does not belong to the program.
            const bool looks_for_extras = n->kind == node_kind::branch_if && n->var && i != 2;
            if (!fallback && !looks_for_extras)
                work.push_back({part, catches, of_parts[i], number, cleanup});
        }
    }
    // Parts come after their whole, and end before it does.
    for (std::size_t i = nodes_.size(); i-- > 1;)
        ends_[wholes[i]] = std::max(ends_[wholes[i]], ends_[i]);
}

bool program_facts::is_tested(std::size_t node, const ast::node& expression) const {
    constexpr std::size_t max_visited = 2000;
    const std::vector<const ast::node*> names = names_behind(expression);
    if (names.empty()) return false;
    const auto is_one = [&](const ast::node& tested) {
        const std::vector<const ast::node*> through = names_behind(tested);
        return std::any_of(through.begin(), through.end(), [&](const ast::node* a) {
            return std::any_of(names.begin(), names.end(), [&](const ast::node* b) {
                return a->kind == b->kind && a->var == b->var && a->index == b->index;
            });
        });
    };
    std::size_t looked_at = 0;
    std::vector<const ast::node*> open;
    for (std::uint32_t at = conditions_of_[node]; at != no_condition; at = conditions_[at].outer) {
        if (++looked_at > max_visited) return true;
        if (conditions_[at].test) open.push_back(conditions_[at].test);
        while (!open.empty()) {
            if (++looked_at > max_visited) return true;
            const ast::node& n = *open.back();
            open.pop_back();
            if ((n.kind == node_kind::local || n.kind == node_kind::global) && is_one(n))
                return true;
            open.insert(open.end(), n.children.begin(), n.children.end());
        }
    }
    return false;
}

/// A task anywhere but at the head of a call: a variable, or its name as data.
void program_facts::note_handed_on(const ast::node& n) {
    const bool calls = n.kind == node_kind::call || n.kind == node_kind::clause_call;
    const bool gives = calls || n.kind == node_kind::builtin_call;
    const auto note_symbol = [&](const value& v) {
        if (v.is(kind::symbol)) handed_on_.emplace(symbol_name(v));
    };
    for (std::size_t i = calls ? 1 : 0; i < n.children.size(); ++i) {
        const ast::node& part = *n.children[i];
        if (part.kind == node_kind::global) handed_on_.emplace(realm_.global_name(part.index));
        else if (part.kind == node_kind::local) handed_on_.insert(part.var->name);
        if (part.kind != node_kind::constant || !gives) continue;
        note_symbol(part.constant);
        if (!part.constant.is(kind::list)) continue;
        for (const value& each : list_items(part.constant)) note_symbol(each);
    }
}

void program_facts::note(const ast::node& n) {
    switch (n.kind) {
    case node_kind::local: read_.insert(n.var); break;
    case node_kind::constant:
        if (n.constant.is(kind::builtin) && n.constant.as_builtin().name == "eval")
            ++eval_mentions_;
        break;
    case node_kind::eval_code:
        open_names_ = true;
        if (n.variables.size() < 2) note_eval(*n.children[0]); // else it is in a sandbox
        break;
    case node_kind::scope:
        for (std::size_t i = 0; i < n.variables.size() && i < n.children.size(); ++i) {
            note_definition(variables_[n.variables[i]], *n.children[i], n.variables[i]->name);
        }
        break;
    case node_kind::bind_local:
        note_definition(variables_[n.var], *n.children[0], n.var->name);
        break;
    case node_kind::define_global:
        note_definition(globals_[n.index], *n.children[0], realm_.global_name(n.index));
        break;
    case node_kind::update_global: ++globals_[n.index].count; break;
    case node_kind::make_lambda:
        for (const ast::variable* each : n.code->parameters) locals_.insert(each->name);
        parameters_.insert(n.code->parameters.begin(), n.code->parameters.end());
        lambdas_[n.code].code = n.code;
        lambdas_[n.code].name = n.code->name;
        break;
    case node_kind::call: note_import(n); break;
    default: break;
    }
    note_handed_on(n);
    for (const ast::variable* each : n.variables) locals_.insert(each->name);
    for (const ast::variable* each : n.cleared) locals_.insert(each->name);
    for (const ast::catch_clause& clause : n.catches) locals_.insert(clause.name->name);
}

void program_facts::note_definition(definition& into, const ast::node& init,
                                    std::string_view name) {
    ++into.count;
    into.defined = true;
    into.init = &init;
    into.what = {};
    into.what.name = name;
    if (init.kind == node_kind::make_lambda) into.what.code = init.code;
    const bool task = init.kind == node_kind::effect_call && options_.tasks &&
                      (init.row->name == "%defatom" || init.row->name == "%deftool");
    if (!task) return;
    task_names_.emplace(name);
    auto result = options_.tasks->check(realm_, init.children[0]->constant, init.span, problems_);
    if (!result) return;
    signatures_.push_back(std::make_unique<task_signature>(*std::move(result)));
    into.what.task = signatures_.back().get();
    into.what.definition = &init.children[0]->constant;
    tasks_.push_back(&every_task_.emplace_back(into.what));
    ++definitions_of_[into.what.name];
    definitions_[&init] = tasks_.back();
}

/// Code given to eval may assign and define globals. What it may be is known if it is written out.
void program_facts::note_eval(const ast::node& code) {
    constexpr std::size_t max_parts = 100'000;
    const ast::node* source = &code;
    std::vector<value> open;
    const auto reads = [](std::string_view name) { return name == "parse" || name == "read-all"; };
    const bool parses_here =
        code.kind == node_kind::builtin_call && code.children.size() == 1 && reads(code.row->name);
    const bool calls_parse = code.kind == node_kind::call && code.children.size() == 2 &&
                             code.children[0]->kind == node_kind::constant &&
                             code.children[0]->constant.is(kind::builtin) &&
                             reads(code.children[0]->constant.as_builtin().name);
    const bool parses = parses_here || calls_parse;
    if (parses) source = code.children.back();
    if (source->kind != node_kind::constant || source->constant.is(kind::string) != parses) {
        runs_unknown_code_ = true;
        return;
    }
    if (parses) {
        const auto forms = read_all(realm_.memory(), string_bytes(source->constant));
        if (!forms) return; // it cannot be read, and changes nothing
        for (const datum& each : *forms) open.push_back(each.content);
    } else {
        open.push_back(source->constant);
    }
    for (std::size_t parts = 0; !open.empty(); ++parts) {
        if (parts == max_parts) {
            runs_unknown_code_ = true;
            return;
        }
        const value part = std::move(open.back());
        open.pop_back();
        if (part.is(kind::symbol)) {
            const std::string_view name = symbol_name(part);
            if (name == "eval" || name == "import" || name == "defmacro" || realm_.find_macro(name))
                runs_unknown_code_ = true; // what it becomes is not written out
            names_in_eval_.emplace(name);
        }
        if (!part.is(kind::list)) continue;
        const auto items = list_items(part);
        open.insert(open.end(), items.begin(), items.end());
    }
}

/// Whether code given to eval, or of an imported file, may give the global another value. That such
/// code replaces functions and tasks of the program is not expected.
bool program_facts::may_eval_change(std::uint32_t index, const definition& found) const {
    const bool is_called = found.what.code || found.what.task;
    if (runs_unknown_code_ && !is_called) return true;
    return !names_in_eval_.empty() &&
           names_in_eval_.contains(std::string(realm_.global_name(index)));
}

/// Calls that imports and eval have become.
void program_facts::note_import(const ast::node& call) {
    const ast::node& callee = *call.children[0];
    if (callee.kind == node_kind::constant && callee.constant.is(kind::builtin)) {
        const std::string_view name = callee.constant.as_builtin().name;
        if (name != "eval") return;
        open_names_ = true;
        ++eval_calls_;
        if (call.children.size() == 2) note_eval(*call.children[1]);
        return;
    }
    if (callee.kind != node_kind::global || !realm_.is_prelude_global(callee.index)) return;
    const std::string_view name = realm_.global_name(callee.index);
    if (name == "%import-file") {
        open_names_ = true;
        runs_unknown_code_ = true; // it may assign globals of the program
    }
    if (name != "%import-library" || call.children.size() < 2) return;
    const value& what = call.children[1]->constant;
    std::string_view library = what.is(kind::symbol) ? symbol_name(what) : string_bytes(what);
    if (library.starts_with("std/")) library.remove_prefix(4);
    if (libraries_read_.contains(std::string(library))) return;
    std::vector<std::string> known;
    for (const library_source& source : stdlib_sources()) {
        known.emplace_back(source.name);
        if (source.name != library) continue;
        libraries_read_.emplace(library);
        libraries_.add(source.text);
        const auto forms = read_all(realm_.memory(), source.text);
        if (!forms) return;
        for (const datum& each : *forms) {
            if (!each.content.is(kind::list) || each.content.length() < 2) continue;
            const auto parts = list_items(each.content);
            if (!parts[0].is(kind::symbol)) continue;
            // What a macro of a library makes of its parts is not known here.
            if (symbol_name(parts[0]) == "defmacro") open_names_ = true;
            if (symbol_name(parts[0]) != "define") continue;
            const value& target = parts[1].is(kind::list) && parts[1].length() != 0
                                      ? list_items(parts[1])[0]
                                      : parts[1];
            if (target.is(kind::symbol)) imported_.emplace(symbol_name(target));
        }
        return;
    }
    problems_.push_back({severity::error, "unknown-library",
                         "there is no library std/" + std::string(library),
                         suggest_names(library, known), call.span});
    open_names_ = true;
}

void program_facts::finish() {
    if (eval_mentions_ > eval_calls_) runs_unknown_code_ = true; // (map eval codes)
    for (auto& [index, each] : globals_) {
        if (each.count == 1 && each.what.task) tasks_by_name_[each.what.name] = index;
    }
}

const known_callee* program_facts::callee_of(const ast::node& called) const {
    const auto certain = [](const definition& found) {
        const bool known = found.what.code || found.what.task;
        return found.count == 1 && known ? &found.what : nullptr;
    };
    switch (called.kind) {
    case node_kind::make_lambda: return &lambdas_.at(called.code);
    case node_kind::effect_call: { // the definition itself: source_of leads there
        const auto found = definitions_.find(&called);
        return found != definitions_.end() ? found->second : nullptr;
    }
    case node_kind::local: {
        const auto found = variables_.find(called.var);
        const bool fixed = called.children.empty() && !called.var->reassigned;
        return found != variables_.end() && fixed ? certain(found->second) : nullptr;
    }
    case node_kind::global: {
        const auto found = globals_.find(called.index);
        if (found == globals_.end() || may_eval_change(called.index, found->second)) return nullptr;
        return certain(found->second);
    }
    case node_kind::constant: {
        if (!called.constant.is(kind::symbol)) return nullptr;
        const auto found = tasks_by_name_.find(std::string(symbol_name(called.constant)));
        return found != tasks_by_name_.end() ? certain(globals_.at(found->second)) : nullptr;
    }
    default: return nullptr;
    }
}

const known_callee* program_facts::task_named(std::string_view name) const {
    const auto found = tasks_by_name_.find(std::string(name));
    if (found == tasks_by_name_.end()) return nullptr;
    return &globals_.at(found->second).what;
}

const known_callee* program_facts::task_of(const ast::node& called) const {
    if (const known_callee* known = callee_of(called)) return known->task ? known : nullptr;
    if (called.kind == node_kind::global) {
        const bool of_host =
            !changes_global(called.index) && realm_.global(called.index).is_unbound();
        return of_host ? host_task_named(realm_.global_name(called.index)) : nullptr;
    }
    if (called.kind != node_kind::constant) return nullptr;
    if (called.constant.is(kind::symbol)) return host_task_named(symbol_name(called.constant));
    const host_object* object = host_of(called.constant);
    const auto info = object ? realm_.host().describe_callable(*object) : std::nullopt;
    return info ? host_task_of(*object, info->name) : nullptr;
}

const known_callee* program_facts::host_task_named(std::string_view name) const {
    if (defines_task(name)) return nullptr;
    const auto info = realm_.host().find_operator(realm_.memory(), name);
    const host_object* object = info ? host_of(info->callable) : nullptr;
    return object ? host_task_of(*object, info->name) : nullptr;
}

const known_callee* program_facts::host_task_of(const host_object& callable,
                                                std::string_view name) const {
    const auto known = host_tasks_.find(name);
    if (known != host_tasks_.end()) return &known->second;
    if (!options_.tasks) return nullptr;
    auto result = options_.tasks->signature_of(realm_, callable);
    if (!result) return nullptr;
    host_signatures_.push_back(*std::move(result));
    known_callee found{std::string(name), nullptr, &host_signatures_.back(), nullptr};
    return &host_tasks_.emplace(std::string(name), std::move(found)).first->second;
}

const ast::node& program_facts::source_of(const ast::node& expression,
                                          std::vector<const ast::node*>* through) const {
    constexpr std::size_t max_chain_length = 20;
    const ast::node* at = &expression;
    for (std::size_t i = 0; i < max_chain_length; ++i) {
        const definition* found = nullptr;
        if (at->kind == node_kind::local) {
            const auto known = variables_.find(at->var);
            const bool fixed = at->children.empty() && !at->var->reassigned;
            if (fixed && known != variables_.end()) found = &known->second;
        } else if (at->kind == node_kind::global) {
            const auto known = globals_.find(at->index);
            if (known != globals_.end() && !may_eval_change(at->index, known->second))
                found = &known->second;
        } else if ((at->kind == node_kind::scope || at->kind == node_kind::sequence ||
                    at->kind == node_kind::within) &&
                   !at->children.empty()) {
            at = at->kind == node_kind::within ? at->children.front() : at->children.back();
            continue;
        }
        if (through && (at->kind == node_kind::local || at->kind == node_kind::global))
            through->push_back(at);
        if (!found || found->count != 1 || !found->init) break;
        at = found->init;
    }
    return *at;
}

std::vector<const ast::node*> program_facts::names_behind(const ast::node& expression) const {
    std::vector<const ast::node*> through;
    static_cast<void>(source_of(expression, &through));
    return through;
}

const library_function* program_facts::library_function_of(const ast::node& called) const {
    if (called.kind != node_kind::global || changes_global(called.index)) return nullptr;
    const std::string_view name = realm_.global_name(called.index);
    const bool known = is_imported(name) || (realm_.is_prelude_global(called.index) &&
                                             realm_.global(called.index).is(kind::closure));
    return known ? libraries_.find(name) : nullptr;
}

} // namespace heddle::lang

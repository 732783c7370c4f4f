// Resolves names and checks forms: data to ast.
#pragma once

#include "ast.hpp"
#include "form.hpp"
#include "lang/realm/compile_request.hpp"
#include "lang/value/seen_lists.hpp"
#include "name_set.hpp"
#include "name_table.hpp"

#include <heddle/base/error.hpp>
#include <heddle/base/keyed_hash.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/realm.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heddle::lang {

struct special_form;

/// One pass over a program. Fails with the first error; the ast is then of no use. Or it collects
/// errors: then a form that is wrong counts as nil, and the ast holds for the rest.
/// The special forms are functions over it, in the rows of special_form.hpp.
class analyzer {
public:
    using node = ast::node;

    /// `max_depth`: how deep the native stack lets expressions nest.
    analyzer(lang::realm& realm, ast::arena& arena, compile_request& request, std::size_t max_depth)
        : realm_(realm), arena_(arena), request_(request), work_(realm, realm.watch()),
          max_depth_(max_depth) {}
    ~analyzer();
    analyzer(const analyzer&) = delete;
    analyzer& operator=(const analyzer&) = delete;

    /// The program as the lambda of its top level.
    [[nodiscard]] result<ast::lambda*> program(std::span<const datum> forms);
    /// Go on after an error and put all of them into `into`, some perhaps twice.
    void collect_errors(std::vector<error>& into) noexcept { collected_ = &into; }
    /// Names that the program defines at its top level, or somewhere inside.
    [[nodiscard]] const name_set& defined() const noexcept { return defined_; }
    /// The form once no macro is at its head.
    [[nodiscard]] result<value> expanded(const datum& form);
    [[nodiscard]] compile_work& work() noexcept { return work_; }
    /// Frees the tree and the names in turns. Nothing else may follow.
    void end();

    /// The position of an expression.
    struct position {
        bool tail = false;          ///< its value is the function's value
        std::size_t loops_from = 0; ///< it is in tail position of the loops from here on
    };

    // ------------------------------------------------------------ for the special forms

    [[nodiscard]] lang::realm& realm() noexcept { return realm_; }
    [[nodiscard]] ast::arena& arena() noexcept { return arena_; }
    [[nodiscard]] compile_request& request() noexcept { return request_; }

    // expressions
    node* expression(const form& f, position where);
    node* body(const form& f, std::size_t from, position where);
    node* clause_call(const form& f, node* callee, std::size_t first,
                      std::span<const std::string> inputs = {});
    node* named_let(const form& f, position where);
    ast::lambda* lambda_of(const form& whole, const form& parameters, std::size_t body_from,
                           std::string name, ast::variable* self = nullptr);
    /// An expression as a function of no parameters. Its binds stay inside, as in any branch.
    ast::lambda* thunk_of(const form& f);
    /// The position of an expression that is not the last of its form.
    [[nodiscard]] position inner() const noexcept { return {false, loops_.size()}; }

    // nodes
    node* make(ast::node_kind kind, source_span span);
    node* constant(value v, source_span span);
    node* builtin_node(std::string_view name, source_span span, std::vector<node*> arguments);
    node* call_library(std::string_view function, source_span span, std::vector<node*> arguments);
    /// A form that opens a scope: its body comes next. `operand` is what op::settings_push takes.
    node* scope_node(scope_kind opens, node* operand);
    node* with_scope(scope& opened, node* wrapped, std::size_t bound);

    // errors
    node* fail(source_span span, std::string message, std::string hint = {},
               errc code = errc::evaluation);
    node* fail_internal(std::string_view name, source_span span);
    [[nodiscard]] bool failed() const noexcept { return failure_.has_value(); }
    /// A level of nesting begins, which `leave` ends; false: the native stack allows no more, which
    /// is the error now.
    [[nodiscard]] bool enter(const form& f);
    void leave() noexcept { --depth_; }
    /// Work was done, and memory taken as long as the compilation goes on. It may fail.
    void spend(std::uint64_t work, std::size_t bytes);

    // names
    bool check_name(const form& f, std::string_view form_name, std::string_view role);
    bool check_new_name(const form& f, std::string_view form_name);
    bool check_function_name(const form& f, std::string_view form_name, std::string_view role);
    [[nodiscard]] bool is_internal(std::string_view name) const noexcept;
    [[nodiscard]] bool is_local(std::string_view name) const;
    ast::variable* declare(std::string_view name, source_span place = {});
    ast::variable* declare_hidden(std::string_view name);
    void declare_binds(const form& f, std::size_t from);
    void declare_binds_in(const form& f);
    ast::variable* bind_here(std::string_view name, source_span place = {});
    node* define_here(std::string_view name, source_span span, node* init);
    void define_early(std::string_view name, const form& definition);
    node* assign_from(std::string_view name, source_span span, scope* start, node* init,
                      bool left_sandbox = false, bool when_it_runs = false,
                      bool is_unbound = false);
    [[nodiscard]] bool is_assigned_when_it_runs(std::string_view name);
    void note_bound(ast::variable& var);
    void note_task(const ast::variable& var);
    void mark_capture(ast::variable& var);
    ast::variable* extras_here();
    const std::string& file_of(source_span span);
    /// What an eval in the innermost scope sees, which moves to cells.
    std::unique_ptr<eval_site> site_here(node& eval);
    /// The program defines the name at its top level.
    void note_defined(const std::string& name) { defined_.insert(name); }
    /// As note_defined, for a task or tool with these inputs.
    void note_operator(const std::string& name, std::vector<std::string> inputs, bool is_tool);
    /// Names of the parameters in the (params …) clauses of a defatom or deftool.
    static std::vector<std::string> inputs_of(const form& f);

    // macros
    /// The function of a `defmacro`. Empty after an error.
    std::optional<value> make_expander(const form& definition);
    /// True once, when the text is a defmacro whose function is wanted.
    [[nodiscard]] bool takes_expander() noexcept { return std::exchange(making_expander_, false); }
    void bind_macro(const value& name, value expander);

    // around the form
    [[nodiscard]] scope* innermost() noexcept { return scope_; } ///< null at the top level
    [[nodiscard]] ast::lambda* function() noexcept { return lambda_; }
    /// Inside the text of a sandbox form, or in code that belongs to a sandbox.
    [[nodiscard]] bool in_sandbox() const noexcept {
        return request_.limits.closed || sandboxes_ != 0;
    }
    [[nodiscard]] unsigned sandboxes() const noexcept { return sandboxes_; }
    void begin_sandbox() noexcept { ++sandboxes_; }
    void end_sandbox() noexcept { --sandboxes_; }
    /// What follows may not run.
    void begin_conditional() noexcept { ++conditional_; }
    void end_conditional() noexcept { --conditional_; }
    [[nodiscard]] std::uint32_t conditional() const noexcept { return conditional_; }
    void end_conditional(std::uint32_t outer) noexcept { conditional_ = outer; }
    /// What follows may run several times.
    void begin_loop() noexcept { ++loop_depth_; }
    void end_loop() noexcept { --loop_depth_; }

    /// Makes a scope the innermost one.
    void open(scope& opened);
    // analyzer_scopes.hpp
    class scope_closer;
    class scope_guard;
    class scope_switch;

private:
    struct defined_task {
        std::vector<std::string> inputs;
        bool is_tool = false;
    };

    // names as expressions
    node* reference(const form& f);
    /// Of the bindings of a name further out that a reference or an assignment goes to.
    struct fallback_counts {
        std::uint32_t now = 0; ///< of the reference that is analyzed
        std::uint32_t all = 0; ///< of all references so far
    };
    class fallback_count {
    public:
        static constexpr std::uint32_t max = 1000; ///< each reference has them all
        static constexpr std::uint32_t max_in_all = 250'000;
        explicit fallback_count(fallback_counts& in) noexcept : in_(in) {
            if (++in_.now > 1) ++in_.all;
        }
        fallback_count(const fallback_count&) = delete;
        fallback_count& operator=(const fallback_count&) = delete;
        ~fallback_count() { --in_.now; }
        [[nodiscard]] bool are_too_many() const noexcept {
            return in_.now > max || in_.all > max_in_all;
        }

    private:
        fallback_counts& in_;
    };
    [[nodiscard]] const name_binding* variable_named(std::string_view name,
                                                     const scope* start) const;
    [[nodiscard]] bool is_certainly_bound(const ast::variable& var) const;
    node* fail_fallbacks(std::string_view name, source_span span);
    node* assign_variable(const name_binding& bound, std::string_view name, source_span span,
                          node* init);
    node* reference_from(std::string_view name, source_span span, scope* start);

    // calls (analyzer_calls.cpp)
    node* call(const form& f, position where);
    node* call_named(const form& f, position where);
    void note_form_call(const form& head);
    node* call_label(const form& f, ast::loop_label& label, position where);
    node* task_call(const form& f, node* callee, const std::vector<std::string>& inputs,
                    bool declared, bool is_tool);
    static std::string clause_usage(const form& f, std::size_t first,
                                    std::span<const std::string> inputs);
    node* by_position_if_it_reads(const form& f, node* callee);
    [[nodiscard]] bool gives_itself(const form& clause) const;
    node* tool_behind_builtin(const form& f);
    node* positional(const form& f, node* callee);
    [[nodiscard]] bool is_known_function(std::string_view name) const;
    node* head_first(const form& f, node* callee);

    // named let (forms_binding.cpp)
    [[nodiscard]] bool is_named_let(std::string_view name) const;
    node* named_let_as_loop(const form& f, std::span<node* const> values, position where);
    node* named_let_as_function(const form& f, std::vector<node*> values, bool values_bind);
    node* kept_in(std::vector<node*>& steps, node* kept);

    // going on after an error (error_recovery.cpp)
    node* expression_or_error(const form& f, position where);
    void note_origin(const form& f, node& result) const;
    void look_for_more(const form& f);

    // macros (macros.cpp)
    [[nodiscard]] const value* find_macro(std::string_view name) const;
    form expand(const form& call, const value& expander);
    node* expansion(const form& call, const value& expander, position where);
    /// Where the text is that has this span, at the present point of the analysis.
    [[nodiscard]] ast::written written_at(source_span span) const noexcept;

    // code given to eval (forms_eval.cpp)
    void open_site(const eval_site& site, std::deque<scope>& scopes);
    void show_to_eval(scope& seen);
    void begin_environment(scope& of);
    node* from_extras(ast::variable& extras, std::string_view name, node* further,
                      source_span span);
    const value& text_of_name(std::string_view name);
    node* bind_in_extras(std::string_view name, node* init, source_span span);
    node* bind_in_extras_of(ast::variable& extras, std::string_view name, node* init,
                            source_span span);
    node* read_extras(ast::variable& extras, source_span span);
    node* closed_reference(std::string_view name, source_span span);
    node* out_of_reach(std::string_view name, bool forbidden, source_span span);
    node* out_of_reach(std::string_view name, value how, source_span span);
    [[nodiscard]] static const node* behind_extras(const node* callee);

    // names
    node* fail_outside(std::string_view name, source_span span);
    void declare_binds_of(const form& f, seen_lists& seen);
    class declaring_level;
    void declare_binds_of_values(const form& f, const special_form& row, seen_lists& seen);
    void declare_binds_of_unquoted(const form& f, std::size_t depth, seen_lists& seen);
    void fail_too_deep(const form& f);
    void collect_toplevel(const form& f, seen_lists& seen);
    void collect_toplevel_of_parts(const form& list, seen_lists& seen);
    void collect_toplevel_behind(const form& list, seen_lists& seen);
    [[nodiscard]] bool imports(const form& f) const;
    node* rest_of_program(std::span<const datum> forms);
    /// Closes scopes until `outer` is the innermost one.
    void close_to(scope* outer);

    lang::realm& realm_;
    ast::arena& arena_;
    compile_request& request_;
    compile_work work_;
    std::size_t max_depth_;
    std::size_t depth_ = 0;
    std::size_t declaring_ = 0;  ///< levels of declare_binds_of
    std::size_t expansions_ = 0; ///< macros being expanded inside each other
    bool has_macros_ = false;    ///< the program defines some
    bool defining_early_ = false;
    std::vector<std::pair<std::uint32_t, value>> before_early_; ///< globals, with what they held
    bool making_expander_ = false; ///< the text is a defmacro, whose function is wanted
    unsigned sandboxes_ = 0;       ///< open at this point of the text
    /// The call of a macro around the code that is analysed; unknown when there is none.
    source_span macro_call_;
    ast::written macro_call_text_ = ast::written::in_program; ///< where that call is written
    std::deque<std::pair<std::uint32_t, std::string>> files_; ///< a position in each, and its name
    std::uint32_t evals_ = 0;       ///< so far, of those that see what is around them
    std::uint32_t binds_ = 0;       ///< so far, of variables
    ast::lambda* around_ = nullptr; ///< stand-in for the function around code given to eval
    scope* scope_ = nullptr;        ///< null at the top level
    name_table names_;
    std::deque<std::pair<value, value>> local_macros_; ///< names and expanders
    ast::lambda* lambda_ = nullptr;
    std::vector<ast::loop_label*> loops_;
    std::uint32_t loop_depth_ = 0;
    std::uint32_t conditional_ = 0; ///< inside a part that may not run
    std::uint32_t tentative_loops_ = 0;
    std::size_t wasted_nodes_ = 0; ///< of named lets that turned out to be no loops
    fallback_counts fallbacks_;    ///< bindings of a name further out that references go to
    std::uint32_t either_depth_ = 0;
    bool named_let_next_ = false; ///< the next lambda is the function of a named let
    name_set defined_;            ///< top-level names of this program
    std::unordered_map<std::string, defined_task, name_hash> defined_tasks_; ///< tools too
    std::unordered_map<std::string, value, name_hash> texts_of_names_;
    name_set inner_tasks_; ///< that it defines anywhere; tools too
    std::optional<error> failure_;
    std::vector<error>* collected_ = nullptr;
};

/// Runs the analysis and generates the code. Not deeper than the analyzer's max_depth.
[[nodiscard]] result<function_ref> compile_analysed(realm& realm, analyzer& analysis,
                                                    std::span<const datum> forms);

} // namespace heddle::lang

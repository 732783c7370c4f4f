// Ast to linear code.
#pragma once

#include "ast.hpp"
#include "lang/realm/compile_watch.hpp"

#include <heddle/base/error.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/realm.hpp>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace heddle::lang {

/// Generates the code of one lambda; nested lambdas get generators of their own.
/// Registers are given out like a stack: a scope's variables and temporaries are given back at its
/// end. `dest` is the register that gets a value; `nowhere` when only the effect counts.
class generator {
public:
    /// `hidden`: the code is of the language itself (function::hidden).
    generator(realm& realm, const ast::lambda& source, generator* parent, compile_work* work,
              bool hidden);

    /// The code, or the limit that it breaks.
    [[nodiscard]] result<function_ref> run();

private:
    using node = ast::node;
    static constexpr int nowhere = -1;

    // values
    void to(const node& n, int dest);
    void tail(const node& n);
    int anywhere(const node& n); ///< the register that holds the value; a new one if need be
    int fresh(const node& n);    ///< the value in a new register

    // variables and scopes (generator_variables.cpp)
    void local(const node& n, int dest);
    void read_variable(const ast::variable& var, int dest, source_span span, bool peek);
    void store_variable(const ast::variable& var, int source, source_span span);
    void assign(const node& n, int dest);
    void bind(const node& n, int dest);
    void define_global(const node& n, int dest);
    void scope(const node& outermost, int dest, bool is_tail);
    void clear_variables(const node& n);
    void make_environment(const ast::variable& holder, source_span span);

    // conditions and sequences (generator_control.cpp)
    void jump_when(const node& first, bool sense, std::vector<std::size_t>& jumps);
    void jump_when_simple(const node& n, bool sense, std::vector<std::size_t>& jumps);
    void conditional(const node& first, int dest, bool is_tail);
    [[nodiscard]] static bool is_conditional(const node& n) noexcept {
        return n.kind == ast::node_kind::branch_if || n.kind == ast::node_kind::all_of ||
               n.kind == ast::node_kind::any_of;
    }
    void sequence(const node& n, int dest, bool is_tail);

    // other kinds of node
    void closure(const node& n, int dest);
    void call(const node& n, int dest, bool is_tail);
    void builtin_call(const node& n, int dest);
    bool special_builtin(const node& n, int dest);
    void effect_call(const node& n, int dest);
    void clause_call(const node& n, int dest);
    void either_call(const node& n, int dest, bool is_tail);
    void repeat(const node& n, int dest);
    void while_loop(const node& n, int dest);
    void named_loop(const node& n, int dest, bool is_tail);
    void loop_again(const node& n);
    void protect(const node& n, int dest);
    void within(const node& n, int dest);
    void label_errors(std::size_t begin, std::size_t end, const value& label, int number,
                      unsigned flag, source_span span);
    void with_settings(const node& n, int dest);
    void join_scope(const node& n, int dest);
    void branch(const node& n, int dest);
    void spawn(const node& n, int dest);
    void with_permit(const node& n, int dest);
    void body_with_futures();
    void eval_code(const node& n, int dest, bool is_tail);

    // operands
    std::pair<int, int> two_operands(const node& n);
    [[nodiscard]] static std::optional<int> small_integer(const node& n);
    [[nodiscard]] static bool is_plain(const node& n);
    using variable_set = std::unordered_set<const ast::variable*>;
    static bool collect_mentions(const node& whole, variable_set& mentioned);
    int arguments(const node& n, std::size_t from);

    void argument(const node& n);

    // emission
    std::size_t emit(instruction i, source_span span);
    void pay(source_span span);
    void pay_for_registers();
    [[nodiscard]] static bool is_short(const node& n);
    std::size_t emit_wide(instruction i, std::int32_t d, source_span span);
    void patch(std::size_t jump, std::size_t target);
    void patch(const std::vector<std::size_t>& jumps, std::size_t target);
    void jump_back(std::size_t target, source_span span);
    [[nodiscard]] std::size_t here() const noexcept { return out_->code.size(); }
    int constant_index(const value& v);
    int name_index(const std::string& name);
    int allocate();
    std::uint16_t capture_index(const ast::variable& var);
    void too_large(const char* what);

    /// Frees registers at its end.
    class mark {
    public:
        explicit mark(generator& g) : g_(g), next_(g.next_) {}
        ~mark() { g_.next_ = next_; }
        mark(const mark&) = delete;
        mark& operator=(const mark&) = delete;

    private:
        generator& g_;
        int next_;
    };

    /// Code that may be skipped: what comes after it has paid for no more than what came before.
    class skippable {
    public:
        explicit skippable(generator& g) : g_(g), before_(g.unpaid_) {}
        ~skippable() { g_.unpaid_ = std::max(g_.unpaid_, before_); }
        skippable(const skippable&) = delete;
        skippable& operator=(const skippable&) = delete;

    private:
        generator& g_;
        unsigned before_;
    };

    realm& realm_;
    const ast::lambda& source_;
    generator* parent_;
    compile_work* work_; ///< null: nobody counts it
    bool hidden_;
    unsigned cleanups_; ///< `finally` around this, each of which is compiled twice
    function* out_ = nullptr;
    int next_ = 0;
    unsigned unpaid_ = 0; ///< what was emitted since the last safe point, in quick instructions
    std::unordered_map<const ast::variable*, std::uint16_t> captured_;
    std::vector<bool> moved_on_; ///< by instruction: what it writes is moved to a called function
    std::optional<error> failure_;
};

} // namespace heddle::lang

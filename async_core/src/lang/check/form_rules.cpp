// What forms and builtins that a check cannot run are given.
#include "lang/check/known_values.hpp"
#include "lang/check/rules.hpp"
#include "lang/machine/join_policy.hpp"
#include "lang/print/described.hpp"

#include <heddle/lang/code.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>

namespace heddle::lang {

using ast::node_kind;

namespace {

[[nodiscard]] bool is_host(const value& v) { return v.is(kind::host); }
[[nodiscard]] bool is_list(const value& v) { return v.is(kind::list); }
[[nodiscard]] bool is_string(const value& v) { return v.is(kind::string); }
[[nodiscard]] bool is_count_of_permits(const value& v) {
    return v.is_integer() && v.as_integer() >= 1;
}
[[nodiscard]] bool is_duration(const value& v) {
    return v.is_integer() ? v.as_integer() >= 0 : v.is_real() && v.as_real() >= 0;
}
[[nodiscard]] bool is_function(const value& v) {
    return v.is(kind::closure) || v.is(kind::builtin) || v.is(kind::host);
}

struct argument_row {
    std::string_view who;
    std::size_t index; ///< from 0
    std::string_view expected;
    bool (*fits)(const value&);
};

constexpr std::size_t last = static_cast<std::size_t>(-1);

/// In the words of a run; tests hold the rows to it.
constexpr std::array argument_rows{
    argument_row{"apply", 0, "a function", &is_function},
    argument_row{"apply", last, "a list", &is_list},
    argument_row{"await", 0, "a future", &is_host},
    argument_row{"cancel", 0, "a future", &is_host},
    argument_row{"file-exists?", 0, "a string", &is_string},
    argument_row{"getenv", 0, "a string", &is_string},
    argument_row{"list-directory", 0, "a string", &is_string},
    argument_row{"parse", 0, "a string", &is_string},
    argument_row{"read-all", 0, "a string", &is_string},
    argument_row{"read-file", 0, "a string", &is_string},
    argument_row{"semaphore", 0, "a positive integer", &is_count_of_permits},
    argument_row{"sleep", 0, "a non-negative number of seconds", &is_duration},
    argument_row{"with-permit", 0, "a semaphore", &is_host},
    argument_row{"write-file", 0, "a string", &is_string},
    argument_row{"write-file", 1, "a string", &is_string},
};

class form_rule {
public:
    explicit form_rule(const rule_context& context) : context_(context), values_(context) {}

    void run() {
        const auto& nodes = context_.facts.nodes();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const ast::node& n = *nodes[i];
            check_branches(n);
            values_.look_from(i);
            if (context_.facts.is_guarded(i)) continue;
            if (n.kind == node_kind::effect_call) check_arguments(n.row->name, n.children);
            if (n.kind == node_kind::with_permit)
                check_arguments("with-permit", {n.children.data(), 1});
            if (n.kind == node_kind::call) check_call(n);
        }
    }

private:
    void check_call(const ast::node& n) {
        const ast::node& called = *n.children[0];
        const std::span<ast::node* const> arguments{n.children.data() + 1, n.children.size() - 1};
        if (called.kind == node_kind::constant) {
            if (!called.constant.is(kind::builtin)) return;
            const std::string_view who = called.constant.as_builtin().name;
            check_arguments(who, arguments);
            if ((who == "parse" || who == "read-all") && arguments.size() == 1)
                check_text(who, *arguments[0]);
            return;
        }
        const known_value held = values_.of(called);
        // What is called may be nil or false until something else is there.
        const bool good = held.constant ? is_function(*held.constant) || !held.constant->truthy()
                                        : !held.known() || held.type == kind::closure;
        if (good) return;
        context_.add(severity::error, "wrong-type", called.span,
                     "cannot call " + (held.constant ? described(*held.constant) : held.noun) +
                         ": it is not a function",
                     called.kind == node_kind::local
                         ? "'" + called.var->name + "' is a variable here"
                         : std::string());
    }

    /// A text that is written out and cannot be read.
    void check_text(std::string_view who, const ast::node& argument) {
        const known_value given = values_.of(argument);
        if (!given.constant || !given.constant->is(kind::string)) return;
        const std::string_view text = string_bytes(*given.constant);
        heap& memory = context_.realm.memory();
        std::optional<error> wrong;
        if (who == "parse") {
            if (auto read = read_one(memory, text); !read) wrong = std::move(read).error();
        } else if (auto read = read_all(memory, text); !read) {
            wrong = std::move(read).error();
        }
        if (!wrong || wrong->code() != errc::syntax) return;
        context_.add(severity::error, "wrong-type", argument.span,
                     std::string(who) + ": " + wrong->message(), wrong->info().hint);
    }

    void check_arguments(std::string_view who, std::span<ast::node* const> arguments) {
        for (const argument_row& row : argument_rows) {
            if (row.who != who || arguments.empty()) continue;
            const std::size_t index = row.index == last ? arguments.size() - 1 : row.index;
            if (index >= arguments.size() || (row.index == last && index == 0)) continue;
            const known_value given = values_.of(*arguments[index]);
            if (fits(row, given)) continue;
            context_.add(severity::error, "wrong-type", arguments[index]->span,
                         std::string(who) + ": argument " + std::to_string(index + 1) +
                             " must be " + std::string(row.expected) + ", not " +
                             (given.constant ? described(*given.constant) : given.noun));
        }
    }

    [[nodiscard]] bool fits(const argument_row& row, const known_value& given) const {
        if (given.constant) return row.fits(*given.constant);
        if (!given.known()) return true;
        if (given.type == kind::host) return row.fits == &is_host || row.fits == &is_function;
        const auto samples = values_.samples_of(given);
        return samples.empty() || std::any_of(samples.begin(), samples.end(), row.fits);
    }

    /// (race (lambda () …)): the branch is the function, which nothing calls.
    void check_branches(const ast::node& n) const {
        if (n.kind == node_kind::join_scope) check_parts(n);
        else if (n.kind == node_kind::spawn) check_thunk("spawn", *n.children[1]);
        else if (n.kind == node_kind::call && n.children[0]->kind == node_kind::global) {
            const std::string_view name = context_.realm.global_name(n.children[0]->index);
            if (name == "%hedge") check_thunk("hedge", *n.children.back());
            if (name == "%retry") check_thunk("retry", *n.children.back());
        }
    }

    void check_parts(const ast::node& join) const {
        if (join.children.size() != 2 || join.children[1]->kind != node_kind::sequence) return;
        const bool race = join.flag == static_cast<std::uint8_t>(join_policy::first);
        const std::string_view who = race ? "race" : "parallel";
        for (const ast::node* part : join.children[1]->children) {
            if (part->kind == node_kind::branch) check_thunk(who, *part->children[2]);
        }
    }

    void check_thunk(std::string_view who, const ast::node& thunk) const {
        if (thunk.kind != node_kind::make_lambda || !thunk.code->body) return;
        const ast::node* part = thunk.code->body;
        while (part->kind == node_kind::scope && part->children.size() == 1)
            part = part->children.front();
        const ast::node& body = *part;
        if (!body.span.known()) return;
        if (body.kind == node_kind::make_lambda) {
            context_.add(severity::warning, "nothing-runs", body.span,
                         std::string(who) + ": this is a function, which nothing calls",
                         "write the expression itself; it is evaluated in a branch of its own");
        } else if (who == "race" && body.kind == node_kind::constant &&
                   body.text != ast::written::nowhere) {
            context_.add(severity::warning, "nothing-runs", body.span,
                         "race: this is a constant, so there is nothing to wait for");
        }
    }

    const rule_context& context_;
    known_values values_;
};

} // namespace

void check_form_arguments(const rule_context& context) { form_rule(context).run(); }

} // namespace heddle::lang

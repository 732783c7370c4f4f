#include "operands.hpp"

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/compile.hpp>

#include <heddle/lang/list.hpp>
#include "lang/machine/join_policy.hpp"
#include "lang/realm/eval_site.hpp"

#include <algorithm>

namespace heddle::lang {

namespace {

/// One function under test; the first finding is kept.
class check {
public:
    check(const function& code, std::size_t globals) : code_(code), globals_(globals) {}

    std::string run() {
        const std::size_t size = code_.code.size();
        if (size == 0 || code_.places.size() != size) return "no code, or places that do not match";
        starts_.assign(size, false);
        for (std::size_t i = 0; i < size; i += describe(code_.code[i].code).words()) {
            starts_[i] = true;
            if (static_cast<std::size_t>(code_.code[i].code) >= op_count) {
                return at(i, "is not an opcode");
            }
            if (i + describe(code_.code[i].code).words() > size) {
                return at(i, "lacks its second word");
            }
        }
        for (std::size_t i = 0; i < size && finding_.empty(); ++i) {
            if (starts_[i]) instruction_at(i);
        }
        if (finding_.empty()) last_instruction();
        if (finding_.empty()) parameters_and_handlers();
        return finding_;
    }

private:
    [[nodiscard]] static std::string at(std::size_t i, const std::string& what) {
        return "instruction " + std::to_string(i) + " " + what;
    }
    void fail(std::size_t i, const char* what) {
        if (finding_.empty()) {
            finding_ = at(
                i, std::string("(") + std::string(describe(code_.code[i].code).name) + ") " + what);
        }
    }
    void need(bool holds, std::size_t i, const char* what) {
        if (!holds) fail(i, what);
    }

    void operand_of(std::size_t i, const operand& each) {
        const auto below = [&](std::size_t bound) {
            return each.content >= 0 && static_cast<std::uint64_t>(each.content) < bound;
        };
        switch (each.letter) {
        case 'K':
        case 'k':
            need(below(code_.constants.size()), i, "names a constant that is not there");
            break;
        case 'G': need(below(globals_), i, "names a global that is not there"); break;
        case 'F':
            need(below(code_.functions.size()), i, "names a function that is not there");
            break;
        case 'U': need(below(code_.captures.size()), i, "names a capture that is not there"); break;
        case 'J':
            need(below(code_.code.size()) && starts_[static_cast<std::size_t>(each.content)], i,
                 "jumps to no instruction");
            break;
        default: break;
        }
        if (!finding_.empty()) return; // there may be no nested function to look into
        for_each_range(code_, each, [&](const register_range& range) {
            need(range.first + range.count <= code_.registers, i,
                 "uses a register that is not there");
        });
    }

    void instruction_at(std::size_t i) {
        for_each_operand(code_, i, [&](const operand& each) { operand_of(i, each); });
        if (finding_.empty()) special(i);
    }

    /// Flags, and kinds of constants, that the machine relies on.
    void special(std::size_t i) {
        const instruction& now = code_.code[i];
        const auto constant = [&](std::int64_t k) -> const value& {
            return code_.constants[static_cast<std::size_t>(k)];
        };
        switch (now.code) {
        case op::call_builtin:
        case op::call_update:
        case op::call_effect: {
            const value& row = constant(code_.code[i + 1].d);
            const builtin_kind wanted =
                now.code == op::call_effect ? builtin_kind::effect : builtin_kind::pure;
            need(row.is(kind::builtin) && row.as_builtin().how == wanted, i,
                 "does not name a builtin of its kind");
            break;
        }
        case op::call_clauses: names(i, constant(code_.code[i + 1].d)); break;
        case op::jump_unless_clauses: names(i, constant(now.b)); break;
        case op::eval_code: {
            const auto* site = host_as<eval_site>(constant(code_.code[i + 1].d));
            need(site && site->registers() == now.b, i, "does not name what it sees");
            break;
        }
        case op::rethrow_within:
            need(constant(now.c).is(kind::string), i, "has no line for a trace");
            break;
        case op::cell_get:
        case op::up_cell_get:
            need(constant(now.c).is(kind::symbol), i, "does not name a variable");
            break;
        case op::dynamic_get:
            need(now.x <= static_cast<std::uint8_t>(dynamic_name::sandbox), i, "names nothing");
            break;
        case op::settings_push:
            need(now.x <= static_cast<std::uint8_t>(scope_kind::confined), i, "opens no scope");
            break;
        case op::join_begin:
            need(constant(now.c).is(kind::string) && now.x < join_policy_names.size(), i,
                 "is not a join");
            break;
        case op::branch_call: need(now.x <= 2, i, "is not a branch"); break;
        case op::join_end: need(now.x <= 1, i, "ends no join"); break;
        case op::loop: need(now.d <= 0, i, "jumps forwards"); break; // 0: only a safe point
        case op::closure: captures(i, *code_.functions[static_cast<std::size_t>(now.d)]); break;
        default: break;
        }
    }

    void names(std::size_t i, const value& list) {
        if (!list.is(kind::list)) return fail(i, "does not name its clauses");
        const auto items = list_items(list);
        const bool symbols = std::all_of(items.begin(), items.end(),
                                         [](const value& v) { return v.is(kind::symbol); });
        need(symbols, i, "does not name its clauses");
        if (code_.code[i].code == op::call_clauses)
            need(items.size() == code_.code[i].b, i, "names other than its arguments");
    }

    void captures(std::size_t i, const function& inner) {
        for (const capture& each : inner.captures) {
            if (each.where == capture::from::captured)
                need(each.index < code_.captures.size(), i, "captures what is not captured");
        }
    }

    void last_instruction() {
        std::size_t last = code_.code.size() - 1;
        if (!starts_[last]) --last;
        need(describe(code_.code[last].code).ends_path(), last, "may fall off the end");
    }

    void parameters_and_handlers() {
        const std::size_t parameters =
            code_.required + std::size_t{code_.optional} + (code_.has_rest ? 1 : 0);
        if (parameters > code_.registers) finding_ = "more parameters than registers";
        if (code_.cleared > code_.registers) finding_ = "more registers to clear than there are";
        for (const handler& h : code_.handlers) {
            const bool inside =
                h.begin < h.end && h.end <= code_.code.size() && h.target < code_.code.size();
            if (!inside || !starts_[h.target] || h.slot >= code_.registers) {
                finding_ = "a handler outside the code";
            }
        }
    }

    const function& code_;
    std::size_t globals_;
    std::vector<bool> starts_;
    std::string finding_;
};

} // namespace

result<void> verify(const function& code, std::size_t globals) {
    std::vector<const function*> work{&code};
    while (!work.empty()) {
        const function* next = work.back();
        work.pop_back();
        const std::string finding = check(*next, globals).run();
        if (!finding.empty()) {
            std::string message = "code of ";
            message.append(next->name.empty() ? "a lambda" : next->name)
                .append(": ")
                .append(finding);
            return error(heddle::errc::invalid_argument, std::move(message)).with_span(next->span);
        }
        work.insert(work.end(), next->functions.begin(), next->functions.end());
    }
    return {};
}

} // namespace heddle::lang

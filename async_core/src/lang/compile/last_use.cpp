#include "last_use.hpp"

#include "operands.hpp"

#include <heddle/lang/builtin.hpp>

#include <algorithm>
#include <vector>

namespace heddle::lang {

namespace {

constexpr std::size_t longest_look = 64;  ///< instructions
constexpr std::size_t most_handlers = 16; ///< of a function that is looked at

/// What follows an instruction, as far as one register is concerned.
class look_ahead {
public:
    look_ahead(const function& code, std::uint16_t wanted) : code_(code), wanted_(wanted) {}

    /// Whether nothing reads the register from instruction `from` on.
    [[nodiscard]] bool is_dead(std::size_t from) {
        open_.push_back(from);
        while (!open_.empty()) {
            const std::size_t at = open_.back();
            open_.pop_back();
            if (std::find(seen_.begin(), seen_.end(), at) != seen_.end()) continue;
            if (seen_.size() == longest_look || at >= code_.code.size()) return false;
            seen_.push_back(at);
            if (reads(at)) return false;
            follow(at);
        }
        return true;
    }

private:
    [[nodiscard]] bool in_range(std::size_t first, std::size_t count) const {
        return wanted_ >= first && wanted_ < first + count;
    }
    [[nodiscard]] bool reads(std::size_t at) const {
        const instruction& now = code_.code[at];
        const std::string_view operands = describe(now.code).operands;
        const std::string_view first = first_word(operands);
        if (!first.empty() && first[0] == 'R' && now.a == wanted_ &&
            !describe(now.code).overwrites_first())
            return true;
        if (first.size() > 1 && first[1] == 'R' && now.b == wanted_) return true;
        if (first.size() > 2 && first[2] == 'R' && now.c == wanted_) return true;
        if (second_word(operands) == "RR") {
            const instruction& more = code_.code[at + 1];
            if (more.a == wanted_ || more.b == wanted_) return true;
        }
        switch (now.code) {
        case op::call:
        case op::tail_call:
        case op::call_clauses:
        case op::eval_code:
        case op::branch_call: return in_range(now.a, now.b + std::size_t{1});
        case op::call_global:
        case op::tail_call_global: return in_range(now.a + std::size_t{1}, now.b);
        case op::list:
        case op::call_builtin:
        case op::call_update:
        case op::call_effect: return in_range(now.b, now.c);
        case op::closure: {
            const auto& captures = code_.functions[static_cast<std::size_t>(now.d)]->captures;
            return std::any_of(captures.begin(), captures.end(), [&](const capture& each) {
                return each.where == capture::from::local && each.index == wanted_;
            });
        }
        default: return false;
        }
    }
    void follow(std::size_t at) {
        const instruction& now = code_.code[at];
        const std::string_view operands = describe(now.code).operands;
        const std::string_view second = second_word(operands);
        const std::size_t next = at + (second.empty() ? 1 : 2);
        for (const handler& each : code_.handlers) {
            if (each.begin < next && at < each.end) open_.push_back(each.target);
        }
        const bool written = now.a == wanted_ && describe(now.code).overwrites_first();
        if (written) return;
        if (second == "J" || operands.ends_with('J')) {
            const instruction& jump = code_.code[next - 1];
            open_.push_back(static_cast<std::size_t>(static_cast<std::int64_t>(next) + jump.d));
        }
        if (!describe(now.code).ends_path()) open_.push_back(next);
    }

    const function& code_;
    std::uint16_t wanted_;
    std::vector<std::size_t> open_;
    std::vector<std::size_t> seen_;
};

/// Whether a builtin can write into the storage of its first argument.
bool can_update(const builtin& row) { return row.name == "put" || row.name == "merge"; }

/// Whether an instruction stores a register in a cell or a global.
bool stores(const instruction& now, std::uint16_t wanted) {
    switch (now.code) {
    case op::cell_set:
    case op::up_cell_set: return now.b == wanted;
    case op::global_define:
    case op::global_update: return now.a == wanted;
    default: return false;
    }
}

} // namespace

void mark_updates(function& code) {
    for (std::size_t i = 0; i + 2 < code.code.size(); ++i) {
        instruction& now = code.code[i];
        if (now.code == op::call_builtin && stores(code.code[i + 2], now.a) &&
            can_update(code.constants[static_cast<std::size_t>(code.code[i + 1].d)].as_builtin())) {
            now.code = op::call_update;
            code.code[i + 2].x = look_ahead(code, now.a).is_dead(i + 3) ? 1 : 0;
        }
        if (!second_word(describe(now.code).operands).empty()) ++i; // no instruction
    }
}

void move_last_uses(function& code) {
    if (code.handlers.size() > most_handlers) return;
    for (std::size_t i = 0; i < code.code.size(); ++i) {
        instruction& now = code.code[i];
        if (now.code == op::move && now.a != now.b && look_ahead(code, now.b).is_dead(i + 1))
            now.code = op::take;
        if (!second_word(describe(now.code).operands).empty()) ++i; // no instruction
    }
}

} // namespace heddle::lang

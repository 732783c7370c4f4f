#include "last_use.hpp"

#include "operands.hpp"

#include <heddle/lang/builtin.hpp>

#include <algorithm>
#include <set>
#include <vector>

namespace heddle::lang {

namespace {

/// The register that an instruction may move: of those that read it last, it is the one that gains.
struct movable {
    std::size_t index = 0;
    bool may_fail = false; ///< after it took the register: a handler must not read that
};
[[nodiscard]] std::optional<movable> movable_of(const instruction& now) {
    switch (now.code) {
    case op::move:
    case op::cell_set:
        if (now.a == now.b) return std::nullopt;
        return movable{now.b};
    case op::up_cell_set: return movable{now.b};
    case op::global_define:
    case op::global_update: return movable{now.a};
    case op::rest: return movable{now.b, true};
    case op::cons:
        if (now.b == now.c) return std::nullopt;
        return movable{now.c, true};
    default: return std::nullopt;
    }
}

void let_move(instruction& now) {
    if (now.code == op::move) now.code = op::take;
    else now.x = 1;
}

/// Which registers are read later, at each instruction: one walk backwards over the code, which
/// keeps a set at each target of a jump, and two more where there are loops. So many registers at a
/// time that the sets stay small.
class liveness {
public:
    liveness(function& code, compile_work* work) : code_(code), work_(work) {
        for (std::size_t i = 0; i < code.code.size(); i += words_of(i)) {
            starts_.push_back(static_cast<std::uint32_t>(i));
            pay(starts_.size());
            if (const auto moved = movable_of(code.code[i]))
                last_moved_ = std::max(last_moved_.value_or(0), moved->index);
        }
        if (last_moved_) find_labels();
    }

    [[nodiscard]] std::optional<error> run() {
        if (!last_moved_) return std::nullopt;
        for (begin_ = 0; begin_ <= *last_moved_; begin_ += max_registers) {
            words_ = (std::min(code_.registers - begin_, max_registers) + 63) / 64;
            sets_.assign(labels_.size() * words_, 0);
            if (auto stop = walk()) return stop;
            if (grew_) enter_loops();
            while (grew_) {
                if (auto stop = walk()) return stop;
            }
            for (const std::size_t at : found_) let_move(code_.code[at]);
        }
        return std::nullopt;
    }

private:
    static constexpr std::size_t max_registers = 1024; ///< at a time
    using set = std::vector<std::uint64_t>;
    struct label {
        std::size_t at = 0;
        std::size_t last_from = 0; ///< the last instruction that jumps here
        [[nodiscard]] bool is_loop() const { return last_from >= at; }
    };
    struct guard {
        std::size_t begin = 0;
        set live; ///< where its handler begins, and those outside of it
    };

    [[nodiscard]] std::size_t words_of(std::size_t at) const {
        return describe(code_.code[at].code).words();
    }

    /// For so many instructions, in a walk that looks at each once. What stops it is seen later.
    void pay(std::size_t seen) {
        if (work_ && seen % portion == 0) (void)work_->add(portion / 16);
    }

    void find_labels() {
        std::size_t seen = 0;
        for (const std::size_t at : starts_) {
            pay(++seen);
            if (const auto target = jump_target(code_, at)) labels_.push_back({*target, at});
        }
        for (const handler& each : code_.handlers) {
            handlers_.push_back(each);
            labels_.push_back({each.target, each.end - std::size_t{1}});
        }
        std::sort(labels_.begin(), labels_.end(), [](const label& one, const label& other) {
            return one.at != other.at ? one.at < other.at : one.last_from > other.last_from;
        });
        const auto same = [](const label& one, const label& other) { return one.at == other.at; };
        labels_.erase(std::unique(labels_.begin(), labels_.end(), same), labels_.end());
        std::sort(handlers_.begin(), handlers_.end(), [](const handler& one, const handler& other) {
            return one.end != other.end ? one.end > other.end : one.begin < other.begin;
        });
    }
    [[nodiscard]] std::uint64_t* set_of(std::size_t target) {
        const auto found =
            std::lower_bound(labels_.begin(), labels_.end(), target,
                             [](const label& one, std::size_t at) { return one.at < at; });
        return sets_.data() + static_cast<std::size_t>(found - labels_.begin()) * words_;
    }

    /// What is read where a loop begins is read later everywhere inside it: known at once to the
    /// loops inside, it need not go round each of them.
    void enter_loops() {
        std::vector<std::size_t> around;
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            if (!labels_[i].is_loop()) continue;
            while (!around.empty() && labels_[around.back()].last_from < labels_[i].at)
                around.pop_back();
            if (!around.empty())
                add(sets_.data() + i * words_, sets_.data() + around.back() * words_);
            around.push_back(i);
        }
    }

    /// From the end of the code to its beginning.
    [[nodiscard]] std::optional<error> walk() {
        grew_ = false;
        found_.clear();
        live_.assign(words_, 0);
        guards_.clear();
        std::size_t open = 0;                // handlers that were met
        std::size_t before = labels_.size(); // labels that were not
        for (std::size_t k = starts_.size(); k-- > 0;) {
            if (work_ && k % portion == portion - 1) {
                if (auto stop = work_->add(portion / 8)) return stop;
            }
            const std::size_t at = starts_[k];
            const std::size_t next = at + words_of(at);
            while (!guards_.empty() && guards_.back().begin >= next) guards_.pop_back();
            for (; open < handlers_.size() && handlers_[open].end > at; ++open)
                push(handlers_[open]);
            step(at);
            if (before != 0 && labels_[before - 1].at == at) meet(--before);
        }
        return std::nullopt;
    }
    void push(const handler& each) {
        guard result{each.begin, set(words_)};
        add(result.live.data(), set_of(each.target));
        if (inside(each.slot)) remove(result.live, each.slot); // the machine writes what was caught
        if (!guards_.empty()) add(result.live.data(), guards_.back().live.data());
        guards_.push_back(std::move(result));
    }
    void step(std::size_t at) {
        const instruction& now = code_.code[at];
        const op_description& known = describe(now.code);
        if (known.ends_path()) std::fill(live_.begin(), live_.end(), 0);
        if (const auto target = jump_target(code_, at)) add(live_.data(), set_of(*target));
        if (const auto moved = movable_of(now); moved && inside(moved->index)) {
            const bool replaced = known.overwrites_first() && now.a == moved->index;
            const bool caught =
                moved->may_fail && !guards_.empty() && has(guards_.back().live, moved->index);
            if (!caught && (replaced || !has(live_, moved->index))) found_.push_back(at);
        }
        for_each_range(code_, at, [&](const register_range& range) {
            const std::size_t end = std::min(range.first + range.count, begin_ + words_ * 64);
            for (std::size_t r = std::max(range.first, begin_); r < end; ++r) {
                if (range.overwritten) remove(live_, r);
                else live_[(r - begin_) / 64] |= std::uint64_t{1} << (r - begin_) % 64;
            }
        });
        if (!guards_.empty()) add(live_.data(), guards_.back().live.data());
    }
    /// What jumps to a label has to know what is read there.
    void meet(std::size_t index) {
        const bool more = add(sets_.data() + index * words_, live_.data());
        if (more && labels_[index].is_loop()) grew_ = true;
    }

    [[nodiscard]] bool inside(std::size_t index) const {
        return index >= begin_ && index < begin_ + words_ * 64;
    }
    [[nodiscard]] bool has(const set& live, std::size_t index) const {
        return (live[(index - begin_) / 64] >> (index - begin_) % 64 & 1) != 0;
    }
    void remove(set& live, std::size_t index) const {
        live[(index - begin_) / 64] &= ~(std::uint64_t{1} << (index - begin_) % 64);
    }
    /// Whether that are more than before.
    bool add(std::uint64_t* to, const std::uint64_t* more) const {
        bool grown = false;
        for (std::size_t i = 0; i < words_; ++i) {
            grown |= (more[i] & ~to[i]) != 0;
            to[i] |= more[i];
        }
        return grown;
    }

    static constexpr std::size_t portion =
        4096; ///< of instructions, between two looks at the limits

    function& code_;
    compile_work* work_;
    std::vector<std::uint32_t> starts_;     ///< of instructions
    std::vector<label> labels_;             ///< in the order of the code
    std::vector<handler> handlers_;         ///< the last to end first, outer before inner
    std::optional<std::size_t> last_moved_; ///< the last register that is worth a look
    std::size_t begin_ = 0;                 ///< the first register that is looked at
    std::size_t words_ = 0;                 ///< of a set
    std::vector<std::uint64_t> sets_;       ///< of the labels
    set live_;
    std::vector<guard> guards_; ///< of the handlers around the instruction
    std::vector<std::size_t> found_;
    bool grew_ = false; ///< what a loop begins with was not known before
};

/// Whether a builtin can write into the storage of its first argument.
bool can_update(const builtin& row) { return row.name == "put" || row.name == "merge"; }

/// Whether the machine knows before a chain of puts the value of an instruction between them (in
/// interpreter::home_of_chain).
bool can_be_foreseen(op code) {
    switch (code) {
    case op::load_const:
    case op::load_int:
    case op::move:
    case op::take:
    case op::up_get:
    case op::cell_get:
    case op::up_cell_get:
    case op::global_get:
    case op::add:
    case op::sub:
    case op::add_i:
    case op::sub_i: return true;
    default: return false;
    }
}

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
    const auto row_of = [&](std::size_t at) -> const builtin& {
        return code.constants[static_cast<std::size_t>(code.code[at + 1].d)].as_builtin();
    };
    for (std::size_t i = 0; i + 2 < code.code.size();) {
        instruction& now = code.code[i];
        const std::size_t next = i + describe(now.code).words();
        if (now.code != op::call_builtin || !can_update(row_of(i))) {
            i = next;
            continue;
        }
        // Registers that the chain writes: what is read between two calls was there before.
        std::set<std::size_t> written{now.a};
        for (std::size_t r = now.b; r < std::size_t{now.b} + now.c; ++r) written.insert(r);
        const auto is_there = [&](std::size_t at) {
            bool there = true;
            for_each_range(code, at, [&](const register_range& range) {
                there = there && (range.overwritten || !written.contains(range.first));
            });
            return there;
        };
        std::size_t at = next;
        std::uint16_t result = now.a;
        bool nested = false;
        while (at < code.code.size()) {
            const instruction& then = code.code[at];
            if (can_be_foreseen(then.code) && is_there(at) && then.a != result) {
                written.insert(then.a);
                ++at;
            } else if (then.code == op::call_builtin && row_of(at).name == "put" &&
                       row_of(i).name == "put" && then.b == result && then.c == 3) {
                written.insert(then.a);
                result = then.a;
                nested = true;
                at += 2;
            } else {
                break;
            }
        }
        const bool stored = at < code.code.size() && stores(code.code[at], result);
        if (stored && (nested || at == next)) {
            now.code = op::call_update;
            now.x = nested ? 1 : 0;
        }
        i = at;
    }
}

std::optional<error> move_last_uses(function& code, compile_work* work) {
    return liveness(code, work).run();
}

} // namespace heddle::lang

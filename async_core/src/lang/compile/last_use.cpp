#include "last_use.hpp"

#include "operands.hpp"

#include <heddle/lang/builtin.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>
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
/// time that the sets stay small; of several such groups, each in the part of the code that uses
/// it.
class liveness {
public:
    liveness(function& code, compile_work* work) : code_(code), work_(work) {
        for (std::size_t i = 0; i < code.code.size(); i += words_of(i)) {
            starts_.push_back(static_cast<std::uint32_t>(i));
            pay(starts_.size());
            if (const auto moved = movable_of(code.code[i]))
                last_moved_ = std::max(last_moved_.value_or(0), moved->index);
        }
        if (!last_moved_) return;
        find_labels();
        if (code.registers > max_registers) find_parts();
    }

    [[nodiscard]] std::optional<error> run() {
        if (!last_moved_) return std::nullopt;
        for (begin_ = 0; begin_ <= *last_moved_; begin_ += max_registers) {
            words_ = (std::min(code_.registers - begin_, max_registers) + 63) / 64;
            if (!take_part()) continue;
            sets_.assign((end_label_ - first_label_) * words_, 0);
            nowhere_.assign(words_, 0);
            around_.assign(words_, 0);
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
        std::size_t first_from = 0;
        [[nodiscard]] bool is_loop() const { return last_from >= at; }
    };
    struct guard {
        std::size_t begin = 0;
        set live; ///< where its handler begins, and those outside of it
    };

    /// Of the code, both ends included.
    struct part {
        std::size_t first = std::numeric_limits<std::size_t>::max();
        std::size_t last = 0;
        std::size_t end_of_loops = 0; ///< those around it; 0: there are none
        [[nodiscard]] bool contains(std::size_t at) const { return at >= first && at <= last; }
    };

    [[nodiscard]] std::size_t words_of(std::size_t at) const {
        return describe(code_.code[at].code).words();
    }

    /// For so many instructions, in a walk that looks at each once. What stops it is seen later.
    void pay(std::size_t seen) const {
        if (work_ && seen % portion == 0) (void)work_->add(portion / 16);
    }

    void find_labels() {
        std::size_t seen = 0;
        for (const std::size_t at : starts_) {
            pay(++seen);
            if (const auto target = jump_target(code_, at)) labels_.push_back({*target, at, at});
        }
        for (const handler& each : code_.handlers) {
            handlers_.push_back(each);
            labels_.push_back({each.target, each.end - std::size_t{1}, each.begin});
        }
        std::sort(labels_.begin(), labels_.end(),
                  [](const label& one, const label& other) { return one.at < other.at; });
        std::vector<label> places;
        for (const label& each : labels_) {
            if (places.empty() || places.back().at != each.at) {
                places.push_back(each);
                continue;
            }
            label& same = places.back();
            same.last_from = std::max(same.last_from, each.last_from);
            same.first_from = std::min(same.first_from, each.first_from);
        }
        labels_ = std::move(places);
        std::sort(handlers_.begin(), handlers_.end(), [](const handler& one, const handler& other) {
            return one.end != other.end ? one.end > other.end : one.begin < other.begin;
        });
    }

    /// Where each group of registers is used. A group that is written before it is ever read is not
    /// read later there, unless in a loop.
    void find_parts() {
        parts_.assign(code_.registers / max_registers + 1, part{});
        std::size_t end_of_loops = 0;
        auto next = labels_.begin();
        std::size_t seen = 0;
        for (const std::size_t at : starts_) {
            pay(++seen);
            for (; next != labels_.end() && next->at <= at; ++next)
                end_of_loops = std::max(end_of_loops, next->last_from);
            for_each_range(code_, at, [&](const register_range& range) {
                const std::size_t end = (range.first + range.count - 1) / max_registers;
                for (std::size_t i = range.first / max_registers; i <= end; ++i) {
                    if (!range.overwritten || at <= end_of_loops)
                        parts_[i].first = std::min(parts_[i].first, at);
                    parts_[i].last = at;
                }
            });
        }
        std::vector<label> loops;
        std::copy_if(labels_.begin(), labels_.end(), std::back_inserter(loops),
                     [](const label& each) { return each.is_loop(); });
        for (part& each : parts_) widen(each, loops);
    }
    /// A loop is in a part as a whole, or around it as a whole.
    void widen(part& one, const std::vector<label>& loops) const {
        std::size_t seen = 0;
        for (bool widened = true; widened && one.first <= one.last;) {
            widened = false;
            one.end_of_loops = 0;
            for (const label& each : loops) {
                pay(++seen);
                if (each.at > one.last) break;
                if (each.last_from < one.first) continue;
                if (each.at >= one.first && each.last_from <= one.last) continue;
                if (each.at <= one.first && each.last_from >= one.last) {
                    one.end_of_loops = std::max(one.end_of_loops, each.last_from);
                    continue;
                }
                one.first = std::min(one.first, each.at);
                one.last = std::max(one.last, each.last_from);
                widened = true;
            }
        }
    }
    /// The part of the code for the present registers; false: none of them is read.
    [[nodiscard]] bool take_part() {
        part_ = parts_.empty() ? part{0, code_.code.size(), 0} : parts_[begin_ / max_registers];
        if (part_.first > part_.last) return false;
        first_label_ = label_from(part_.first);
        end_label_ = label_from(part_.last + 1);
        return true;
    }
    /// The index of the first label at `at` or behind it.
    [[nodiscard]] std::size_t label_from(std::size_t at) const {
        const auto found =
            std::lower_bound(labels_.begin(), labels_.end(), at,
                             [](const label& one, std::size_t wanted) { return one.at < wanted; });
        return static_cast<std::size_t>(found - labels_.begin());
    }
    [[nodiscard]] std::uint64_t* set_at(std::size_t label) {
        return sets_.data() + (label - first_label_) * words_;
    }
    /// What is read from a target on. From one outside of the part, nothing is, unless a loop comes
    /// back from there.
    [[nodiscard]] const std::uint64_t* set_of(std::size_t target) {
        if (part_.contains(target)) return set_at(label_from(target));
        return target <= part_.end_of_loops ? around_.data() : nowhere_.data();
    }
    /// What comes back from the loops around the part begins it, or jumps into it.
    void meet_around() {
        if (part_.end_of_loops == 0) return;
        bool more = add(around_.data(), live_.data());
        for (std::size_t i = first_label_; i < end_label_; ++i) {
            const bool from_outside =
                labels_[i].first_from < part_.first || labels_[i].last_from > part_.last;
            if (from_outside) more = add(around_.data(), set_at(i)) || more;
        }
        if (more) grew_ = true;
    }

    /// What is read where a loop begins is read later everywhere inside it: known at once to the
    /// loops inside, it need not go round each of them.
    void enter_loops() {
        std::vector<std::size_t> around;
        for (std::size_t i = first_label_; i < end_label_; ++i) {
            if (!labels_[i].is_loop()) continue;
            while (!around.empty() && labels_[around.back()].last_from < labels_[i].at)
                around.pop_back();
            if (!around.empty()) add(set_at(i), set_at(around.back()));
            around.push_back(i);
        }
    }

    /// From the end of the code to its beginning.
    [[nodiscard]] std::optional<error> walk() {
        grew_ = false;
        found_.clear();
        live_ = around_;
        guards_.clear();
        std::size_t open = 0;            // handlers that were met
        std::size_t before = end_label_; // labels that were not
        const auto end = std::upper_bound(starts_.begin(), starts_.end(), part_.last);
        for (auto k = static_cast<std::size_t>(end - starts_.begin());
             k-- > 0 && starts_[k] >= part_.first;) {
            if (work_ && k % portion == portion - 1) {
                if (auto stop = work_->add(portion / 8)) return stop;
            }
            const std::size_t at = starts_[k];
            const std::size_t next = at + words_of(at);
            while (!guards_.empty() && guards_.back().begin >= next) guards_.pop_back();
            for (; open < handlers_.size() && handlers_[open].end > at; ++open) {
                if (handlers_[open].begin <= at) push(handlers_[open]);
            }
            step(at);
            if (before != first_label_ && labels_[before - 1].at == at) meet(--before);
        }
        meet_around();
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
        const bool more = add(set_at(index), live_.data());
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
    std::vector<part> parts_;               ///< by group of registers; empty: there is one group
    std::optional<std::size_t> last_moved_; ///< the last register that is worth a look
    std::size_t begin_ = 0;                 ///< the first register that is looked at
    std::size_t words_ = 0;                 ///< of a set
    part part_;                             ///< that is looked at, and its labels
    std::size_t first_label_ = 0;
    std::size_t end_label_ = 0;
    std::vector<std::uint64_t> sets_; ///< of these labels
    set nowhere_;                     ///< of targets from which no loop comes back
    set around_; ///< in the loops around the part: what its registers begin with
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

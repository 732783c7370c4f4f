// The order and the records of a durable evaluation.
#pragma once

#include "durable_step.hpp"
#include "last_arrivals.hpp"
#include "recorded_functions.hpp"
#include "step_ways.hpp"

#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/host/step_log.hpp>
#include <heddle/lang/branch_group.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace heddle::host {

/// Makes an evaluation repeatable. What comes from outside — answers, deadlines that end a wait —
/// is recorded when it arrives and takes effect in the order of the records, one at a time, each
/// when no branch of the row can run, or, beside one that computes for long, after a number of
/// slices that is recorded: so the records determine all that the row does, every race and every
/// assignment included (a monitor; Hoare 1974). Executed again, the row gets what is
/// recorded, in that order, and asks the world only for the rest. Threads: the session's only.
class durable_row {
public:
    durable_row(step_log& log, coro::event_loop& loop);
    durable_row(const durable_row&) = delete;
    durable_row& operator=(const durable_row&) = delete;

    /// A branch that is driven, as far as this is concerned.
    struct branch_wait {
        coro::wait_point& woken; ///< notified when the wait is over
        bool waits = false;      ///< parked: for a permit, a future, branches
        bool cut = false;        ///< the wait was ended by its deadline
        ports::digest128 path{}; ///< of that wait, if it has a deadline
        bool overdue = false;    ///< its deadline has passed, and `place` is its own in overdue_
        std::list<branch_wait*>::iterator place{};
    };

    // Names of steps.

    [[nodiscard]] step_ways& ways() noexcept { return ways_; }

    // The clock: seconds, which pass from record to record.

    [[nodiscard]] double now() const noexcept { return clock_; }
    /// The same, where a time begins that limits something: what was computed before is not part of
    /// it, nor is what other rows have computed. Recorded where that was long.
    [[nodiscard]] double begin_time() noexcept;
    /// When the clock of the machine will be as late as `at` of the row's.
    [[nodiscard]] coro::deadline real_time(double at) const;
    /// A branch is about to run: functions that were cut here are cut.
    void slice_begins() noexcept {
        if (!slice_cuts_.empty()) cut_recorded_functions();
    }
    /// A slice is over. `bounded`: by a deadline, for which the clock advances although nothing
    /// arrives. `idle`: the branch waits for what computes elsewhere. `computes`: it goes on.
    void slice_ended(bool idle, bool bounded, bool computes);

    /// Whether the branch that is about to run waits until all that can run have come as far, for
    /// something takes effect between two slices. `computes`: it has used up its last slice.
    [[nodiscard]] bool gathers(bool computes) noexcept;
    [[nodiscard]] coro::task<void> gather();

    // Branches that can run.

    void branch_runs() noexcept { ++running_; }
    void branch_waits() noexcept {
        if (--running_ == 0) busy_since_.reset();
        if (running_ == 0 || !gathered_.empty()) go_on();
    }
    /// Waits until wake() or, in its turn, the deadline. timed_out: that was the deadline.
    [[nodiscard]] coro::task<coro::wake> park(branch_wait& self, coro::deadline until);
    void wake(branch_wait& self) noexcept;

    // Effects.

    /// The answer that is recorded for a step, or null. Valid until its turn. `content`: of what
    /// it asks; zero matches everything. Errors: the record is of a step that asked for something
    /// else.
    [[nodiscard]] result<const ports::step_record*> recorded(const ports::digest128& path,
                                                             std::string_view name,
                                                             const ports::digest128& content);
    /// The world is asked for something: its branch waits, and others may run.
    void begin_step(const ports::digest128& path) {
        steps_.insert(path);
        begin_work();
    }
    void end_step(const ports::digest128& path) noexcept {
        steps_.erase(path);
        end_work();
    }
    /// A part of a step is at work again, or waits for its turn.
    void begin_work() noexcept { ++at_work_; }
    void end_work() noexcept { --at_work_; }
    /// So many more parts of effects are under way. What waits for a function of the program that
    /// runs inside of it is not: that function is.
    void note_work(int more) noexcept {
        at_work_ += more;
        if (more < 0) go_on();
    }
    /// Waits for the turn of a step whose record exists. Errors: see broken().
    [[nodiscard]] coro::task<result<void>> replay_turn(const ports::digest128& path);
    /// Records what has arrived, and waits for its turn; `durable`: until it is kept as well.
    /// Errors: io_error, of the log.
    [[nodiscard]] coro::task<result<void>> record_turn(ports::step_record record, bool durable);
    /// Keeps a part of a step that is under way. Returns once that is durable, if `durable`, and
    /// for one of parts side by side in its turn, unless that is cancelled. Errors: io_error, of
    /// the log.
    [[nodiscard]] coro::task<result<void>> keep_part(ports::step_record record, bool durable,
                                                     coro::call_context context);
    /// What the row may still need to come to what is recorded; zero: it has come there.
    [[nodiscard]] coro::clock::duration time_to_catch_up() const noexcept;
    [[nodiscard]] step_log& log() noexcept { return log_; }

    /// Whether nothing is performed that is not recorded.
    [[nodiscard]] bool only_replays() const noexcept { return replay_ != nullptr; }
    [[nodiscard]] bool is_recorded(const ports::digest128& path) const {
        return by_path_.contains(path);
    }
    /// Whether an earlier execution has kept parts of the step.
    [[nodiscard]] bool has_parts(const ports::digest128& path) const {
        return parts_.contains(path);
    }
    /// only_replays(): waits for the end of the evaluation, in place of what is not recorded.
    /// `runs`: its branch counts as one that can run.
    [[nodiscard]] coro::task<void> withhold(std::string name, bool runs);

    /// See step_memory::park.
    [[nodiscard]] coro::task<void> park_step(coro::call_context context);

    [[nodiscard]] const recorded_functions& functions() const noexcept { return functions_; }
    /// The step has ended, cancelled: further beginnings that are recorded of functions inside of
    /// it came too late and had no effect.
    void forget_functions(const ports::digest128& step);
    /// A function of the program that runs inside of a step.
    class running_function {
    public:
        /// As the end of the time of what called it.
        virtual void cut() noexcept = 0;

    protected:
        ~running_function() = default;
    };
    /// `path`: of the function, which begins later, or has begun and is cut where that is recorded,
    /// until end_function().
    void expect_function(const ports::digest128& path) { running_functions_[path] = nullptr; }
    void begin_function(const ports::digest128& path, running_function& function) noexcept {
        const auto expected = running_functions_.find(path);
        if (expected != running_functions_.end()) expected->second = &function;
    }
    void end_function(const ports::digest128& path) noexcept;
    /// It has ended, and what called it is at work again. Beside other parts, what follows from
    /// that is to have followed before anything else takes effect.
    void function_ended(bool of_part) noexcept {
        begin_work();
        if (of_part && !closed_) settle();
    }
    /// The time of what called the function is over: it is cut when nothing else has arrived, or
    /// at once while branches run, for it may be one that computes. Result: it has to come to what
    /// is recorded first, and gets that much time for it; `is_later`: it had that already.
    [[nodiscard]] std::optional<coro::clock::duration> cut_function(const ports::digest128& path,
                                                                    bool is_later) noexcept;
    /// The function had its turn, but was cancelled by then.
    void note_not_begun(const ports::digest128& path) noexcept;
    /// The same, in an earlier execution.
    [[nodiscard]] bool never_began(const ports::digest128& path) const {
        return never_began_.contains(path);
    }
    /// It begins now: the step continues, or runs again.
    void note_begun_later(const ports::digest128& path) noexcept;
    /// A part of the step has come to what an earlier execution did not come to. Waits until no
    /// record can take effect while it waits. Cancellation: returns.
    [[nodiscard]] coro::task<void> wait_beside(ports::digest128 step, coro::call_context context);

    /// A part of a step that waits for its turn is not at work: if no other one is either, and the
    /// records want something else first, they are not those of this program.
    class waiting_part {
    public:
        explicit waiting_part(durable_row& row) noexcept : row_(row) { row_.end_work(); }
        waiting_part(const waiting_part&) = delete;
        waiting_part& operator=(const waiting_part&) = delete;
        ~waiting_part() { row_.begin_work(); }

    private:
        durable_row& row_;
    };

    /// What is asked of the parts of a step. `part`: of those side by side; zero: of none.
    struct asked_part {
        ports::digest128 step;
        ports::digest128 part;
        ports::digest128 content;
        bool is_of_ended_step = false; ///< for which no spare is used any more
    };
    /// What an earlier execution of the step kept of its parts, in its turn; else a spare of the
    /// row. Cancellation: returns early.
    [[nodiscard]] coro::task<std::optional<ports::kept_part>> take_part(asked_part asked,
                                                                        coro::call_context context);

    /// The evaluation is being ended from outside. Nothing waits for a turn any more, and what
    /// ends because of that is not recorded.
    void close() noexcept;
    [[nodiscard]] bool closed() const noexcept { return closed_; }
    /// The records are not those of this program: they ask for a step that it does not make.
    [[nodiscard]] const std::optional<error>& broken() const noexcept { return broken_; }
    /// Called once broken() has its value.
    std::function<void()> on_broken;

private:
    /// What has arrived and waits for its turn. Lives in the coroutine that waits.
    struct arrival {
        explicit arrival(durable_row& row) noexcept : owner(row) {}
        arrival(const arrival&) = delete;
        arrival& operator=(const arrival&) = delete;
        ~arrival() {
            owner.leave(*this);
            if (granted && !taken) owner.branch_waits(); // there was no memory to wait
        }

        durable_row& owner;
        ports::digest128 path{};
        double at = 0;
        bool ready = false;   ///< it may have its turn when it is the first
        bool waits = false;   ///< it is in arrivals_, at `place`
        bool is_part = false; ///< of a step: not at work until its turn
        bool granted = false; ///< it counts as a branch that can run
        bool taken = false;   ///< and that branch goes on
        coro::wait_point turn;
        std::list<arrival*>::iterator place{};
        std::optional<std::multimap<ports::digest128, arrival*>::iterator> by_path;
    };
    /// A response that no step of this version of the program has used yet.
    struct spare {
        ports::digest128 path;    ///< of the step that it was given to
        std::uint64_t number = 0; ///< of its record
        ports::kept_part part;
    };
    [[nodiscard]] std::optional<ports::kept_part> spare_for(const asked_part& asked);
    [[nodiscard]] std::optional<ports::kept_part> take_spare(const ports::digest128& step,
                                                             const ports::digest128& content);
    [[nodiscard]] bool replays() const noexcept { return next_ < earlier_.size(); }
    void drop_late_beginnings();
    void number_by_path();
    [[nodiscard]] bool release_part(const ports::digest128& next) noexcept;
    /// Time does not pass until all that is recorded has been repeated.
    [[nodiscard]] bool time_stands_still() const noexcept {
        return !goes_beyond_ && (replays() || !clocks_.empty() || !slice_cuts_.empty() ||
                                 !between_.empty() || !beginnings_.empty());
    }
    [[nodiscard]] double real_clock() const;
    [[nodiscard]] double time_now() const { return std::max(clock_, real_clock()); }
    void begin_clock() noexcept { began_ = loop_.now(); }
    void advance_clock();
    void note_computing();
    void took_effect(const ports::digest128& path) noexcept;
    void go_on() noexcept;
    void arrive(arrival& self);
    void leave(arrival& self) noexcept;
    void grant(arrival& first, double at) noexcept;
    void cut(branch_wait& waiting, double at) noexcept;
    /// Result: when.
    double note_cut(ports::step_record record);
    double note_function_cut(const ports::digest128& path, const ports::digest128& function,
                             double at, const ports::digest128& after = {});
    [[nodiscard]] bool cut_next_function() noexcept;
    void cut_recorded_functions() noexcept;
    [[nodiscard]] bool has_taken_effect(const ports::digest128& path) const;
    [[nodiscard]] bool has_slice_cut(const ports::digest128& function) const noexcept;
    void forget_slice_cuts() noexcept;
    [[nodiscard]] bool read_beginning(const ports::step_record& record);
    enum class repeats : std::uint8_t { at_rest, between_slices };
    [[nodiscard]] bool replay_next(repeats when = repeats::at_rest) noexcept;
    [[nodiscard]] bool cut_next() noexcept;
    void end_beginning() noexcept;
    void end_gathering() noexcept;
    void take_effect_between() noexcept;
    [[nodiscard]] bool repeat_between() noexcept;
    [[nodiscard]] std::size_t next_with_effect() const noexcept;
    void pass_rest_without_effect() noexcept;
    [[nodiscard]] std::optional<std::size_t> next_between() const noexcept;
    void go_on_between() noexcept;
    [[nodiscard]] std::size_t first_of_arrivals() const;
    void forget_between() noexcept;
    void fail(std::string what) noexcept;
    void end_of_records() noexcept;
    void end_parked() noexcept;

    /// A step that is not performed.
    struct withheld_step {
        std::string name;
        coro::wait_point turn;
    };

    /// Where the row knows of a step that waits for its end, or for another process.
    template <class Step>
    class listed_step {
    public:
        listed_step(durable_row& row, std::list<Step*>& in, Step& step)
            : row_(row), in_(in), place_(in.insert(in.end(), &step)) {}
        listed_step(const listed_step&) = delete;
        listed_step& operator=(const listed_step&) = delete;
        ~listed_step() {
            if (!row_.closed_) in_.erase(place_); // else the list is gone
        }

    private:
        durable_row& row_;
        std::list<Step*>& in_;
        typename std::list<Step*>::iterator place_;
    };

    step_log& log_;
    step_replay* const replay_; ///< of the log, or null
    coro::event_loop& loop_;
    std::vector<ports::step_record> earlier_; ///< that take effect in this order
    std::vector<bool> is_void_;               ///< of earlier_: it has had no effect
    last_arrivals arrived_last_;              ///< of earlier_
    std::size_t first_of_arrivals_ = 0;       ///< from there on earlier_ has only those, and parts
    std::size_t next_ = 0;                    ///< of them
    std::map<ports::digest128, std::size_t> by_path_; ///< of earlier_
    recorded_functions functions_;                    ///< of earlier_
    std::map<ports::digest128, running_function*> running_functions_;
    std::list<ports::digest128> overdue_functions_; ///< their time is over
    std::set<ports::digest128> never_began_;
    /// Of functions, in their order: where branches ran, by the number of slices.
    std::deque<ports::step_record> slice_cuts_;
    ports::digest128 last_effect_{}; ///< the path of the record that took effect last
    /// By the number of slices: where the clock advanced, or how long a branch has computed.
    std::deque<ports::step_record> clocks_;
    std::deque<ports::step_record> between_;    ///< what took effect between slices
    std::deque<ports::step_record> beginnings_; ///< of times
    struct recorded_part {
        static constexpr std::size_t no_place = SIZE_MAX;
        ports::kept_part kept;
        ports::digest128 of;
        std::size_t at = no_place; ///< of earlier_; no_place: it takes effect at any time
    };
    void take_parts();
    void grant_part(bool runs_beside_others) noexcept;
    void settle() noexcept;
    /// Of steps, by their content.
    std::map<ports::digest128, std::multimap<ports::digest128, recorded_part>> parts_;
    /// A part that is not at work until its turn. Lives in the coroutine that waits.
    struct part_turn {
        part_turn(durable_row& row, std::size_t at)
            : owner(row), place(row.part_turns_.emplace(at, this)) {
            --owner.at_work_;
        }
        part_turn(const part_turn&) = delete;
        part_turn& operator=(const part_turn&) = delete;
        ~part_turn() { end_wait(); }
        void end_wait() noexcept {
            if (!std::exchange(waits, false)) return;
            owner.part_turns_.erase(place);
            ++owner.at_work_;
        }

        durable_row& owner;
        std::multimap<std::size_t, part_turn*>::iterator place;
        bool waits = true;
        coro::wait_point granted;
    };
    std::multimap<std::size_t, part_turn*> part_turns_; ///< by their place in earlier_
    void pass_rounds(int left, std::uint64_t of) noexcept;
    class settle_timer final : public coro::timer_node {
    public:
        explicit settle_timer(durable_row& row) noexcept : row_(row) {}

    private:
        void on_timer() noexcept override;
        durable_row& row_;
    };
    settle_timer settles_{*this};
    std::shared_ptr<bool> lives_ = std::make_shared<bool>(true); ///< for what is posted
    bool settling_ = false; ///< what follows from the last part may not have followed yet
    bool has_settled_ = false;
    std::uint64_t settlings_ = 0; ///< begun
    [[nodiscard]] bool is_at_rest() noexcept;
    using spares = std::multimap<ports::digest128, spare>;
    spares spares_; ///< by the content of the request
    /// By that and the step, in the same order.
    std::multimap<std::pair<ports::digest128, ports::digest128>, spares::iterator> spares_of_steps_;
    std::list<arrival*> arrivals_;
    std::list<withheld_step*> withheld_;
    /// A step whose time comes with another process.
    struct parked_step {
        coro::wait_point ended;
        coro::call_context context;
    };
    /// Whether there are some, and none of them is about to end: the loser of a race, for one.
    [[nodiscard]] bool only_parked() const noexcept;
    std::list<parked_step*> parked_steps_;
    /// See wait_beside().
    struct idle_part {
        idle_part(durable_row& row, const ports::digest128& of, coro::call_context around)
            : owner(row), step(of), context(around),
              place(row.idle_parts_.insert(row.idle_parts_.end(), this)) {
            --owner.at_work_;
        }
        idle_part(const idle_part&) = delete;
        idle_part& operator=(const idle_part&) = delete;
        ~idle_part() { end_wait(); }
        void end_wait() noexcept {
            if (!std::exchange(waits, false)) return;
            owner.idle_parts_.erase(place);
            ++owner.at_work_;
        }

        durable_row& owner;
        const ports::digest128 step;
        const coro::call_context context;
        std::list<idle_part*>::iterator place;
        bool waits = true;
        coro::wait_point released;
    };
    std::list<idle_part*> idle_parts_;
    /// Of parts side by side that are being kept: those that are cancelled end before anything else
    /// takes effect.
    class kept_part_now;
    std::list<const coro::call_context*> kept_now_;
    [[nodiscard]] bool keeps_cancelled_parts() const noexcept;
    /// A branch that waits until all others that can run have come as far.
    struct gathered_branch {
        explicit gathered_branch(std::list<gathered_branch*>& all)
            : in(all), place(all.insert(all.end(), this)) {}
        gathered_branch(const gathered_branch&) = delete;
        gathered_branch& operator=(const gathered_branch&) = delete;
        ~gathered_branch() { leave(); }
        void leave() noexcept {
            if (std::exchange(waits, false)) in.erase(place);
        }

        std::list<gathered_branch*>& in;
        std::list<gathered_branch*>::iterator place;
        bool waits = true;
        bool goes_on = false;
        coro::wait_point released;
    };
    std::list<gathered_branch*> gathered_;
    std::uint64_t last_gathering_ = 0; ///< how many slices had ended
    std::uint64_t gathered_last_ = 0;  ///< branches then
    /// Since when branches compute although something has arrived.
    std::optional<coro::clock::time_point> busy_since_;
    std::list<branch_wait*> overdue_; ///< waits whose deadline has passed
    // Of those that began while there were records of earlier executions: tens of thousands may
    // be there at a time, and the records have them in another order.
    std::multimap<ports::digest128, arrival*> arrivals_by_path_;
    std::map<ports::digest128, branch_wait*> bounded_waits_;
    step_ways ways_;
    double clock_ = 0;
    double clock_at_begin_ = 0;     ///< of the last record of the earlier executions
    coro::clock::time_point began_; ///< when the clock was at clock_at_begin_
    std::optional<coro::clock::time_point> beyond_since_;
    bool goes_beyond_ = false; ///< a branch has computed longer than is recorded
    std::uint64_t slices_ = 0;
    std::uint64_t begun_times_ = 0; ///< since the last one has ended
    std::uint64_t computed_ = 0;    ///< the last one of a branch that computes and has a deadline
    double computed_at_ = 0;        ///< the clock then
    std::uint64_t noted_ = 0;       ///< the last one of which a record was made
    std::size_t running_ = 0;       ///< branches that can run
    std::size_t waits_ = 0;         ///< branches that are parked
    std::ptrdiff_t at_work_ = 0;    ///< parts of effects under way
    std::set<ports::digest128> steps_; ///< effects under way
    bool closed_ = false;
    std::optional<error> broken_;
};

} // namespace heddle::host

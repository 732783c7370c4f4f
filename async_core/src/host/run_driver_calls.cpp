// How the work of a host calls a function of the program.
#include "nested_call.hpp"
#include "nested_name.hpp"
#include "run_driver.hpp"

#include <heddle/lang/call_site.hpp>
#include <heddle/lang/errors.hpp>

#include <exception>
#include <new>
#include <utility>

namespace heddle::host {

namespace {

/// Waits for a fiber that there was no memory for.
constexpr unsigned max_refusals = 1000;

/// What has had its turn counts as a branch that can run, until it waits or is given up.
class granted_turn {
public:
    explicit granted_turn(durable_row& row) noexcept : row_(row) {}
    granted_turn(const granted_turn&) = delete;
    granted_turn& operator=(const granted_turn&) = delete;
    ~granted_turn() { row_.branch_waits(); }

private:
    durable_row& row_;
};

} // namespace

coro::task<result<lang::value>> run_driver::call_within(lang::value callee,
                                                        std::vector<lang::value> arguments,
                                                        lang::scope_ref scope,
                                                        coro::call_context context,
                                                        bool in_sandbox) {
    if (auto stop = context.stop_error()) co_return *std::move(stop);
    auto* const worker = row_ ? static_cast<step_worker*>(context.step) : nullptr;
    if (worker && worker->is_over()) {
        error stop = co_await worker->refused(context);
        co_return stop;
    }
    if (scope->call_depth >= session::max_nested) {
        co_return error(lang::errc::limit, "tools call each other more than " +
                                               std::to_string(session::max_nested) +
                                               " levels deep");
    }
    // The deadlines of the run and of the scope end the caller too.
    const auto around = options_.until.earlier(deadline_at(scope->deadline));
    if (context.until < around) scope = lang::with_call_ended_alone(session_.realm(), scope);
    scope = scope.open(session_.memory(), [&](lang::dynamic_scope& inner) {
        ++inner.call_depth;
        if (!in_sandbox) inner.sandbox = {}; // its limits stay: code inside chooses the inputs
    });
    // A function of the program that receives a stream has permits of its own: what has one of the
    // caller's scope may wait for what the stream holds of a budget, while the stream waits for the
    // function. So has a call whose caller is unknown.
    const auto called_by = scope->called_by;
    const bool is_known = called_by && called_by->depth + 1 == scope->call_depth;
    lang::fiber* const caller = is_known && !in_sandbox ? called_by->caller : nullptr;
    if (!caller) scope = lang::with_concurrency(session_.realm(), scope, options_.concurrency);
    auto fiber =
        lang::start_fiber(session_.realm(), std::move(callee), arguments, std::move(scope));
    arguments.clear();
    std::optional<nested_name> named;
    std::optional<granted_turn> granted;
    if (worker) {
        named.emplace(*row_, lang::place_of(*fiber).slot, *worker);
        const result<void> begun = co_await named->turn();
        granted.emplace(*row_);
        if (!begun) lose(begun.error());
        // A step that runs again after a failure may let it begin.
        if (row_->never_began(named->path()) && worker->is_repeated()) {
            granted.reset();
            co_await row_->wait_beside(worker->whole().path(), context);
            co_return error::cancelled(context.cancelled() ? context.cancel->reason()
                                                           : cancel_reason::user);
        }
        row_->note_begun_later(named->path());
        // It was cancelled by what took effect before its turn.
        if (context.cancelled()) {
            row_->note_not_begun(named->path());
            granted.reset();
            co_return error::cancelled(context.cancel->reason());
        }
    }
    const std::uint32_t number = lang::place_of(*fiber).slot;
    if (ways_) ways_->note_fiber(number, ways_->path_of_part(++parts_));
    nested_call call(*fiber, named ? &*named : nullptr, loop_);
    if (context.cancel) context.cancel->hook(call);
    if (!context.until.is_never()) loop_.schedule(call, context.until.at());
    if (caller) lang::machine::lend_permit(*caller, *fiber);
    begin_branch(std::move(fiber), &call);
    if (named) {
        row_->end_work(); // what works for the step now is the fiber
        granted.reset();
    }
    for (unsigned refused = 0; call.lives();) {
        try {
            co_await call.ended().wait(coro::call_context{&loop_, nullptr, {}});
        } catch (const std::bad_alloc&) { // its fiber has the address of `call`
            if (++refused == max_refusals) std::terminate();
        }
    }
    if (ways_) ways_->forget_fiber(number);
    co_return call.take();
}

} // namespace heddle::host

#include "tasks/run/model_call.hpp"

#include "tasks/run/remembering_port.hpp"
#include "tasks/run/task_runner.hpp"

#include <utility>

namespace heddle::tasks {

using coro::call_context;
using coro::task;

model_call::model_call(task_runner& runner, const task_call& call, const call_choices& choices,
                       const task_time& time, task_session& session, ports::chat_request& request)
    : observer_(runner.observer()), task_(call.task->declared.name), choices_(choices), time_(time),
      memory_(runner.session().memory()), request_(request),
      costs_(call.task->declared.name,
             {&call.scope->counted, runner.session_budget(), &runner.costs(),
              runner.parts().costs.get(), runner.observer()},
             session, request),
      stream_(runner, call) {}

bool model_call::must_reserve() {
    if (!costs_.must_reserve() || is_repeated_) return false;
    if (!search_.may_look_first(request_, *choices_.provider()) || !costs_.would_wait())
        return true;
    search_.look_first(request_);
    return false;
}

std::optional<spent_budget> model_call::ask_cache_instead(spent_budget over) {
    if (!cache_search::is_possible(request_, *choices_.provider())) return over;
    search_.look_instead(request_, std::move(over));
    return std::nullopt;
}

std::optional<spent_budget> model_call::spent_after(const result<ports::chat_response>& response) {
    std::optional<spent_budget> refused = std::exchange(refused_by_, std::nullopt);
    if (!refused) return search_.found_nothing_instead(request_, response);
    if (response || response.error().is_cancelled()) return std::nullopt;
    costs_.request_ended(response);
    return refused;
}

coro::task<result<ports::chat_response>> model_call::ask(coro::call_context context) {
    refusal_.clear();
    auto& scheduling = request_.scheduling;
    if (!scheduling.one_at_a_time)
        scheduling.one_at_a_time =
            !costs_.reserve_beside(choices_.provider()->max_requests_at_once());
    request_.waits = observer_ ? this : nullptr;
    request_.sends = context.step || costs_.is_bounded() ? this : nullptr;
    request_.origin = {task_, observer_ ? observer_->work() : std::string_view()};
    if (context.step) return ask_once(context);
    ports::llm_port& provider = *choices_.provider();
    if (stream_.is_open()) return stream_.ask(provider, request_, costs_, context);
    return provider.complete(request_, context);
}

void model_call::on_limit_wait(bool waits) noexcept { observer_->on_limit_wait(waits); }

/// In a durable run: a response that an earlier execution was given is used again.
coro::task<result<ports::chat_response>> model_call::ask_once(coro::call_context context) {
    remembering_port provider(*choices_.provider(), choices_.provider_settings(), *context.step,
                              costs_, refusal_, time_, memory_);
    remembered_ = &provider;
    result<ports::chat_response> ended = ports::begun_response();
    if (stream_.is_open()) {
        result<ports::chat_response> streamed =
            co_await stream_.ask(provider, request_, costs_, context);
        ended = std::move(streamed);
    } else {
        result<ports::chat_response> whole = co_await provider.complete(request_, context);
        ended = std::move(whole);
    }
    remembered_ = nullptr;
    paid_earlier_ = provider.was_paid_earlier();
    co_return ended;
}

// The loop of the provider asks before each request: what earlier ones of the call have cost counts
// in the limits of the task and in its budgets, and a durable run notes what is on its way.
task<result<ports::send_terms>> model_call::before_sending(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
    const ports::chat_request& /*request*/, const std::vector<ports::lost_request>& lost,
    call_context context) {
    ports::send_terms terms;
    if (lost.empty()) {
        refused_by_ = costs_.refuses_request();
        if (refused_by_) {
            if (remembered_) remembered_->note_disallowed();
            co_return error(errc::limit_exceeded, refused_by_->message).with_attempts(0);
        }
    } else {
        if (auto over = costs_.over_budget(lost)) {
            if (remembered_) remembered_->note_refused();
            co_return refusal_.note(*std::move(over));
        }
        if (auto over = costs_.allow_again(lost, terms)) co_return refusal_.note(*std::move(over));
    }
    if (remembered_) {
        result<void> noted = co_await remembered_->note_sent(costs_.if_lost(), context);
        if (!noted) {
            remembered_->note_disallowed();
            co_return std::move(noted).error();
        }
    }
    co_return terms;
}

void model_call::on_unpaid() noexcept {
    if (!remembered_) return;
    try {
        remembered_->note_unpaid();
    } catch (...) {
        // No memory: the request counts as one that may have been paid for.
    }
}

} // namespace heddle::tasks

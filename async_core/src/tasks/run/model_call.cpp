#include "tasks/run/model_call.hpp"

#include "tasks/run/task_runner.hpp"

#include <utility>

namespace heddle::tasks {

model_call::model_call(task_runner& runner, const task_call& call, const call_choices& choices,
                       task_session& session, ports::chat_request& request)
    : observer_(runner.parts().observer), choices_(choices), request_(request), costs_(call.task->declared.name,
                                                   {&call.scope->counted, runner.session_budget(),
                                                    &runner.costs(), runner.parts().observer},
                                                   session, request),
      stream_(runner, call) {}

bool model_call::must_reserve() {
    if (!costs_.spends()) return false;
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

coro::task<result<ports::chat_response>> model_call::ask(coro::call_context context) {
    ports::llm_port& provider = *choices_.provider();
    request_.waits = observer_ ? this : nullptr;
    if (stream_.is_open()) return stream_.ask(provider, request_, costs_, context);
    return provider.complete(request_, context);
}

void model_call::on_limit_wait(bool waits) noexcept { observer_->on_limit_wait(waits); }

} // namespace heddle::tasks

#include "tasks/run/task_runner.hpp"

#include "tasks/run/task_execution.hpp"

#include <heddle/lang/sandbox_policy.hpp>

#include <utility>

namespace heddle::tasks {

namespace {

[[nodiscard]] const std::shared_ptr<conversation>& said_in(
    lang::realm& realm, std::unique_ptr<lang::extent_ledger>& ledger) {
    if (!ledger) ledger = std::make_unique<extent_conversation>(realm);
    return static_cast<const extent_conversation&>(*ledger).said;
}

} // namespace

coro::task<result<lang::value>> task_runner::run(task_call&& call) {
    return task_execution::run(*this, std::move(call));
}

std::shared_ptr<conversation> task_runner::conversation_of(const task_call& call,
                                                           const call_settings& settings) {
    // Tools that are written in the language run beside the workflow, in a scope that records it.
    if (settings.no_conversation || !call.place || call.chain || call.scope->call_depth != 0) {
        return nullptr;
    }
    // A sandbox has separate conversations: turns outside are not visible inside, and vice versa.
    conversation_root root;
    const auto* sandbox = call.scope->sandbox.get();
    if (sandbox) root.sandbox = sandbox->own().as_value();
    if (settings.conversation) {
        root.said = said_in(of_.session.realm(), settings.conversation->ledger);
        root.opened = settings.conversation->opened();
    } else if (sandbox) {
        root.said = said_in(of_.session.realm(), sandbox->own()->ledger);
    } else {
        if (!said_) said_ = std::make_shared<conversation>(of_.session.realm());
        root.said = said_;
    }
    return conversation_at(of_.session.realm(), root, *call.place);
}

void task_runner::make_results() {
    if (family_->prototypes) results_.emplace(of_.session.memory(), family_->prototypes);
    else results_.emplace(of_.session.memory());
}

void task_runner::prepare_to_share() {
    if (family_->prototypes) return;
    family_->prototypes = std::make_shared<const result_prototypes>(of_.session.memory());
}

void task_runner::warn_once(const std::string& message) {
    log_port& log = of_.session.engine().log();
    constexpr std::size_t max_warned = 1000; // a file may be missing for each of a million rows
    if (!log.enabled(log_level::warn)) return;
    std::set<std::string, std::less<>>& warned = family_->warned;
    if (warned.size() == max_warned) warned.clear();
    if (!warned.insert(message).second) return;
    log.write(log_level::warn, "tasks", message);
}

} // namespace heddle::tasks

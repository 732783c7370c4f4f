// The outside of a conformance case: tasks and tools that give prepared replies.
#pragma once

#include <heddle/coro/event_loop.hpp>
#include <heddle/host/session.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <boost/json/object.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace heddle::conformance {

/// One call that a case made to its outside.
struct recorded_call {
    std::string kind;
    std::string name;
    lang::value inputs; ///< map; of a memory call the request
    lang::value files;
    lang::value context;
    std::string prompt;
    std::string system;
    std::string model;
};

/// The replies of one task or tool, in turn, the last one again and again.
class reply_list {
public:
    void set(const boost::json::array& replies);
    /// Null when there are none.
    [[nodiscard]] const boost::json::object* next();

private:
    std::vector<boost::json::object> replies_;
    std::size_t at_ = 0;
};

/// The model behind the real task system: returns what the case prepared for the task being called.
class stub_llm final : public ports::llm_port {
public:
    [[nodiscard]] std::string_view provider_name() const noexcept override { return "stub"; }
    [[nodiscard]] coro::task<result<ports::chat_response>> complete(
        const ports::chat_request& request, coro::call_context context) override;
    [[nodiscard]] coro::task<result<ports::chat_response>> stream(
        const ports::chat_request& request, ports::chat_delta_sink on_delta,
        coro::call_context context) override;

    std::string next_text; ///< set right before the call
    recorded_call next_call;
    std::vector<recorded_call>* record = nullptr;
};

/// The memory: returns the responses of a case in turn.
class stub_memory final : public ports::memory_port {
public:
    explicit stub_memory(const boost::json::object& one_case);
    [[nodiscard]] coro::task<result<ports::memory_response>> relevant_files(
        ports::memory_request request, coro::call_context context) override;

    std::vector<recorded_call>* record = nullptr;
    lang::heap* heap = nullptr;

private:
    reply_list responses_;
};

/// The task system with replies of a case in place of failures and tools.
class stub_harness final : public tasks::session_tasks {
public:
    stub_harness(host::session& session, tasks::task_system_parts parts, stub_llm& llm,
                 stub_memory& memory, const boost::json::object& one_case);

    [[nodiscard]] std::optional<lang::operator_info> find(lang::heap& memory,
                                                          std::string_view name) const override;
    [[nodiscard]] std::optional<lang::operator_info> describe(
        const lang::host_object& callable) const override;
    [[nodiscard]] coro::task<result<lang::value>> call(host::effect_call call) override;

    std::vector<recorded_call> record;
    std::string trouble; ///< what in the case could not be set up

protected:
    [[nodiscard]] coro::task<result<lang::value>> execute(tasks::task_call call) override;

private:
    void add_tasks(const boost::json::array& declared);
    void add_tools(const boost::json::array& declared);
    [[nodiscard]] coro::task<result<lang::value>> answer(tasks::task_call call);
    [[nodiscard]] result<lang::value> call_tool(std::string name, host::effect_call call);
    [[nodiscard]] lang::value context_value(const tasks::context_management& given);
    /// An error or a FAILED result, or nothing for a reply that is content.
    [[nodiscard]] std::optional<result<lang::value>> failure(const boost::json::object& reply);

    stub_llm& llm_;
    std::map<std::string, reply_list, std::less<>> replies_;
    std::map<std::string, lang::value, std::less<>> tools_;
};

} // namespace heddle::conformance

#include "tasks/run/kept_context.hpp"

#include "tasks/run/kept_outcome.hpp"
#include "tasks/run/part_digest.hpp"

#include <heddle/host/row_history.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/lang/value_codec.hpp>

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace heddle::tasks {

namespace {

using lang::value;
using shared_context = std::shared_ptr<const assembled_context>;

constexpr std::size_t members = 5; // of an assembled_context

/// By all that the context depends on besides files and memory: equal prompts may have different
/// ones.
[[nodiscard]] ports::digest128 digest_of(const context_request& request,
                                         const std::string& prompt) {
    const task_call& call = *request.call;
    part_digest digest("context");
    digest.add(call.task->declared.name);
    digest.add(call.effective_subtype());
    digest.add(prompt);
    digest.add(request.model);
    digest.add(call.inputs);
    if (call.overrides) {
        const context_management& own = call.overrides->context;
        digest.add(call.overrides->files);
        digest.add(own.inherit_context ? std::to_string(static_cast<int>(*own.inherit_context))
                                       : std::string());
        digest.add(own.fresh_context ? (*own.fresh_context ? "fresh" : "none") : "");
    }
    if (request.inherited) digest.add(request.inherited->text);
    return digest.value();
}

[[nodiscard]] value list_of(lang::heap& memory, const std::vector<std::string>& strings) {
    std::vector<value> items;
    for (const std::string& each : strings) items.push_back(lang::make_string(memory, each));
    return lang::make_list(memory, items);
}

/// Nothing: it is not data.
[[nodiscard]] std::optional<std::string> encoded(lang::heap& memory, const shared_context& kept) {
    const assembled_context& context = *kept;
    std::vector<value> parts;
    for (const context_part& each : context.parts) {
        const std::array<value, 2> one{
            lang::make_string(memory, each.path),
            lang::make_string(memory, each.text ? std::string_view(*each.text) : "")};
        parts.push_back(lang::make_list(memory, one));
    }
    const std::array<value, members> all{
        lang::make_string(memory, context.text), lang::make_list(memory, parts),
        list_of(memory, context.left_out), list_of(memory, context.warnings),
        value::integer(static_cast<std::int64_t>(context.source))};
    auto body = lang::encode_value(lang::make_list(memory, all));
    if (!body) return std::nullopt;
    return *std::move(body);
}

[[nodiscard]] std::string text_of(const value& item) {
    return item.is(lang::kind::string) ? std::string(lang::string_bytes(item)) : std::string();
}

[[nodiscard]] std::vector<std::string> strings_in(const value& list) {
    std::vector<std::string> strings;
    if (!list.is(lang::kind::list)) return strings;
    for (const value& each : lang::list_items(list)) strings.push_back(text_of(each));
    return strings;
}

[[nodiscard]] std::optional<result<shared_context>> decoded(lang::heap& memory,
                                                            std::string_view body,
                                                            const task_time& time) {
    const result<value> read = decode_outcome(memory, body, time);
    if (!read) return read.error();
    if (!read->is(lang::kind::list) || read->length() != members)
        return error(errc::io_error, "the recorded context of a task is damaged");
    const auto all = lang::list_items(*read);
    auto context = std::make_shared<assembled_context>();
    context->text = text_of(all[0]);
    if (all[1].is(lang::kind::list)) {
        for (const value& each : lang::list_items(all[1])) {
            const std::vector<std::string> part = strings_in(each);
            if (part.size() != 2) continue;
            context->parts.push_back({part[0], std::make_shared<const std::string>(part[1])});
        }
    }
    context->left_out = strings_in(all[2]);
    context->warnings = strings_in(all[3]);
    const auto last = static_cast<std::int64_t>(context_source::none);
    const std::int64_t source = all[4].is(lang::kind::integer) ? all[4].as_integer() : last;
    context->source =
        source >= 0 && source < last ? static_cast<context_source>(source) : context_source::none;
    return shared_context(std::move(context));
}

} // namespace

coro::task<result<shared_context>> prepare_kept(context_preparer* preparer, const task_time* time,
                                                context_request request, std::string prompt) {
    const coro::call_context context = request.context;
    if (!context.step) {
        result<shared_context> done = co_await preparer->prepare(std::move(request));
        co_return done;
    }
    const task_template& declared = request.call->task->declared;
    const bool runs_command =
        declared.files && declared.files->from == file_paths_source::kind::command;
    part_identity which{digest_of(request, prompt), host::context_of + declared.name, runs_command,
                        &request.session->memory(), time};
    coro::task<result<shared_context>> part = preparer->prepare(std::move(request));
    const outcome_codec<shared_context> codec{&encoded, &decoded};
    result<shared_context> done =
        co_await perform_once(std::move(part), codec, std::move(which), context);
    co_return done;
}

} // namespace heddle::tasks

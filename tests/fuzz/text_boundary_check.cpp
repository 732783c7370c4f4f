#include "text_boundary_check.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/diagnostic.hpp>
#include <heddle/base/json_string.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/builtin.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/layout.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/providers/anthropic/provider.hpp>
#include <heddle/providers/common/ndjson_parser.hpp>
#include <heddle/providers/common/neutral_json.hpp>
#include <heddle/providers/common/sse_parser.hpp>
#include <heddle/providers/gemini/provider.hpp>
#include <heddle/providers/ollama/provider.hpp>
#include <heddle/providers/openai/provider.hpp>
#include <heddle/providers/responses/provider.hpp>
#include <heddle/tasks/output/output_schema.hpp>
#include <heddle/tasks/output/task_error.hpp>
#include <heddle/tasks/prompt/prompt_template.hpp>

#include "tasks/output/json_extraction.hpp"
#include "tasks/tools/process_result_value.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace heddle::fuzzing {

namespace {

template <class Codec>
std::unique_ptr<providers::chat_codec> taken(result<Codec> outcome) {
    return std::move(outcome).value();
}

bool is_slow(std::string_view name) {
    // Their time and memory grow with a number that is given, not with the text.
    return name == "range" || name == "make-list" || name == "string-repeat";
}

} // namespace

/// The bytes that are left.
class text_boundary_check::input {
public:
    explicit input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    std::uint8_t byte() {
        if (bytes_.empty()) return 0;
        const std::uint8_t first = bytes_.front();
        bytes_ = bytes_.subspan(1);
        return first;
    }
    /// A copy of its own size: reading past its end shows under a sanitizer.
    std::vector<char> bytes(std::size_t count) {
        count = std::min(count, bytes_.size());
        const auto* begin = reinterpret_cast<const char*>(bytes_.data());
        std::vector<char> items(begin, begin + count);
        items.shrink_to_fit();
        bytes_ = bytes_.subspan(count);
        return items;
    }
    std::vector<char> rest() { return bytes(bytes_.size()); }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

private:
    std::span<const std::uint8_t> bytes_;
};

namespace {

std::string_view view(const std::vector<char>& bytes) { return {bytes.data(), bytes.size()}; }
std::string copy(const std::vector<char>& bytes) { return {bytes.begin(), bytes.end()}; }

} // namespace

text_boundary_check::text_boundary_check() : memory_(lang::heap::create()) {
    memory_->set_limit(std::size_t{64} * 1024 * 1024);
    codecs_.push_back(taken(providers::make_openai_codec({})));
    codecs_.push_back(taken(providers::make_responses_codec({})));
    codecs_.push_back(taken(providers::make_anthropic_codec({})));
    codecs_.push_back(taken(providers::make_gemini_codec({})));
    codecs_.push_back(taken(providers::make_ollama_codec({})));
    for (const auto& family : lang::builtin_families()) {
        for (const lang::builtin& row : family) {
            if (row.how == lang::builtin_kind::pure && !is_slow(row.name)) {
                builtins_.push_back(&row);
            }
        }
    }
}

void text_boundary_check::text(std::string_view what, std::string_view bytes) {
    if (!problem_.empty() || utf8::is_valid(bytes)) return;
    problem_ = std::string(what) + ": not UTF-8: " + utf8::printable(bytes);
}

void text_boundary_check::failure(std::string_view what, const error& failed) {
    ++errors;
    const std::string name = std::string(what) + ", an error";
    for (const error* each = &failed; each; each = each->info().cause.get()) {
        text(name, each->message());
        text(name, each->info().hint);
        for (const trace_entry& line : each->info().trace) text(name, line.what);
    }
    if (const auto* partial =
            dynamic_cast<const ports::partial_response*>(failed.info().payload.get())) {
        response(name, partial->so_far);
    }
}

void text_boundary_check::value(std::string_view what, const lang::value& result) {
    std::vector<lang::value> open{result};
    while (!open.empty()) {
        const lang::value one = std::move(open.back());
        open.pop_back();
        if (one.is(lang::kind::string)) {
            ++values;
            const std::string_view bytes = lang::string_bytes(one);
            text(what, bytes);
            if (lang::string_length(one) != utf8::count(bytes)) {
                problem_ = std::string(what) + ": a wrong length";
            }
        } else if (one.is(lang::kind::symbol)) {
            text(what, lang::symbol_name(one));
        } else if (one.is(lang::kind::list)) {
            for (const lang::value& item : lang::list_items(one)) open.push_back(item);
        } else if (one.is(lang::kind::map)) {
            for (const lang::map_entry& entry : lang::map_entries(one)) {
                text(what, lang::string_bytes(entry.key));
                open.push_back(entry.item);
            }
        }
        if (open.size() > 100'000) return;
    }
}

void text_boundary_check::response(std::string_view what, const ports::chat_response& chat) {
    for (const std::string* each : {&chat.id, &chat.model, &chat.text, &chat.refusal}) {
        text(what, *each);
    }
    for (const ports::tool_call& call : chat.tool_calls) {
        for (const std::string* each :
             {&call.id, &call.name, &call.arguments_json, &call.signature})
            text(what, *each);
    }
    for (const ports::reasoning_part& part : chat.reasoning) {
        for (const std::string* each : {&part.text, &part.signature, &part.opaque})
            text(what, *each);
    }
}

void text_boundary_check::check_helpers(input& from) {
    const std::size_t max = from.byte();
    const std::vector<char> bytes = from.rest();
    const std::string_view given = view(bytes);
    const std::string valid = utf8::replace_invalid(copy(bytes));
    text("replace_invalid", valid);
    if (utf8::is_valid(given) && valid != given) problem_ = "a valid text was changed";
    text("prefix", utf8::prefix(valid, max));
    text("shortened", utf8::shortened(valid, max));
    text("printable", utf8::printable(given));
    text("printable_line", utf8::printable_line(given));
    text("json_string", json_string(given));
    if (const auto mended = mended_json(given)) text("mended_json", *mended);
    else text("mended_json: nothing", given);
    text("to_lower", ascii::to_lower(valid));
    text("trim", ascii::trim(valid));
    // The pieces of a text are valid up to their incomplete ends.
    for (std::size_t at = 0; at <= std::min<std::size_t>(valid.size(), 64); ++at) {
        const std::string_view head = std::string_view(valid).substr(0, at);
        text("incomplete_end", head.substr(0, head.size() - utf8::incomplete_end(head)));
    }
    source_map sources;
    const std::uint32_t position = sources.add("f", copy(bytes));
    const auto size = static_cast<std::uint32_t>(bytes.size());
    const error failed =
        error(errc::internal, copy(bytes))
            .with_hint(copy(bytes))
            .with_trace(copy(bytes))
            .with_span({position + static_cast<std::uint32_t>(max) % (size + 1), position + size});
    failure("error", error(errc::internal, "x" + copy(bytes)));
    const std::string rendered = render_diagnostic("Kind", failed, sources);
    text("render_diagnostic", rendered);
    for (std::size_t at = 0; at < rendered.size(); at += utf8::decode(rendered, at).bytes) {
        const char32_t point = utf8::decode(rendered, at).value;
        if (utf8::is_control(point) && point != '\n' && point != '\t') {
            problem_ = "a control character in a diagnostic";
        }
    }
}

lang::value text_boundary_check::argument(input& from) {
    const std::uint8_t kind = from.byte();
    switch (kind % 8) {
    case 0: return lang::value::integer(static_cast<std::int64_t>(from.byte()) - 8);
    case 1: return memory_->symbol(view(from.bytes(kind / 8)));
    case 2: {
        lang::value list = lang::value::empty_list();
        for (int i = 0; i < kind / 64 + 1; ++i) {
            list = lang::list_push_back(
                *memory_, std::move(list),
                lang::make_string(*memory_, view(from.bytes(from.byte() % 16))));
        }
        return list;
    }
    case 3: {
        const std::vector<char> key = from.bytes(from.byte() % 16);
        return lang::map_put(*memory_, lang::value::empty_map(), view(key),
                             lang::make_string(*memory_, view(from.bytes(kind / 8))));
    }
    case 4: return lang::value::boolean(kind > 127);
    default: return lang::make_string(*memory_, view(from.bytes(from.byte())));
    }
}

void text_boundary_check::check_builtin(input& from) {
    const std::size_t which = from.byte() * std::size_t{256} + from.byte();
    const lang::builtin& row = *builtins_[which % builtins_.size()];
    const std::size_t most = std::min<std::size_t>(row.max_arguments, row.min_arguments + 3U);
    const std::size_t count = row.min_arguments + from.byte() % (most - row.min_arguments + 1);
    std::vector<lang::value> arguments;
    for (std::size_t i = 0; i < count; ++i) arguments.push_back(argument(from));
    lang::free_work work;
    lang::native_call call(*memory_, row, work);
    const lang::value result = row.run(call, arguments);
    if (call.failure()) return failure(row.name, *call.failure());
    value(row.name, result);
    text(row.name, lang::print_value(result, {.max_bytes = from.byte() + 1U}));
    if (const auto json = lang::value_to_json(result, {.max_bytes = 100'000}))
        text(row.name, *json);
    else failure(row.name, json.error());
}

void text_boundary_check::check_json(input& from) {
    const std::vector<char> bytes = from.rest();
    const auto read = lang::json_to_value(*memory_, view(bytes));
    if (!read) {
        failure("json_to_value", read.error());
    } else {
        value("json_to_value", *read);
        if (const auto json = lang::value_to_json(*read)) text("value_to_json", *json);
    }
    const lang::value string = lang::make_string(*memory_, view(bytes));
    value("make_string", string);
    const auto json = lang::value_to_json(string);
    if (!json) problem_ = "a string without JSON";
    else if (const auto again = lang::json_to_value(*memory_, *json);
             !again || lang::string_bytes(*again) != lang::string_bytes(string)) {
        problem_ = "a string that JSON does not keep";
    }
    const auto kept = providers::read_response_json(view(bytes));
    if (!kept) failure("read_response_json", kept.error());
    else response("read_response_json", *kept);
}

void text_boundary_check::check_reader(input& from) {
    const std::vector<char> bytes = from.rest();
    source_map sources;
    const std::uint32_t position = sources.add("f", copy(bytes));
    const auto read = lang::read_all(*memory_, view(bytes), position);
    if (!read) {
        failure("read_all", read.error());
        text("render_diagnostic", render_diagnostic("", read.error(), sources));
        return;
    }
    for (const lang::datum& each : *read) {
        value("read_all", each.content);
        text("print_value", lang::print_value(each.content));
    }
    if (const auto laid_out = lang::lay_out(view(bytes))) text("lay_out", *laid_out);
}

void text_boundary_check::check_response(input& from) {
    providers::chat_codec& codec = *codecs_[from.byte() % codecs_.size()];
    ports::http_response received;
    received.status = std::array{200, 200, 200, 400, 404, 429, 500}[from.byte() % 7];
    received.headers.emplace_back("content-type", "application/json");
    received.body = copy(from.rest());
    const std::string_view name = codec.provider_name();
    const auto read = codec.decode(received, {});
    if (!read) failure(name, read.error());
    else response(name, *read);
    const auto models = codec.decode_ping(received, {});
    if (!models) return failure(name, models.error());
    for (const std::string& each : *models) text(name, each);
}

void text_boundary_check::check_stream(input& from) {
    providers::chat_codec& codec = *codecs_[from.byte() % codecs_.size()];
    const std::size_t step = 1 + from.byte();
    const std::string_view name = codec.provider_name();
    const auto reader = codec.open_stream();
    const ports::chat_delta_sink sink = [&](std::string_view piece) -> result<void> {
        text(name, piece);
        return {};
    };
    while (from.size() != 0) {
        const std::vector<char> piece = from.bytes(step);
        const auto fed = reader->feed(view(piece), sink);
        response(name, reader->so_far());
        if (!fed) return failure(name, fed.error());
    }
    const auto ended = reader->finish();
    if (!ended) failure(name, ended.error());
    else response(name, *ended);
}

void text_boundary_check::check_parsers(input& from) {
    providers::sse_limits limits;
    limits.max_line = 200;
    limits.max_event = 400;
    providers::sse_parser events(limits);
    providers::ndjson_parser lines(200);
    const std::vector<char> bytes = from.rest();
    events.feed(view(bytes));
    for (providers::sse_event event;;) {
        const auto got = events.next(event);
        if (!got) failure("sse", got.error());
        if (!got || !*got) break;
    }
    lines.feed(view(bytes));
    for (std::string_view line;;) {
        const auto got = lines.next(line);
        if (!got) failure("ndjson", got.error());
        if (!got || !*got) break;
    }
}

void text_boundary_check::check_prompt(input& from) {
    const std::vector<char> filled = from.bytes(from.byte());
    // Prompts come out of strings of the language or out of XML that was checked.
    const std::string written = utf8::replace_invalid(copy(from.rest()));
    const auto compiled = tasks::prompt_template::compile(written, nullptr);
    if (!compiled) return failure("prompt", compiled.error());
    const tasks::bound_input input{"a", lang::make_string(*memory_, view(filled)), true};
    std::string out;
    if (const auto done = compiled->fill(out, std::span(&input, 1)); !done) {
        return failure("fill", done.error());
    }
    text("fill", out);
}

void text_boundary_check::check_content(input& from) {
    const bool cut = from.byte() % 2 == 1;
    const std::vector<char> bytes = from.rest();
    const std::string_view given = view(bytes);
    const std::size_t half = given.size() / 2;
    tasks::extracted_json found;
    lang::free_work work;
    if (const auto read = tasks::extract_json(*memory_, given, cut, found, work); !read) {
        failure("extract_json", read.error());
    } else {
        value("extract_json", found.content);
        text("extract_json", found.text);
    }
    const auto schema = tasks::output_schema::compile(copy(bytes).substr(0, half));
    if (!schema) return failure("output_schema", schema.error());
    const auto wrong = schema->check(lang::make_string(*memory_, given), given.substr(half));
    if (wrong) text("schema_violation", error(errc::internal, wrong->message).message());
}

void text_boundary_check::check_results(input& from) {
    const std::uint8_t kind = from.byte();
    const std::vector<char> bytes = from.rest();
    const std::string given = copy(bytes);
    ports::process_result ended;
    ended.out = given;
    ended.err = given;
    value("process_notes", tasks::process_notes(*memory_, ended));
    value("tool_result", tasks::tool_result(*memory_, lang::make_string(*memory_, given),
                                            lang::value::empty_map(), "r", given));
    tasks::task_error failed;
    failed.message = given;
    using tasks::task_error;
    switch (kind % 5) {
    case 0: failed.what = task_error::failure{tasks::task_failure_reason::llm_error, given}; break;
    case 1: failed.what = task_error::resource_exhaustion{given, {}}; break;
    case 2: failed.what = task_error::invalid_output{{given, "b"}}; break;
    case 3: failed.what = task_error::validation_error{given}; break;
    default: failed.what = task_error::xml_parse_error{given}; break;
    }
    const lang::value result = tasks::to_value(*memory_, failed);
    value("task_error", result);
    const lang::value* type = lang::map_find(result, "type");
    if (!type || lang::string_bytes(*type) != failed.type_name()) problem_ = "a type was lost";
    text("task_error", tasks::to_json(failed));
    text("task_error", tasks::to_xml(failed));
    failure("task_error", tasks::to_error({"m" + given, failed.what}));
    if (const auto read = tasks::task_error_from_json(given); !read) {
        failure("task_error_from_json", read.error());
    }
    if (const auto read = tasks::task_error_from_xml(given); !read) {
        failure("task_error_from_xml", read.error());
    }
}

std::size_t text_boundary_check::boundaries() noexcept { return 10; }

std::string text_boundary_check::run(std::span<const std::uint8_t> given) {
    using check = text_boundary_check;
    constexpr std::array all{&check::check_helpers, &check::check_builtin,  &check::check_json,
                             &check::check_reader,  &check::check_response, &check::check_stream,
                             &check::check_parsers, &check::check_prompt,   &check::check_content,
                             &check::check_results};
    static_assert(all.size() == 10);
    problem_.clear();
    input from(given);
    (this->*all[from.byte() % all.size()])(from);
    return problem_;
}

} // namespace heddle::fuzzing

#include "sandbox_host.hpp"

#include "lang/compile/special_form.hpp"
#include "lang/value/data_check.hpp"

#include <heddle/coro/spawn.hpp>
#include <heddle/lang/builtin.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/sandbox_policy.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/ports/file_port.hpp>
#include <heddle/ports/llm_port.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>

#include <unistd.h>

namespace heddle::fuzzing {

namespace {

using lang::value;

constexpr std::size_t slack_of_memory = 8 * 1024 * 1024; ///< above the limit, by the heap's account
constexpr std::size_t slack_of_process = 128 * 1024 * 1024; ///< by the system's
constexpr auto longest = std::chrono::seconds(10);          ///< of real time, with sanitizers

/// What the program is made of. Whoever may call `store` can hand functions out.
constexpr auto program = R"heddle(
(import std/lists)
(define secret "OUTSIDE-SECRET")
(define counter 0)
(define stored '())
(define (store f) (when (< (length stored) 8) (set! stored (cons f stored))) (length stored))
(define (call-it f) (f))
(define (keep-arg x) (lambda () x))
(define (apply-it f x) (f x))
(define (hidden) (set! counter (+ counter 1)) (write-file "out.txt" "x"))
(define (canary x) (* x 2))
(defmacro host-macro (x) (list '+ x 1))
(defatom ask (params q) (instructions "{{q}}"))
(defatom other (params q) (instructions "other {{q}}"))
(deftool host-tool (params (x string "text")) (description "returns it") (string-append x "!"))
(deftool forbidden-tool (params (x string "text")) (description "writes") (write-file "out.txt" x))
(ask (q secret))
)heddle";

/// The same value whatever ran in between.
constexpr auto canary =
    "(list (canary 4) (map (lambda (x) (+ x 1)) '(1 2)) (filter (lambda (x) (> x 1)) '(1 2)) "
    "(host-macro 3) (sum '(1 2 3)) secret counter (procedure? hidden) "
    "(content (ask (q \"canary\"))) (host-tool (x \"a\")) (reduce + 0 '(1 2)))";

[[nodiscard]] std::size_t resident_bytes() {
    std::ifstream in("/proc/self/statm");
    std::size_t total = 0;
    std::size_t resident = 0;
    in >> total >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

[[nodiscard]] std::string written(const value& v) {
    lang::print_options options;
    options.max_bytes = 2000;
    return lang::print_value(v, options);
}

} // namespace

/// Every way out: who comes here while a sandbox runs is noted.
class sandbox_host::ports final : public heddle::ports::file_port,
                                  public heddle::ports::process_port,
                                  public heddle::ports::llm_port,
                                  public host::import_port {
public:
    coro::task<result<std::string>> read(std::string path, coro::call_context) override {
        note("a file was read: " + path);
        co_return std::string("text");
    }
    coro::task<result<void>> write(std::string path, std::string, coro::call_context) override {
        note("a file was written: " + path);
        co_return result<void>();
    }
    coro::task<result<bool>> exists(std::string path, coro::call_context) override {
        note("a file was looked for: " + path);
        co_return false;
    }
    coro::task<result<std::vector<std::string>>> list(std::string path,
                                                      coro::call_context) override {
        note("a directory was listed: " + path);
        co_return std::vector<std::string>();
    }
    coro::task<result<heddle::ports::process_result>> run(heddle::ports::process_request asked,
                                                          coro::call_context) override {
        note("a program was run: " + (asked.arguments.empty() ? "" : asked.arguments[0]));
        co_return heddle::ports::process_result();
    }
    coro::task<result<host::imported_source>> load(std::string path, std::string,
                                                   coro::call_context) override {
        note("a file was imported: " + path);
        co_return host::imported_source{path, "(define imported 1)"};
    }
    std::string_view provider_name() const noexcept override { return "fake"; }
    coro::task<result<heddle::ports::chat_response>> complete(
        const heddle::ports::chat_request& request, coro::call_context) override {
        ++calls;
        if (!allows_calls) note("a model was asked");
        if (request.model != "usual" && !models.contains(request.model))
            note("another model was asked: " + request.model);
        bool secret = false;
        for (const auto& message : request.messages)
            secret = secret || message.text.find("OUTSIDE-SECRET") != std::string::npos;
        if (secret && watching) note("a model received turns from outside");
        heddle::ports::chat_response response;
        response.model = "usual";
        response.finish = heddle::ports::finish_reason::stop;
        response.usage = heddle::ports::token_usage{10, 5, 0, 0};
        response.text = "answer";
        if (calls % 3 == 0 && !request.tools.empty() &&
            request.messages.back().role == heddle::ports::chat_role::user) {
            response.finish = heddle::ports::finish_reason::tool_calls;
            response.tool_calls.push_back({"id", request.tools.front().name, R"({"x":"a"})"});
        }
        co_return response;
    }
    coro::task<result<heddle::ports::chat_response>> stream(
        const heddle::ports::chat_request& request, heddle::ports::chat_delta_sink on_delta,
        coro::call_context context) override {
        result<heddle::ports::chat_response> response = co_await complete(request, context);
        if (!response) co_return response;
        const result<void> taken = on_delta(response->text);
        if (!taken) co_return taken.error();
        co_return response;
    }

    void note(std::string what) {
        if (watching && found.size() < 10) found.push_back(std::move(what));
    }

    bool watching = false;
    bool allows_calls = true;
    std::set<std::string> models; ///< besides the usual one
    std::size_t calls = 0;
    std::vector<std::string> found;
};

/// Looks at memory between slices.
class sandbox_host::memory_observer final : public host::slice_observer {
public:
    memory_observer(lang::heap& memory, std::size_t limit)
        : memory_(memory), end_(memory.used() + limit + slack_of_memory),
          process_end_(resident_bytes() + limit + slack_of_process) {}

    void after_slice(std::uint64_t) noexcept override {
        if (memory_.used() > end_ && found.empty())
            found = std::to_string(memory_.used() - end_ + slack_of_memory) +
                    " bytes above the limit of memory";
        if (++slices_ % 64 == 0 && resident_bytes() > process_end_ && found.empty())
            found = "the process takes " + std::to_string(resident_bytes()) + " bytes";
    }
    std::string found;

private:
    lang::heap& memory_;
    std::size_t end_;
    std::size_t process_end_;
    std::size_t slices_ = 0;
};

/// What nobody inside may change.
struct sandbox_host::state {
    std::vector<value> globals; ///< by index; unbound ones too
    std::set<std::string> names;
    std::vector<bool> libraries;
    std::string canary;
};

const std::vector<std::string>& sandbox_host::allowable() {
    static const std::vector<std::string> names{"store",    "call-it", "keep-arg",
                                                "apply-it", "ask",     "host-tool"};
    return names;
}

sandbox_host::sandbox_host()
    : loop_(std::make_unique<coro::event_loop>(io_, coro::event_loop::time::virtual_)),
      ports_(std::make_unique<ports>()) {
    models_.add(*ports_);
    (void)models_.set_default("usual");
    tasks::task_system_parts parts;
    parts.models = &models_;
    parts.processes = ports_.get();
    host::engine_parts engine;
    engine.files = ports_.get();
    engine.imports = ports_.get();
    engine.print = [this](std::string_view) { ports_->note("something was printed"); };
    engine.random_seed = 1;
    engine.readable_environment = {"HOME"};
    engine.operators = tasks::operators(std::move(parts));
    engine_.emplace(*loop_, std::move(engine));
    session_ = engine_->new_session().value();
    if (auto outcome = evaluate(program); !outcome) {
        std::fprintf(stderr, "the program does not run: %s\n", outcome.error().message().c_str());
        std::abort();
    }
    std::set<std::string> all;
    std::vector<std::string> some;
    session_->realm().collect_names(some);
    all.insert(some.begin(), some.end());
    for (const auto family : lang::builtin_families()) {
        for (const lang::builtin& row : family) all.emplace(row.name);
    }
    for (const auto& effect : engine_->effects()) all.emplace(effect->row().name);
    for (const lang::special_form& row : lang::special_forms()) all.emplace(row.name);
    for (std::uint32_t i = 0; i < session_->realm().global_count(); ++i)
        all.emplace(session_->realm().global_name(i));
    for (const std::string& name : allowable()) all.erase(name);
    names_.assign(all.begin(), all.end());
}

sandbox_host::~sandbox_host() = default;

result<value> sandbox_host::evaluate(const std::string& text, host::slice_observer* observer) {
    host::run_options options;
    options.step_limit = 300'000;
    options.memory_limit = std::size_t{64} * 1024 * 1024;
    options.observer = observer;
    std::optional<result<value>> ended;
    const auto keep = [](host::session* session, std::string name, std::string code,
                         host::run_options bounds,
                         std::optional<result<value>>* into) -> coro::task<void> {
        result<value> outcome =
            co_await session->evaluate(std::move(name), std::move(code), bounds);
        into->emplace(std::move(outcome));
    };
    coro::spawn(*loop_, keep(session_.get(), "program", text, options, &ended),
                [](std::exception_ptr thrown) {
                    if (thrown) std::rethrow_exception(thrown);
                });
    io_.restart();
    loop_->run();
    if (!ended) return error(heddle::errc::internal, "it does not end");
    return *std::move(ended);
}

sandbox_host::state sandbox_host::look() {
    state seen;
    lang::realm& harness = session_->realm();
    for (std::uint32_t i = 0; i < harness.global_count(); ++i) {
        // What the program itself assigns, when a sandbox may call `store`.
        seen.globals.push_back(harness.global_name(i) == "stored" ? value() : harness.global(i));
    }
    std::vector<std::string> names;
    harness.collect_names(names);
    seen.names.insert(names.begin(), names.end());
    for (const char* library : {"lists", "maps", "text", "functions", "results", "voting"})
        seen.libraries.push_back(harness.imported_library(library) != nullptr);
    const auto outcome = evaluate(canary);
    seen.canary = outcome ? written(*outcome) : outcome.error().message();
    return seen;
}

std::string sandbox_host::differences(const state& before) {
    const state after = look();
    lang::realm& harness = session_->realm();
    for (std::size_t i = 0; i < after.globals.size(); ++i) {
        const bool known = i < before.globals.size();
        if (known ? before.globals[i].identical(after.globals[i]) : after.globals[i].is_unbound())
            continue;
        return "the global '" + std::string(harness.global_name(static_cast<std::uint32_t>(i))) +
               "' has changed";
    }
    for (const std::string& name : after.names) {
        if (!before.names.contains(name)) return "there is a new name: " + name;
    }
    if (after.names.size() != before.names.size()) return "a name is gone";
    if (after.libraries != before.libraries) return "another library is imported";
    if (after.canary != before.canary)
        return "the program does something else: " + after.canary + ", before " + before.canary;
    return {};
}

std::string sandbox_host::run(const std::string& code, const sandbox_terms& terms) {
    session_->define("stored", value::empty_list());
    lang::heap& memory = session_->memory();
    session_->define("code-text", lang::make_string(memory, code));
    const state before = look();

    const auto began = std::chrono::steady_clock::now();
    memory_observer observer(memory, terms.memory == 0 ? 64U * 1024 * 1024 : terms.memory);
    ports_->watching = true;
    ports_->allows_calls = terms.allow.contains("ask");
    ports_->models = terms.models;
    ports_->found.clear();
    auto ended = evaluate("(sandbox (" + terms.limits + ") (eval (parse code-text)))", &observer);
    std::string problem;
    if (ended && !lang::is_data(*ended)) problem = "the value is not data: " + written(*ended);
    if (ended) ++values;
    else if (ended.error().code() == lang::errc::permission) ++refused;
    else if (ended.error().code() == lang::errc::limit ||
             ended.error().code() == lang::errc::timeout)
        ++limited;
    // The program calls what it was handed, with and without arguments, here and there.
    const auto stored = session_->global("stored");
    if (stored && stored->length() != 0) {
        ++handed;
        (void)evaluate(
            "(for-each (lambda (f) (when (procedure? f)"
            " (for-each (lambda (arguments) (try (timeout 5 (apply f arguments)) (catch (e) nil)))"
            " (list '() (list 1) (list hidden) (list eval) (list write-file \"x\"))))) stored)",
            &observer);
        (void)evaluate("(map-settled (lambda (f) (spawn (f)) (parallel (f) (f))) stored)",
                       &observer);
    }
    ports_->watching = false;
    ports_->allows_calls = true;
    ports_->models.clear();
    const auto took = std::chrono::steady_clock::now() - began;

    if (problem.empty() && !ports_->found.empty()) problem = ports_->found.front();
    if (problem.empty()) problem = observer.found;
    if (problem.empty() && took > longest) {
        problem = "it took " + std::to_string(std::chrono::duration<double>(took).count()) + " s";
    }
    if (problem.empty() && !ended && ended.error().code() == heddle::errc::internal)
        problem = "it ends with an internal error: " + ended.error().message();
    session_->define("stored", value::empty_list());
    if (problem.empty()) problem = differences(before);
    return problem;
}

} // namespace heddle::fuzzing

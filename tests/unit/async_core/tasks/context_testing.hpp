// Files in a scratch folder, a memory that plays prepared responses, and contexts made of them.
#pragma once

#include "tasks_testing.hpp"

#include <heddle/coro/wait_point.hpp>
#include <heddle/fs/workspace_files.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/tasks/context/context_builder.hpp>

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace heddle::tasks::testing {

/// A folder that is removed at the end.
class scratch_folder {
public:
    scratch_folder() {
        std::string name =
            (std::filesystem::temp_directory_path() / "heddle-context-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
        path = std::filesystem::canonical(name);
    }
    ~scratch_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;

    void file(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories((path / name).parent_path());
        std::ofstream(path / name, std::ios::binary) << text;
    }
    [[nodiscard]] std::string at(const std::string& name) const { return (path / name).string(); }

    std::filesystem::path path;
};

inline coro::task<result<void>> wait_for_cancellation(coro::call_context context) {
    return coro::sleep_until(context, context.loop->now() + std::chrono::hours(1));
}

/// Returns prepared responses and keeps what it was asked; may wait until it is cancelled.
class fake_memory final : public ports::memory_port {
public:
    coro::task<result<ports::memory_response>> relevant_files(ports::memory_request request,
                                                              coro::call_context context) override {
        asked.push_back(std::move(request));
        if (waits) {
            const auto slept = co_await wait_for_cancellation(context);
            if (!slept) co_return slept.error();
        }
        co_return response;
    }
    void find(std::vector<std::string> paths) {
        ports::memory_response memory;
        double score = 1;
        for (std::string& path : paths) {
            score *= 0.9;
            memory.matches.push_back(
                {path, path, std::nullopt, score, "text/plain", "about " + path});
        }
        response = std::move(memory);
    }

    std::vector<ports::memory_request> asked;
    result<ports::memory_response> response = ports::memory_response();
    bool waits = false;
};

/// Plays one outcome, or waits until it is cancelled.
class fake_processes final : public ports::process_port {
public:
    coro::task<result<ports::process_result>> run(ports::process_request request,
                                                  coro::call_context context) override {
        asked.push_back(std::move(request));
        if (waits) {
            const auto slept = co_await wait_for_cancellation(context);
            if (!slept) co_return slept.error();
        }
        co_return outcome;
    }
    void print(std::string text, int exit_code = 0, std::string err = {}) {
        ports::process_result result;
        result.out = std::move(text);
        result.err = std::move(err);
        result.exit_code = exit_code;
        outcome = std::move(result);
    }

    std::vector<ports::process_request> asked;
    result<ports::process_result> outcome = ports::process_result();
    bool waits = false;
};

/// Makes contexts for calls of one task, without running it.
class context_bench {
public:
    context_bench() {
        files = fs::make_workspace_files(folder.path.string(), w.runner.loop).value();
        sources.files = files.get();
        sources.memory = &memory;
        sources.processes = &processes;
    }

    /// The context of `(task clause…)`; `clauses` is a quoted list of (name value).
    result<std::shared_ptr<const assembled_context>> make(
        task_template declared, const std::string& clauses = "()",
        std::shared_ptr<const assembled_context> inherited = nullptr) {
        auto call = bind(std::move(declared), clauses);
        if (!call) return std::move(call).error();
        return make(*call, std::move(inherited));
    }

    result<std::shared_ptr<const assembled_context>> make(
        task_call& call, std::shared_ptr<const assembled_context> inherited) {
        context_builder builder(sources, options);
        concerned = builder.concerns(call, inherited != nullptr);
        context_request request;
        request.session = w.session.get();
        request.call = &call;
        request.inherited = std::move(inherited);
        request.room = room;
        request.context = {&w.runner.loop, cancel, until};
        call.context = request.context;
        return w.runner.run(builder.prepare(std::move(request)));
    }

    result<task_call> bind(task_template declared, const std::string& clauses) {
        if (declared.name.empty()) declared.name = "t";
        auto task = compile_task(std::move(declared));
        if (!task) return std::move(task).error();
        lang::heap& memory_of = w.session->memory();
        host::effect_call call{*w.session, {}, scope, {&w.runner.loop, nullptr, {}}};
        const auto given = w.run("'" + clauses).value();
        std::vector<lang::value> names;
        for (const lang::value& pair : lang::list_items(given)) {
            names.push_back(lang::list_items(pair)[0]);
            call.request.arguments.push_back(lang::list_items(pair)[1]);
        }
        call.request.names = lang::make_list(memory_of, names);
        return bind_call(memory_of, *task, std::move(call));
    }

    scratch_folder folder;
    harness w;
    std::shared_ptr<ports::file_port> files;
    fake_memory memory;
    fake_processes processes;
    context_sources sources;
    context_options options;
    lang::scope_ref scope;
    std::optional<std::int64_t> room;
    coro::cancel_source* cancel = nullptr;
    coro::deadline until;
    bool concerned = false; ///< what concerns() said of the last call
};

/// A session whose tasks run on a scripted model and get contexts from a scratch folder.
class context_harness {
public:
    explicit context_harness(model_matching matching = {}) {
        context_sources sources;
        sources.memory = &memory;
        sources.processes = &processes;
        context_options options;
        options.matching = matching;
        options.roots = {folder.path.string()};
        builder.emplace(sources, options);
        models.add(llm);
        EXPECT_TRUE(models.set_default("test-model"));
        task_system_parts tasks;
        tasks.models = &models;
        tasks.observer = &observer;
        tasks.memory = &memory;
        tasks.matching = matching;
        tasks.context = &*builder;
        tasks.base_system = "Be exact.";
        files = fs::make_workspace_files(folder.path.string(), runner.loop).value();
        host::engine_parts parts;
        parts.log = &log;
        parts.files = files.get();
        parts.operators = operators(std::move(tasks));
        engine.emplace(runner.loop, std::move(parts));
        session = engine->new_session().value();
    }

    /// The value as JSON, or "KIND: message" of the error.
    std::string json(std::string text, host::run_options options = {}) {
        return json_of(runner.run(session->evaluate("test", std::move(text), options)));
    }
    /// Text of a message of the last request.
    [[nodiscard]] std::string sent(std::size_t message) const {
        return llm.asked.back().messages.at(message).text;
    }

    scratch_folder folder;
    loopback::runner runner;
    fake_memory memory;
    fake_processes processes;
    scripted_llm llm;
    counting_observer observer;
    keeping_log log;
    model_registry models;
    std::optional<context_builder> builder;
    std::shared_ptr<ports::file_port> files;
    std::optional<host::engine> engine;
    std::unique_ptr<host::session> session;
};

[[nodiscard]] inline std::vector<std::string> paths_of(const assembled_context& context) {
    std::vector<std::string> paths;
    for (const context_part& part : context.parts) paths.push_back(part.path);
    return paths;
}

} // namespace heddle::tasks::testing

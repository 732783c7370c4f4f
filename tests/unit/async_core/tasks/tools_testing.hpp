// A session with files and programs in a scratch workspace.
#pragma once

#include "tasks_testing.hpp"

#include <heddle/fs/workspace_files.hpp>
#include <heddle/process/child_processes.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <sys/stat.h>
#include <unistd.h>

namespace heddle::tasks::testing {

class tool_harness {
public:
    explicit tool_harness(bool programs = true, task_system_parts tasks = {}) {
        static std::atomic<int> count{0};
        root = std::filesystem::temp_directory_path() /
               ("heddle-tools-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
        std::filesystem::create_directories(root / "sub");
        files = fs::make_workspace_files(root.string(), runner.loop).value();
        process::process_options options;
        options.workspace = root.string();
        processes = process::make_process_port(runner.loop, std::move(options)).value();
        models.add(llm);
        EXPECT_TRUE(models.set_default("test-model"));
        tasks.models = &models;
        tasks.processes = programs ? processes.get() : nullptr;
        tasks.processes_hint = "say please";
        host::engine_parts parts;
        parts.log = &log;
        parts.files = files.get();
        parts.operators = operators(std::move(tasks));
        engine.emplace(runner.loop, std::move(parts));
        session = engine->new_session().value();
    }
    ~tool_harness() { std::filesystem::remove_all(root); }
    tool_harness(const tool_harness&) = delete;
    tool_harness& operator=(const tool_harness&) = delete;

    void put(const std::string& name, const std::string& text, mode_t mode = 0644) const {
        std::ofstream(root / name, std::ios::binary) << text;
        EXPECT_EQ(::chmod((root / name).c_str(), mode), 0);
    }
    [[nodiscard]] std::string get(const std::string& name) const {
        std::ifstream in(root / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    result<lang::value> run(std::string text, host::run_options options = {}) {
        return runner.run(session->evaluate("test", std::move(text), options));
    }
    /// The value as JSON, or "KIND: message" of the error.
    std::string json(std::string text, host::run_options options = {}) {
        return json_of(run(std::move(text), options));
    }

    std::filesystem::path root;
    loopback::runner runner;
    scripted_llm llm;
    keeping_log log;
    model_registry models;
    std::shared_ptr<ports::file_port> files;
    std::unique_ptr<ports::process_port> processes;
    std::optional<host::engine> engine;
    std::unique_ptr<host::session> session;
};

} // namespace heddle::tasks::testing

// A directory, a loop and a memory over them.
#pragma once

#include <heddle/fs/local_tree.hpp>
#include <heddle/memory/memory_system.hpp>

#include <loopback_runner.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace heddle::memory {

namespace stdfs = std::filesystem;

namespace testing {

class keeping_log final : public log_port {
public:
    bool enabled(log_level) const noexcept override { return true; }
    void write(log_level level, std::string_view, std::string_view message) noexcept override {
        const std::lock_guard held(lock_);
        lines_.push_back((level == log_level::warn ? "warn: " : "") + std::string(message));
    }
    [[nodiscard]] int count(std::string_view part) {
        const std::lock_guard held(lock_);
        int found = 0;
        for (const std::string& line : lines_) found += line.find(part) != std::string::npos;
        return found;
    }

private:
    std::mutex lock_;
    std::vector<std::string> lines_;
};

class memory_test : public ::testing::Test {
public:
    memory_test() {
        std::string name = (stdfs::temp_directory_path() / "heddle-memory-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
        base = stdfs::canonical(name);
        root = base / "root";
        stdfs::create_directories(root);
    }
    ~memory_test() override {
        memory.reset();
        workers.reset();
        std::error_code ignored;
        stdfs::remove_all(base, ignored);
    }

    void put(const std::string& name, const std::string& text) const {
        stdfs::create_directories((root / name).parent_path());
        std::ofstream(root / name, std::ios::binary) << text;
    }
    /// Sets another time, as a later write would: tests are quicker than clocks.
    void age(const std::string& name) const {
        stdfs::last_write_time(root / name,
                               stdfs::last_write_time(root / name) - std::chrono::seconds(5));
    }
    [[nodiscard]] index_options here() const {
        index_options options;
        options.root = root.string();
        return options;
    }
    void open(memory_options options = {}) {
        memory.reset();
        options.log = &log;
        memory.emplace(*workers, tree, std::move(options));
    }

    index_report index(index_options options) {
        auto report = test.run(memory->index_directory(std::move(options), test.context()));
        if (!report) throw std::runtime_error(report.error().message());
        return *std::move(report);
    }
    result<ports::memory_response> ask(ports::memory_request request) {
        return test.run(memory->relevant_files(std::move(request), test.context()));
    }
    /// Names of the matches relative to the root, best first.
    std::vector<std::string> names(const std::string& query,
                                   ports::matching_strategy strategy = {}) {
        ports::memory_request request;
        request.query = query;
        request.strategy = strategy;
        request.limit = 1000;
        const auto response = ask(std::move(request));
        if (!response) throw std::runtime_error(response.error().message());
        std::vector<std::string> found;
        for (const ports::memory_match& match : response->matches) {
            found.push_back(stdfs::path(match.path).lexically_relative(root).string());
        }
        return found;
    }

    stdfs::path base;
    stdfs::path root;
    loopback::runner test;
    keeping_log log;
    std::shared_ptr<const ports::tree_port> tree = fs::make_local_tree();
    std::unique_ptr<ports::worker_port> workers = fs::make_worker_pool(test.loop, 2);
    std::optional<memory_system> memory;
};

} // namespace testing
} // namespace heddle::memory

// Children in a scratch workspace.
#pragma once

#include "running_programs.hpp"

#include <heddle/process/child_processes.hpp>

#include <loopback_runner.hpp>

#include <gtest/gtest.h>
#include <hang_guard.hpp>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heddle::process::testing {

namespace stdfs = std::filesystem;
using namespace std::chrono_literals;
using loopback::runner;
using ports::process_errc;
using ports::process_request;
using ports::process_result;

class process_test : public ::testing::Test {
protected:
    process_test() {
        static std::atomic<int> count{0};
        base = stdfs::temp_directory_path() /
               ("heddle-process-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
        root = base / "root";
        stdfs::create_directories(root / "sub");
        stdfs::create_directories(base / "outside");
        open();
    }
    ~process_test() override {
        children.reset();
        stdfs::remove_all(base);
    }

    void open(std::vector<std::string> withheld = {}) {
        process_options options;
        options.workspace = root.string();
        options.withheld = std::move(withheld);
        auto result = make_process_port(test.loop, std::move(options));
        ASSERT_TRUE(result) << result.error().message();
        children = *std::move(result);
    }
    static process_request shell(std::string line) {
        process_request request;
        request.arguments = {std::move(line)};
        request.through_shell = true;
        return request;
    }
    static process_request program(std::vector<std::string> arguments) {
        process_request request;
        request.arguments = std::move(arguments);
        return request;
    }
    [[nodiscard]] result<process_result> run(process_request request,
                                             coro::cancel_source* cancel = nullptr,
                                             coro::deadline until = {}) {
        return test.run(children->run(std::move(request), test.context(cancel, until)));
    }
    void expect_error(process_request request, process_errc code) {
        const auto ended = run(std::move(request));
        ASSERT_FALSE(ended);
        EXPECT_EQ(ended.error().code(), make_error_code(code)) << ended.error().message();
    }
    void put(const std::string& name, const std::string& text, mode_t mode = 0755) const {
        std::ofstream(root / name, std::ios::binary) << text;
        ASSERT_EQ(::chmod((root / name).c_str(), mode), 0);
    }
    [[nodiscard]] std::string get(const std::string& name) const {
        std::ifstream in(root / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    /// The number in a file that a child writes.
    [[nodiscard]] pid_t number_in(const std::string& name) const {
        std::string text;
        const auto is_written = [&] {
            text = get(name);
            return text.find('\n') != std::string::npos;
        };
        return hang_guard::comes_true(is_written) ? std::stoi(text) : -1;
    }
    [[nodiscard]] bool exists(const std::string& name) const { return stdfs::exists(root / name); }
    /// Calls `what` from the loop once the file is there.
    void once_there(const std::string& name, std::function<void()> what) {
        test.later([this, name, what = std::move(what)]() mutable {
            if (exists(name)) return what();
            std::this_thread::sleep_for(1ms);
            once_there(name, std::move(what));
        });
    }

    static bool alive(pid_t pid) {
        std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
        std::string text;
        std::getline(in, text); // an iterator throws where the process ends meanwhile
        const std::size_t state = text.rfind(") ");
        return state != std::string::npos && text[state + 2] != 'Z' && text[state + 2] != 'X';
    }
    /// A process that was killed may need a moment to be gone.
    static bool gone(pid_t pid) {
        return hang_guard::comes_true([pid] { return !alive(pid); });
    }
    static std::size_t open_descriptors() {
        const auto all = stdfs::directory_iterator("/proc/self/fd");
        return static_cast<std::size_t>(std::distance(begin(all), end(all)));
    }

    stdfs::path base;
    stdfs::path root;
    runner test;
    std::unique_ptr<ports::process_port> children;
};

} // namespace heddle::process::testing

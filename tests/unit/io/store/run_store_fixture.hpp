// What the tests of run stores share.
#pragma once

#include <heddle/coro/nursery.hpp>
#include <heddle/fs/local_tree.hpp>
#include <heddle/store/run_store.hpp>

#include "loopback_runner.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <stdexcept>

#include <stdlib.h>

namespace heddle::store {

class run_store_fixture : public ::testing::Test {
protected:
    run_store_fixture() {
        std::string name = (std::filesystem::temp_directory_path() / "heddle-run-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
        above = name;
        folder = (above / "run").string();
    }
    ~run_store_fixture() override {
        std::error_code ignored;
        std::filesystem::permissions(above, std::filesystem::perms::owner_all, ignored);
        std::filesystem::remove_all(above, ignored);
    }

    run_store_options options(run_opening opening = run_opening::create_or_resume,
                              run_durability durability = run_durability::group) const {
        run_store_options chosen;
        chosen.folder = folder;
        chosen.opening = opening;
        chosen.durability = durability;
        return chosen;
    }
    result<std::unique_ptr<run_store>> try_open(run_store_options chosen) {
        return open_run_store(*workers, std::move(chosen));
    }
    std::unique_ptr<run_store> open(run_opening opening = run_opening::create_or_resume) {
        auto opened = try_open(options(opening));
        if (!opened) throw std::runtime_error(opened.error().message());
        return *std::move(opened);
    }
    static ports::known_row row_of(std::uint64_t number) {
        return {number, {number + 1, 7}, {number + 1, 8}, ports::row_status::begun, false};
    }
    static ports::step_record record_of(std::uint64_t number, std::string body = "body") {
        ports::step_record record;
        record.path = {number, 1};
        record.content = {5, number};
        record.at = 0.5 * static_cast<double>(number);
        record.name = "ask";
        record.body = std::move(body);
        record.spent.requests = 1;
        record.spent.input_tokens = 10;
        record.spent.cost_usd = 0.25;
        return record;
    }
    result<void> append(run_store& store, std::uint64_t row, ports::step_record record) {
        return loop.run(store.append(row, std::move(record), loop.context()));
    }
    result<void> end(run_store& store, std::uint64_t row,
                     ports::row_status status = ports::row_status::done) {
        ports::row_end done;
        done.row = row;
        done.status = status;
        done.value_json = "{\"v\":" + std::to_string(row) + "}";
        done.attempts = 2;
        done.duration_ms = 1234;
        done.maybe_paid = true;
        return loop.run(store.end_row(std::move(done), loop.context()));
    }
    std::vector<ports::step_record> records(run_store& store, std::uint64_t row) {
        return loop.run(store.records_of(row, loop.context())).value();
    }

    std::filesystem::path above;
    std::string folder;
    loopback::runner loop;
    std::unique_ptr<ports::worker_port> workers = fs::make_worker_pool(loop.loop, 2);
};

} // namespace heddle::store

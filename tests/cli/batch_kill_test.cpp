// Batches that are killed at random moments, on a service that fails in many ways: each row ends up
// in the output once, and no call whose response was kept is made again.
#include "batch_fixture.hpp"
#include "faulty_model.hpp"
#include "loopback_runner.hpp"

#include <heddle/fs/local_tree.hpp>
#include <heddle/store/run_store.hpp>

#include <hang_guard.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

namespace heddle::cli_test {
namespace {

using calls = std::set<std::string>;

/// Four calls a row: a draft, two judgements of it at the same time, and a summary of them.
constexpr const char* workflow = R"(
(defatom ask (params call about) (instructions "{{call}}: {{about}}"))
(define (step id name about) (content (ask (string-append id name) about)))
(define (main id)
  (let* ((draft (step id "a" "begin"))
         (both (map (lambda (name) (step id name draft)) '("b" "c"))))
    (list draft (first both) (second both) (step id "d" (string-join both " ")))))
)";

constexpr int rows = 60;
constexpr int concurrency = 8;
constexpr std::size_t calls_of_row = 4;

class killed_batches : public batch_fixture {
protected:
    int threads = 1;

    /// So many kills; with HEDDLE_SOAK two hundred, in at most half an hour.
    void kill_often(int usual) {
        const int kills = std::getenv("HEDDLE_SOAK") != nullptr ? 200 : usual;
        const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(30);
        int killed = 0;
        for (std::uint32_t seed = 1; killed < kills; ++seed) {
            ASSERT_LT(std::chrono::steady_clock::now(), until) << "after " << killed << " kills";
            SCOPED_TRACE("seed " + std::to_string(seed));
            const int now = kill_and_finish(seed, kills - killed);
            ASSERT_GT(now, 0) << "no kill came before the end of the batch";
            killed += now;
            if (HasFailure()) break;
        }
    }

    /// Kills a batch at most `kills` times, then lets it end. Returns how often it was killed.
    int kill_and_finish(std::uint32_t seed, int kills) {
        chance.seed(seed);
        faulty_model model(seed);
        rows_file(rows);
        scratch.file("w.heddle", workflow);
        std::filesystem::remove_all(path("out.jsonl.run"));
        for (const char* name : {"out.jsonl", "out.jsonl.failed.jsonl"})
            std::filesystem::remove(path(name));

        int killed = 0;
        std::size_t open = 0; // calls that a kill interrupted
        calls kept;
        while (killed < kills) {
            const std::size_t before = model.logged();
            if (!run_and_kill(model)) break;
            ++killed;
            EXPECT_TRUE(model.wait_until_idle());
            expect_none_of(kept, model, before);
            const calls now = kept_calls();
            EXPECT_TRUE(std::includes(now.begin(), now.end(), kept.begin(), kept.end()))
                << "a response is lost";
            kept = now;
            open += left_open(kept, model, before);
        }
        const std::size_t before = model.logged();
        // The limiter has slowed down for the 429s of the service: it may take a while.
        const auto ended = child_process(heddle_command(asking(model, {"--json"})), at_home())
                               .wait(milliseconds(90'000));
        EXPECT_EQ(ended.code, 0) << ended.err << scratch.text_of("out.jsonl.failed.jsonl");
        expect_none_of(kept, model, before);
        expect_results();
        const auto summary = boost::json::parse(ended.out).as_object();
        const auto lost = summary.at("maybe_paid").to_number<std::size_t>();
        EXPECT_GE(lost, open) << "calls under way at a kill are not counted";
        // A call may be noted and not have arrived; a row has at most two under way.
        EXPECT_LE(lost, open + static_cast<std::size_t>(2 * concurrency * killed));
        // Attempts of a call whose connection broke count as well.
        EXPECT_GE(summary.at("spent").at("requests").to_number<std::size_t>(),
                  rows * calls_of_row + lost);

        const std::size_t all = model.logged();
        EXPECT_EQ(run_heddle(asking(model)).code, 0);
        EXPECT_EQ(model.logged(), all) << "a batch that has ended asks for something";
        return killed;
    }

private:
    [[nodiscard]] std::vector<std::string> asking(const faulty_model& model,
                                                  std::vector<std::string> more = {}) const {
        std::vector<std::string> all{"--model",    "openai:gpt-4o",
                                     "--base-url", model.url(),
                                     "-c",         std::to_string(concurrency),
                                     "--threads",  std::to_string(threads)};
        all.insert(all.end(), more.begin(), more.end());
        return command(all);
    }

    /// False if the batch came to its end first.
    bool run_and_kill(faulty_model& model) {
        const std::size_t before = model.logged();
        child_process child(heddle_command(asking(model)));
        // Half of the kills come while the program starts or soon after, the others later.
        if (chance() % 2 == 0) {
            EXPECT_TRUE(hang_guard::comes_true(
                [&] { return model.logged() != before || child.has_ended(); }));
        }
        if (chance() % 3 == 0) {
            std::this_thread::sleep_for(milliseconds(chance() % 100));
            model.restart(milliseconds(chance() % 60));
        }
        std::this_thread::sleep_for(std::chrono::microseconds(chance() % 250'000));
        child.send_signal(SIGKILL);
        return child.wait().signalled;
    }

    /// Calls of `about` whose response is in the journal.
    [[nodiscard]] calls kept_calls() {
        calls kept;
        if (!std::filesystem::exists(path("out.jsonl.run/run.db"))) return kept;
        store::run_store_options options;
        options.folder = path("out.jsonl.run");
        options.opening = store::run_opening::read;
        auto opened = store::open_run_store(*workers, std::move(options));
        if (!opened) return kept; // killed before the journal was made
        for (std::uint64_t row = 0; row < rows; ++row) {
            for (const auto& record :
                 loop.run((*opened)->records_of(row, loop.context())).value()) {
                if (record.kind != ports::step_kind::request) continue;
                for (const char* name : {"a", "b", "c", "d"}) {
                    const std::string call = "r" + std::to_string(row) + name;
                    if (record.body.find("answer to " + call + ".") != std::string::npos)
                        kept.insert(call);
                }
            }
        }
        return kept;
    }

    static void expect_none_of(const calls& kept, const faulty_model& model, std::size_t first) {
        const auto log = model.log();
        for (std::size_t i = first; i < log.size(); ++i)
            EXPECT_FALSE(kept.contains(log[i].call)) << log[i].call << " is repeated";
    }

    /// How many calls of the log from `first` on may be charged for and have no response in the
    /// journal.
    static std::size_t left_open(const calls& kept, const faulty_model& model, std::size_t first) {
        const auto log = model.log();
        calls open;
        for (std::size_t i = first; i < log.size(); ++i)
            if (log[i].ended != faulty_model::request::fate::refused && !kept.contains(log[i].call))
                open.insert(log[i].call);
        return open.size();
    }

    void expect_results() const {
        expect_each_row_once(rows);
        EXPECT_EQ(scratch.text_of("out.jsonl.failed.jsonl"), "");
        for (const auto& line : lines_of("out.jsonl")) {
            const std::string id(line.at("id").as_string());
            boost::json::array expected;
            for (const char* name : {"a", "b", "c", "d"})
                expected.emplace_back("answer to " + id + name + ".");
            EXPECT_EQ(line.at("value"), boost::json::value(expected));
        }
    }

    std::mt19937 chance;
    loopback::runner loop;
    std::unique_ptr<ports::worker_port> workers = fs::make_worker_pool(loop.loop, 1);
};

TEST_F(killed_batches, have_each_row_once_and_repeat_no_finished_call) { kill_often(7); }

TEST_F(killed_batches, on_several_threads_have_each_row_once_and_repeat_no_finished_call) {
    threads = 3;
    kill_often(3);
}

} // namespace
} // namespace heddle::cli_test

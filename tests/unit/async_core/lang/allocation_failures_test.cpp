// The machine without memory: each allocation of a program fails in turn.
#include "schedules.hpp"

#include "lang/machine/semaphore.hpp"

#include <failing_allocations.ipp>

namespace heddle::lang::testing {
namespace {

using heddle::testing::failing_allocations;

struct shape {
    const char* name;
    const char* program; ///< may use the semaphore `s`
};

std::ostream& operator<<(std::ostream& out, const shape& s) { return out << s.name; }

constexpr shape shapes[] = {
    {"map", "(map (lambda (i) (pause 1) (* i i)) (range 4))"},
    {"map_that_fails",
     "(try (map (lambda (i) (pause i) (if (= i 2) (error \"no\" i) i)) (range 4)) (catch (e) "
     "(get e 'data)))"},
    {"settled", "(map-settled (lambda (i) (pause 1) (if (= i 1) (error \"bad\" i) i)) (range 3))"},
    {"race", "(race (pause 3) (progn (pause 1) 'quick) (fail-after 1 \"no\"))"},
    {"race_that_fails",
     "(try (race (error \"a\") (fail-after 1 \"b\")) (catch (e) (get e 'causes)))"},
    {"hedge", "(hedge 1 (pause 3))"},
    {"retry", "(retry 3 (progn (pause 1) (error \"again\")))"},
    {"permits",
     "(map (lambda (i) (with-permit s (pause 1) (if (= i 1) (error \"no\") i))) (range 3))"},
    {"waits_for_permits", "(parallel (with-permit s (pause 2)) (with-permit s (with-permit t 1)))"},
    {"futures",
     "(let ((a (spawn (progn (pause 2) 'a))) (b (spawn (fail-after 1 \"b\")))) (list (await a) "
     "(try (await b) (catch (e) (get e 'message))) (cancel a)))"},
    {"future_for_many",
     "(let ((a (spawn (progn (pause 2) 7)))) (map (lambda (i) (+ i (await a))) (range 3)))"},
    {"cleanups",
     "(try (try (map (lambda (i) (try (pause 5) (finally (pause 1) (note i)))) (range 2)) (finally "
     "(note 'outer))) (catch (e) 1))"},
    {"timeout", "(timeout 2 (try (pause 5) (finally (pause 1))) 'late)"},
    {"sandbox",
     "(sandbox ((steps 10000) (allow (pause))) (let ((f (lambda (x) (* x 2)))) (f (pause 3))))"},
    {"eval", "(list (eval '(let ((x 1)) (+ x 1))) (eval (list '+ 1 'y) (dict \"y\" 2)))"},
    {"macro", "(progn (eval '(defmacro twice (x) (list '* 2 x))) (eval '(twice 4)))"},
    {"values",
     "(let ((m (reduce (lambda (m i) (put m (format \"{}\" i) (list i))) (dict) (range 40)))) "
     "(list (length (keys m)) (json-string m) (sort (values m)) (string-upcase \"abc\")))"},
    {"closures",
     "(let ((n 0)) (for-each (lambda (i) (set! n (+ n i))) (range 5)) (letrec ((f (lambda (k) (if "
     "(= "
     "k 0) n (+ 1 (f (- k 1))))))) (f 200)))"},
    {"nested",
     "(map (lambda (i) (parallel (pause i) (race (pause 1) (pause 2)) (map (lambda (k) (pause k)) "
     "(range 2)))) (range 2))"},
};

class without_memory : public ::testing::TestWithParam<shape> {
protected:
    /// Permits of the semaphores that are in use: none, once a program has ended.
    static std::size_t in_use(lang_harness& harness) {
        std::size_t used = 0;
        for (const char* name : {"s", "t"}) {
            if (const auto index = harness.harness.find_global(name))
                used += host_as<semaphore>(harness.harness.global(*index))->running();
        }
        return used;
    }

    /// Fails allocation after allocation, until the program comes to its end without.
    static void fail_each(const schedule& how, std::uint64_t burst) {
        const std::string program = GetParam().program;
        lang_harness harness;
        harness.run("(define s (semaphore 1)) (define t (semaphore 1))");
        const std::string expected = harness.shown(program, how);
        harness.harness.memory().collect_cycles();
        const std::size_t objects = harness.harness.memory().live_objects();
        std::uint64_t failures = 0;
        for (std::uint64_t n = 1;; n += n < 3000 ? 1 : 97) {
            ASSERT_LT(n, 500'000U) << "it never ends";
            failing_allocations::plan(n, burst);
            outcome ended = harness.run(program, how);
            const bool failed = failing_allocations::failed() != 0;
            failing_allocations::plan(0);
            ASSERT_FALSE(harness.stuck) << program << ", allocation " << n;
            ASSERT_EQ(harness.permits, 0U) << program << ", allocation " << n;
            ASSERT_EQ(in_use(harness), 0U) << program << ", allocation " << n;
            ASSERT_TRUE(ended.kind == outcome_kind::done || ended.failure)
                << program << ", allocation " << n;
            if (failed) ++failures; // a program may catch it
            ended = outcome();      // its values are alive
            ASSERT_EQ(harness.shown(program, how), expected) << "after allocation " << n;
            harness.harness.memory().collect_cycles();
            ASSERT_EQ(harness.harness.memory().live_objects(), objects)
                << program << ", allocation " << n;
            if (!failed) break;
        }
        EXPECT_GT(failures, 0U) << program << ": no allocation has failed";
    }
};

TEST_P(without_memory, a_program_ends_and_leaves_nothing) { fail_each({}, 1); }

TEST_P(without_memory, so_it_does_when_branches_are_split_off) {
    schedule how;
    how.slice = 1;
    how.split = true;
    how.concurrency = 1;
    fail_each(how, 1);
}

// The error itself finds no memory.
TEST_P(without_memory, so_it_does_when_the_next_allocations_fail_too) { fail_each({}, 5); }

TEST_P(without_memory, so_it_does_when_the_fiber_has_to_be_given_up) {
    schedule how;
    how.outlived = true;
    fail_each(how, 40);
}

INSTANTIATE_TEST_SUITE_P(each, without_memory, ::testing::ValuesIn(shapes),
                         [](const auto& each) { return std::string(each.param.name); });

} // namespace
} // namespace heddle::lang::testing

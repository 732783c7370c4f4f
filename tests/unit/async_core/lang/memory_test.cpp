// What a long session holds on to, and what happens at the memory limit.
#include "lang_harness.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>

#include <gtest/gtest.h>
#include <sanitizers.hpp>

#include <string>
#include <utility>
#include <vector>

namespace heddle::lang::testing {
namespace {

constexpr std::size_t mebibyte = 1024 * 1024;

struct shape {
    const char* name;
    const char* code; ///< evaluated for each i, then dropped
};

std::ostream& operator<<(std::ostream& out, const shape& s) { return out << s.name; }

constexpr shape shapes[] = {
    {"captures_itself", "(letrec ((f (lambda (n) (if (= n 0) f (f (- n 1)))))) (f 1))"},
    {"named_let_escapes", "(let next ((k 0)) (if (< k 1) (lambda () (next (+ k i))) k))"},
    {"mutual_recursion",
     "(letrec ((even (lambda (n) (if (= n 0) true (odd (- n 1)))))"
     "         (odd (lambda (n) (if (= n 0) false (even (- n 1))))))"
     "  (list even odd) (even 2))"},
    {"stored_by_set", "(let ((keep nil)) (set! keep (lambda () keep)) keep)"},
    {"in_a_list_in_a_cell",
     "(let ((all '())) (set! all (cons (lambda () (length all)) all)) (length all))"},
    {"in_a_map_in_a_cell",
     "(let ((all (dict))) (set! all (put all \"f\" (lambda () all))) (length (keys all)))"},
    {"in_a_try", "(try (letrec ((f (lambda () f))) (error \"out\" i)) (catch (e) (get e 'kind)))"},
    {"caught_as_data",
     "(let ((keep nil)) (try (progn (set! keep (lambda () keep)) (error \"no\" keep))"
     "  (catch (e) (set! keep (get e 'data)))))"},
    {"in_a_cleanup", "(let ((keep nil)) (try i (finally (set! keep (lambda () keep)))))"},
    {"under_with", "(with ((concurrency 4)) (letrec ((f (lambda () f))) (f)))"},
    {"in_the_error_of_a_future",
     "(let ((f nil)) (set! f (spawn (error \"no\" (lambda () f)))) (try (await f) (catch (e) 1)))"},
    {"in_a_settled_error",
     "(let ((f nil)) (set! f (map-settled (lambda (x) (error \"no\" (lambda () f))) '(1 2))) 1)"},
    {"in_an_error_that_two_futures_share",
     "(let ((f nil)) (let ((first (spawn (error \"no\" (lambda () f)))))"
     "  (let ((other (spawn (await first)))) (set! f (list first other))"
     "    (try (await other) (catch (e) 1)))))"},
    {"in_a_cause_that_two_futures_share",
     "(let ((f nil)) (let ((first (spawn (try (error \"no\" (lambda () f))"
     "                                    (finally (error \"nor\" (lambda () f)))))))"
     "  (let ((other (spawn (await first)))) (set! f (list first other))"
     "    (try (await other) (catch (e) 1)))))"},
    {"in_a_cause_of_the_end_of_a_sandbox",
     "(try (sandbox () (let ((f nil))"
     "  (set! f (spawn (try (pause i) (finally (error \"nor\" (lambda () f)))))) (await f)))"
     "  (catch (e) (get e 'kind)))"},
    {"in_the_end_of_a_sandbox_without_a_cell",
     "(try (sandbox () (spawn (try (pause i) (finally (error \"nor\" (lambda () 1))))))"
     "  (catch (e) (get e 'kind)))"},
    {"in_a_future", "(let ((f nil)) (set! f (spawn (lambda () f))) (await f))"},
    {"in_what_grew_at_the_front", "(let ((l (cons 1 '()))) (length (cons (list l) l)))"},
    {"in_itself", "(let ((l (cons 1 '()))) (length (cons l l)))"},
    {"in_what_grew_at_the_end",
     "(let ((l (append '(1) '(2) '(3)))) (length (append l (list (dict \"before\" l)))))"},
    {"in_a_map_that_grew", "(let ((m (dict \"a\" 1))) (length (put m \"b\" (list 1 m))))"},
    {"in_a_long_history",
     "(let ((h '())) (loop 5 (set! h (append h (list (list i h))))) (length h))"},
    {"in_branches",
     "(let ((keep nil)) (map (lambda (x) (set! keep (lambda () (list x keep)))) '(1 2)))"},
    {"in_code",
     "(let ((f nil)) (set! f (eval (list 'lambda '() (list 'quote (lambda () (list f i)))))) 1)"},
    {"in_a_list_in_code",
     "(let ((f nil)) (set! f (eval (list 'lambda '() (list 'quote (list i (lambda () f)))))) 1)"},
    {"in_code_inside_other_code",
     "(let ((f nil)) (set! f (eval (list 'lambda '() (list 'lambda '()"
     "  (list 'quote (lambda () (list f i))))))) 1)"},
    {"in_a_list_that_grew_after_it_was_compiled",
     "(let ((l (append '(1) '(2)))) (let ((f (eval (list 'lambda '() (list 'quote l)))))"
     "  (length (append l (list f)))))"},
};

class dropped_closures : public ::testing::TestWithParam<shape> {};

TEST_P(dropped_closures, do_not_pile_up) {
    lang_harness session;
    const std::string shape = GetParam().code;
    const auto rounds = [&](int count) {
        return "(let ((i 0)) (while (< i " + std::to_string(count) + ") (set! i (+ i 1)) " + shape +
               ") i)";
    };
    ASSERT_EQ(session.shown(rounds(100)), "100");
    session.harness.memory().collect_cycles();
    const std::size_t before = session.harness.memory().used();
    const std::size_t cells = session.harness.memory().live_cells();
    // The limit holds while it runs: 200,000 times the smallest cycle would be 30 MiB.
    schedule how;
    how.memory = 8 * mebibyte;
    EXPECT_EQ(session.shown(rounds(200'000), how), "200000");
    session.harness.memory().collect_cycles();
    EXPECT_LE(session.harness.memory().used(), before + 4096); // the text of the program is new
    EXPECT_LE(session.harness.memory().live_cells(), cells);
}

INSTANTIATE_TEST_SUITE_P(memory, dropped_closures, ::testing::ValuesIn(shapes),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(memory, cycles_that_hold_much_are_freed_before_the_limit_is_declared) {
    lang_harness session;
    schedule how;
    how.memory = 32 * mebibyte;
    // 2000 cycles are far from ten thousand cells, but hold 2 GB.
    EXPECT_EQ(
        session.shown("(let ((i 0)) (while (< i 2000) (set! i (+ i 1))"
                      "  (let ((text (string-append (string-join (map (lambda (x) \"0123456789\")"
                      "                                               (range 1000)) \"\") \"\"))"
                      "        (f nil))"
                      "    (set! f (lambda () (list f text))))) i)",
                      how),
        "2000");
    EXPECT_EQ(
        session.shown("(let ((i 0)) (while (< i 2000) (set! i (+ i 1))"
                      "  (let ((xs (range 100000)) (f nil)) (set! f (lambda () (list f xs))))) i)",
                      how),
        "2000");
}

TEST(memory, collection_pays_for_itself_beside_much_live_data) {
    lang_harness session;
    // A list of lists that a cell reaches: each collection must look at all of it.
    const std::string program =
        "(let ((all (map (lambda (i) (list i)) (range 200000))) (i 0))"
        "  (define (see) all) (set! all (append all '()))"
        "  (while (< i 300000) (set! i (+ i 1)) (let ((f nil)) (set! f (lambda () f)))) (length "
        "(see)))";
    EXPECT_EQ(session.shown(program), "200000");
}

TEST(memory, garbage_does_not_put_off_the_next_collection) {
    lang_harness session;
    // Each cell is in a cycle of many objects, all of them garbage at once.
    EXPECT_EQ(session.shown("(let ((i 0)) (while (< i 100000) (set! i (+ i 1))"
                            "  (let ((f nil)) (set! f (spawn (list (lambda () f) i))) (await f)))"
                            "  i)"),
              "100000");
    EXPECT_LE(session.harness.memory().live_cells(), 30'000U);
}

TEST(memory, futures_that_nobody_holds_leave_nothing) {
    lang_harness session;
    schedule how;
    how.memory = 8 * mebibyte;
    EXPECT_EQ(session.shown("(let ((i 0)) (while (< i 500000) (set! i (+ i 1))"
                            "  (if (= (modulo i 2) 0) (spawn i) (await (spawn i)))) i)",
                            how),
              "500000");
}

value large_value(heap& memory, const std::string& shape) {
    constexpr int size = 200'000;
    value result = value::empty_list();
    value table = value::empty_map();
    for (int k = 0; k < size; ++k) {
        value item = make_string(memory, "a text of its own: " + std::to_string(k));
        if (shape == "lists") {
            value inner = make_list_with_capacity(memory, 1);
            item = list_push_back(memory, std::move(inner), std::move(item));
        }
        if (shape == "map") table = map_put(memory, std::move(table), std::to_string(k), item);
        else if (shape == "chain") result = make_list(memory, std::vector<value>{item, result});
        else result = list_push_back(memory, std::move(result), std::move(item));
    }
    return shape == "map" ? table : result;
}

/// Holds a value of which it shows nothing.
class silent_holder final : public host_object {
public:
    explicit silent_holder(bool& gone) : gone_(gone) {}
    ~silent_holder() override { gone_ = true; }
    [[nodiscard]] std::string_view type_name() const noexcept override { return "holder"; }
    value held;

private:
    bool& gone_;
};

TEST(memory, ends_with_its_session_whatever_no_search_finds) {
    bool gone = false;
    value result;
    {
        const heap_owner memory(heap::create());
        result = make_string(*memory, "a result");
        for (int k = 0; k < 3; ++k) {
            const value cell = make_cell(*memory, value());
            const value holder = make_host(*memory, std::make_unique<silent_holder>(gone));
            host_as<silent_holder>(holder)->held =
                make_list(*memory, std::vector<value>{cell, make_cell(*memory, cell)});
            cell_of(cell)->content = holder;
        }
        memory->collect_cycles();
        EXPECT_FALSE(gone);
    }
    EXPECT_TRUE(gone);
    EXPECT_EQ(string_bytes(result), "a result");
}

TEST(memory, what_is_large_is_freed_in_turns) {
    for (const std::string shape : {"strings", "lists", "map", "chain"}) {
        const heap_owner owner(heap::create());
        heap& memory = *owner;
        const std::size_t used = memory.used();
        value large = large_value(memory, shape);
        memory.begin_turn();
        std::size_t live = memory.live_objects();
        const auto freed = [&] { return live - std::exchange(live, memory.live_objects()); };
        large.set_nil();
        EXPECT_LE(freed(), heap::freed_in_a_turn) << shape;
        std::size_t turns = 1;
        for (; memory.has_dead(); ++turns) {
            memory.begin_turn();
            EXPECT_LE(freed(), heap::freed_in_a_turn) << shape;
        }
        EXPECT_GT(turns, std::size_t{5}) << shape;
        EXPECT_EQ(memory.live_objects(), 0U) << shape;
        EXPECT_EQ(memory.used(), used) << shape;
    }
}

TEST(memory, names_that_wait_to_be_freed_are_not_found_again) {
    const heap_owner owner(heap::create());
    heap& memory = *owner;
    constexpr int size = 200'000;
    const auto name = [](int k) { return "name-" + std::to_string(k); };
    value names = value::empty_list();
    for (int k = 0; k < size; ++k)
        names = list_push_back(memory, std::move(names), memory.symbol(name(k)));
    memory.begin_turn();
    names.set_nil();
    ASSERT_TRUE(memory.has_dead());
    value again = value::empty_list();
    for (int k = 0; k < size; ++k)
        again = list_push_back(memory, std::move(again), memory.symbol(name(k)));
    memory.release_dead(SIZE_MAX);
    for (int k = 0; k < size; k += 1000) {
        EXPECT_EQ(print_value(list_items(again)[static_cast<std::size_t>(k)]), name(k));
        EXPECT_TRUE(
            memory.symbol(name(k)).identical(list_items(again)[static_cast<std::size_t>(k)]));
    }
    again.set_nil();
    memory.release_dead(SIZE_MAX);
    EXPECT_EQ(memory.live_objects(), 0U);
}

TEST(memory, what_is_dead_is_no_part_of_a_cycle) {
    // Cells, lists that grew in place, and futures of them die in turns while others are collected.
    lang_harness session;
    EXPECT_EQ(session.shown(
                  "(let ((kept nil))"
                  "  (loop 20 (progn (set! kept (map (lambda (k) (let ((n k)) (lambda () (set! n "
                  "(list n k kept)) n))) (range 20000)))"
                  "           (for-each (lambda (f) (f)) kept)))"
                  "  (length kept))"),
              "20000");
}

TEST(memory, what_is_dead_is_room) {
    const heap_owner owner(heap::create());
    heap& memory = *owner;
    value large = large_value(memory, "lists");
    memory.set_limit(memory.used() + mebibyte);
    EXPECT_FALSE(memory.can_allocate(2 * mebibyte));
    large.set_nil();
    EXPECT_TRUE(memory.has_dead());
    EXPECT_TRUE(memory.can_allocate(2 * mebibyte));
    // A program that drops as fast as it makes never meets its limit.
    lang_harness session;
    schedule how;
    how.memory = 64 * mebibyte;
    EXPECT_EQ(session.shown("(let ((kept nil)) (loop 30 (set! kept (map number->string "
                            "(range 200000)))) (length kept))",
                            how),
              "200000");
}

TEST(memory, new_names_are_charged) {
    lang_harness session;
    schedule how;
    how.memory = 8 * mebibyte;
    const std::string reported = session.shown(
        "(define i 0) (while true (set! i (+ i 1))"
        "  (eval (list 'define (string->symbol (string-append \"a-long-name-of-a-variable-\" i)) "
        "1)))",
        how);
    EXPECT_TRUE(reported.starts_with("LimitError: ")) << reported;
    EXPECT_LE(session.harness.global_count(), 80'000U);
}

TEST(compiling, shared_parts_of_quasiquoted_data_are_walked_once) {
    lang_harness session;
    schedule how;
    how.memory = 8 * mebibyte;
    how.steps = 10'000;
    EXPECT_EQ(session.shown("(let ((m 1)) (loop 60 (set! m (list m m)))"
                            "  (length (eval (list 'quasiquote (list m '(unquote (+ 1 2)) m)))))",
                            how),
              "3");
}

struct excess {
    const char* name;
    const char* code;
};
std::ostream& operator<<(std::ostream& out, const excess& e) { return out << e.name; }

constexpr excess excesses[] = {
    {"deep_recursion", "(define (down n) (+ 1 (down n))) (down 1)"},
    {"deep_recursion_of_wide_frames",
     "(define (down n) (let* ((a n) (b (list a)) (c (list b)) (d (list c))) (list a b c d (down "
     "n))))"
     "(down 1)"},
    {"list_by_cons", "(let next ((xs '())) (next (cons 1 xs)))"},
    {"list_by_append", "(let next ((xs '(1))) (next (append xs xs)))"},
    {"list_by_range", "(range 100000000)"},
    {"string_by_append", "(let next ((s \"x\")) (next (string-append s \"yyyyyyyyyyyyyyyy\")))"},
    {"string_by_doubling", "(let next ((s \"x\")) (next (string-append s s)))"},
    {"map_by_put", "(let next ((i 0) (m (dict))) (next (+ i 1) (put m (number->string i) i)))"},
    {"closures", "(let next ((i 0) (f nil)) (next (+ i 1) (lambda () (list i f))))"},
    {"live_cycles", "(let next ((fs '())) (next (cons (letrec ((f (lambda () f))) f) fs)))"},
    {"symbols",
     "(let next ((i 0) (xs '()))"
     "  (next (+ i 1) (cons (string->symbol (number->string i)) xs)))"},
    {"results_of_map", "(map (lambda (i) (range 1000)) (range 1000000))"},
    {"futures", "(let ((all '())) (while true (set! all (cons (spawn 1) all))))"},
    {"quasiquote_of_shared_unquotes",
     "(let ((m (list 'unquote 1))) (loop 24 (set! m (list m m))) (eval (list 'quasiquote m)))"},
    {"evals_beside_many_names",
     "(let ((m '()) (i 0))"
     "  (loop 20000 (progn (set! i (+ i 1))"
     "    (set! m (cons (list 'bind (string->symbol (string-append \"v\" i)) '(eval 1)) m))))"
     "  (eval (list 'let '() (cons 'progn m))) 1)"},
    {"inside_finally", "(try 1 (finally (let next ((xs '())) (next (cons 1 xs)))))"},
    {"inside_finally_after_an_error",
     "(try (error \"x\") (finally (let next ((xs '())) (next (cons 1 xs)))))"},
};

class memory_limit : public ::testing::TestWithParam<excess> {};

TEST_P(memory_limit, raises_and_returns_the_memory) {
    lang_harness session;
    ASSERT_EQ(session.shown("(define kept '(1 2)) kept"), "(1 2)");
    const std::size_t before = session.harness.memory().used();
    for (int round = 0; round < 3; ++round) {
        schedule how;
        how.memory = 8 * mebibyte;
        const std::string reported = session.shown(GetParam().code, how);
        EXPECT_TRUE(reported.starts_with("LimitError: ")) << reported;
        EXPECT_NE(reported.find("memory"), std::string::npos) << reported;
    }
    EXPECT_EQ(session.shown("(length (map (lambda (x) (+ x 1)) kept))"), "2");
    session.harness.memory().collect_cycles();
    EXPECT_LE(session.harness.memory().used(), before + 16 * 1024); // the programs' own data
}

INSTANTIATE_TEST_SUITE_P(memory, memory_limit, ::testing::ValuesIn(excesses),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(memory, limit_can_be_caught_and_the_program_goes_on) {
    lang_harness session;
    schedule how;
    how.memory = 8 * mebibyte;
    EXPECT_EQ(session.shown("(list (try (let next ((xs '())) (next (cons 1 xs)))"
                            "        (catch (e 'LimitError) (get e 'kind)))"
                            "      (length (range 1000)))",
                            how),
              "(\"LimitError\" 1000)");
}

TEST(memory, of_a_deep_recursion_is_there_again_after_its_end) {
    const std::string deep = "(let go ((i 0)) (cons 1 (go (+ i 1))))";
    const std::string large = "(length (range 1000000))"; // a fourth of the limit
    for (const std::string& program :
         {"(progn (try " + deep + " (catch (e) 1)) " + large + ")",
          "(progn (try (parallel " + deep + ") (catch (e) 1)) " + large + ")",
          "(progn (try " + deep + " (catch (e) 1)) (try " + deep + " (catch (e) 1)) " + large + ")",
          "(try " + deep + " (catch (e) " + large + "))"}) {
        lang_harness harness;
        schedule how;
        how.memory = 64 * mebibyte;
        EXPECT_EQ(harness.shown(program, how), "1000000") << program;
        lang_harness other;
        // The allocators of sanitizers copy a stack to make it smaller.
        how.memory = (sanitizers::is_watching ? 64 : 512) * mebibyte;
        how.slice = 100;
        EXPECT_EQ(other.shown(program, how), "1000000") << program;
    }
    // Back and down again, by a return of its own.
    lang_harness harness;
    schedule how;
    how.memory = 512 * mebibyte;
    EXPECT_EQ(
        harness.shown("(define (down n) (if (= n 0) 0 (+ 1 (down (- n 1))))) (let next ((i 0) "
                      "(sum 0)) (if (= i 5) sum (progn (loop 10000 1) (next (+ i 1) (+ sum "
                      "(down 1000000))))))",
                      how),
        "5000000");
}

TEST(memory, of_a_deep_recursion_is_nothing_that_a_sandbox_gains) {
    const std::string in_sandbox =
        "(try (sandbox ((memory 1000000)) (loop 100000 1) (define (f n acc) (if (= n 0) (length "
        "acc) (f (- n 1) (cons (number->string n) acc)))) (f 50000 '())) (catch (e) (get e 'kind)))";
    lang_harness harness;
    schedule how;
    how.memory = std::size_t{1} << 30;
    EXPECT_EQ(harness.shown("(define (deep n) (if (= n 0) 0 (+ 1 (deep (- n 1))))) (list " +
                                in_sandbox + " (progn (deep 1000000) " + in_sandbox +
                                ") (sandbox ((memory 500000000)) (define (down n) (if (= n 0) 0 (+ "
                                "1 (down (- n 1))))) (down 1000000) " +
                                in_sandbox + "))",
                            how),
              "(\"LimitError\" \"LimitError\" \"LimitError\")");
}

TEST(memory, places_of_lists_are_charged) {
    const heap_owner memory(heap::create());
    std::string text = "(";
    for (int i = 0; i < 10'000; ++i) text += "1 ";
    text += ")";
    const auto bytes = [&](std::uint32_t position) {
        const std::size_t before = memory->used();
        const auto read = read_one(*memory, text, position);
        return memory->used() - before;
    };
    const std::size_t nothing_left = memory->used();
    EXPECT_GE(bytes(1), bytes(0) + 10'000 * sizeof(source_span));
    EXPECT_EQ(memory->used(), nothing_left);
}

TEST(memory, a_million_evals_do_not_pile_up) {
    lang_harness session;
    const auto rounds = [](int count) {
        return "(let ((i 0)) (while (< i " + std::to_string(count) +
               ") (set! i (+ i 1)) (eval '((lambda (x) (+ x 1)) 1))) i)";
    };
    ASSERT_EQ(session.shown(rounds(1000)), "1000");
    session.harness.memory().collect_cycles();
    const std::size_t before = session.harness.memory().used();
    const std::size_t globals = session.harness.global_count();
    schedule how;
    how.memory = 8 * mebibyte;
    EXPECT_EQ(session.shown(rounds(200'000), how), "200000");
    session.harness.memory().collect_cycles();
    EXPECT_LE(session.harness.memory().used(), before + 4096);
    EXPECT_EQ(session.harness.global_count(), globals);
}

// ---------------------------------------------------------------- steps

TEST(step_limit, cannot_be_caught_for_ever) {
    lang_harness session;
    schedule how;
    how.steps = 10'000;
    EXPECT_TRUE(session.shown("(while true (try (while true nil) (catch (e) nil)))", how)
                    .starts_with("LimitError"));
    EXPECT_TRUE(
        session.shown("(while true (map-settled (lambda (x) (while true nil)) '(1 2)))", how)
            .starts_with("LimitError"));
}

/// An error leaves so many calls, each of them with that handler.
std::string unwound(int levels, const std::string& handler) {
    return "(letrec ((f (lambda (n) (if (= n 0) (error \"x\") (try (+ 1 (f (- n 1))) " + handler +
           "))))) (f " + std::to_string(levels) + "))";
}

TEST(step_limit, holds_for_an_error_on_its_way_out) {
    const std::string program = unwound(5000, "(catch (e) (raise e))");
    lang_harness session;
    EXPECT_TRUE(session.shown(program).starts_with("UserError"));
    schedule how;
    how.steps = 50'000;
    EXPECT_TRUE(session.shown(program, how).starts_with("LimitError"));
    EXPECT_EQ(
        session.shown("(try (sandbox ((steps 50000)) " + program + ") (catch (e) (get e 'kind)))"),
        "\"LimitError\"");
}

TEST(step_limit, an_error_on_its_way_out_lets_others_run) {
    for (const char* handler :
         {"(catch (e) (raise e))", "(catch (e 'TypeError) 1)", "(finally 1)"}) {
        lang_harness session;
        schedule how;
        how.slice = 1'000'000; // more than the calls take
        EXPECT_TRUE(session.shown(unwound(5000, handler), how).starts_with("UserError")) << handler;
        EXPECT_GT(session.runs, 20U) << handler;
    }
}

TEST(step_limit, cleanup_that_does_not_end_is_ended) {
    lang_harness session;
    schedule how;
    how.steps = 10'000;
    how.cleanup_steps = 50'000;
    for (const char* program :
         {"(try (while true nil) (finally (while true nil)))",
          "(try (error \"x\") (finally (while true nil)))",
          "(try 1 (finally (while true (try (while true nil) (catch (e) nil)))))",
          "(try 1 (finally (while true (try (while true nil) (finally (while true nil))))))"}) {
        EXPECT_TRUE(session.shown(program, how).starts_with("LimitError")) << program;
    }
    EXPECT_EQ(session.shown("(define n 0) (try (while true nil) (finally (set! n 1)))", how)
                  .substr(0, 10),
              "LimitError");
    EXPECT_EQ(session.shown("n"), "1");
}

TEST(cancellation, cleanup_that_does_not_end_is_ended) {
    lang_harness session;
    schedule how;
    how.slice = 100;
    how.cancel_at = 20;
    how.cleanup_steps = 50'000;
    EXPECT_TRUE(session.shown("(try (while true nil) (finally (while true nil)))", how)
                    .starts_with("CancelledError"));
}

TEST(functions, nested_deep_are_freed_without_recursion) {
    lang_harness session;
    std::string program;
    constexpr int depth = 5000;
    for (int i = 0; i < depth; ++i) program += "(lambda () ";
    program += "1" + std::string(depth, ')');
    EXPECT_EQ(session.shown(program).substr(0, 2), "#<");
}

} // namespace
} // namespace heddle::lang::testing

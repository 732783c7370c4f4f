// Garbage cycles are found in steps, while the program goes on.
#include "lang_harness.hpp"
#include "random_program.hpp"

#include "lang/value/cycle_search.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include <failing_allocations.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace heddle::lang::testing {
namespace {

using heddle::testing::failing_allocations;

TEST(cycle_search, finds_all_that_is_garbage_whatever_happens_between_its_steps) {
    for (unsigned seed = 1; seed <= 300; ++seed) {
        random_program program(seed);
        heap& memory = program.memory();
        const std::size_t units = std::size_t{1} << seed % 6;
        for (int k = 0; k < 300; ++k) program.act();
        for (int searches = 0; searches < 3; ++searches) {
            memory.release_dead(SIZE_MAX);
            const std::set<int> alive = witnesses_among(reachable(program.roots()));
            std::set<int> garbage;
            std::set_difference(program.living().begin(), program.living().end(), alive.begin(),
                                alive.end(), std::inserter(garbage, garbage.end()));
            memory.begin_search();
            while (memory.search()) {
                memory.continue_search(units);
                // Not faster than the search.
                if (program.below(64) < units) program.act();
            }
            memory.release_dead(SIZE_MAX);
            for (const int each : garbage)
                ASSERT_FALSE(program.living().contains(each)) << "seed " << seed;
            const std::set<int> now = witnesses_among(reachable(program.roots()));
            ASSERT_TRUE(std::includes(program.living().begin(), program.living().end(), now.begin(),
                                      now.end()))
                << "seed " << seed;
        }
        memory.collect_cycles();
        ASSERT_EQ(program.objects(), reachable(program.roots()).size()) << "seed " << seed;
        program.drop_all();
        memory.collect_cycles();
        ASSERT_EQ(program.objects(), 0U) << "seed " << seed;
    }
}

TEST(cycle_search, leaves_what_it_leaves_when_it_is_made_at_once) {
    for (unsigned seed = 1; seed <= 100; ++seed) {
        std::vector<std::size_t> left;
        for (const bool in_steps : {false, true}) {
            random_program program(seed);
            heap& memory = program.memory();
            for (int k = 0; k < 400; ++k) program.act();
            if (in_steps) {
                memory.begin_search();
                while (memory.search()) memory.continue_search(1);
                memory.release_dead(SIZE_MAX);
            } else {
                memory.collect_cycles();
            }
            left.push_back(program.objects());
            ASSERT_EQ(left.back(), reachable(program.roots()).size()) << "seed " << seed;
        }
        ASSERT_EQ(left[0], left[1]) << "seed " << seed;
    }
}

TEST(cycle_search, loses_nothing_when_it_is_given_up_at_any_step) {
    for (std::size_t steps = 0;; ++steps) {
        random_program program(7);
        heap& memory = program.memory();
        for (int k = 0; k < 200; ++k) program.act();
        memory.begin_search();
        for (std::size_t k = 0; k < steps && memory.search(); ++k) memory.continue_search(3);
        const bool ended = !memory.search();
        memory.collect_cycles(); // begins anew
        ASSERT_FALSE(memory.search());
        ASSERT_EQ(program.objects(), reachable(program.roots()).size()) << "step " << steps;
        if (ended) break;
    }
}

TEST(cycle_search, loses_nothing_when_an_allocation_fails) {
    std::uint64_t failures = 0;
    for (std::uint64_t n = 1;; ++n) {
        random_program program(11);
        heap& memory = program.memory();
        for (int k = 0; k < 200; ++k) program.act();
        // More than a piece of the table.
        value many = make_list_with_capacity(memory, 700);
        for (int k = 0; k < 700; ++k)
            many = list_push_back(memory, std::move(many), make_cell(memory, value()));
        failing_allocations::plan(n);
        {
            const failing_allocations::scope may_fail(true);
            memory.begin_search();
            while (memory.search()) memory.continue_search(5);
        }
        const bool failed = failing_allocations::failed() != 0;
        failing_allocations::plan(0);
        failures += failed ? 1 : 0;
        memory.release_dead(SIZE_MAX);
        std::vector<value> roots = program.roots();
        roots.push_back(many);
        ASSERT_GE(program.objects(), reachable(roots).size()) << n;
        if (!failed) {
            ASSERT_EQ(program.objects(), reachable(roots).size());
            break;
        }
        memory.collect_cycles();
        ASSERT_EQ(program.objects(), reachable(roots).size()) << n;
    }
    EXPECT_GT(failures, 3U);
}

/// Goes on turn after turn until no search is under way. Result: the number of turns.
std::size_t take_turns(heap& memory) {
    // What is held by one object is looked at in one go.
    constexpr std::size_t at_once = 16;
    std::size_t turns = 0;
    for (; memory.search(); ++turns) {
        const std::uint64_t before = memory.search()->work();
        const std::size_t live = memory.live_objects();
        memory.begin_turn();
        if (memory.search()) {
            EXPECT_LE(memory.search()->work() - before, heap::searched_in_a_turn + at_once);
        }
        EXPECT_LE(live - memory.live_objects(),
                  2 * heap::freed_in_a_turn + heap::searched_in_a_turn);
    }
    return turns;
}

constexpr int closures = 300'000;

TEST(cycle_search, looks_at_a_bounded_part_of_what_is_alive_in_each_turn) {
    lang_harness harness;
    heap& memory = harness.harness.memory();
    harness.run(
        "(define keep (map (lambda (i) (let ((n i) (f nil)) (set! f (lambda () (set! n (+ n 1)) "
        "(list f n))) f)) (range " +
        std::to_string(closures) + ")))");
    while (memory.search()) memory.begin_turn();
    const std::size_t live = memory.live_objects();
    ASSERT_GE(memory.live_cells(), std::size_t{2} * closures);
    memory.begin_search();
    EXPECT_GT(take_turns(memory), std::size_t{100});
    EXPECT_EQ(memory.live_objects(), live);
    EXPECT_EQ(harness.shown("(second ((nth keep 299999)))"), "300000");
}

TEST(cycle_search, looks_at_a_bounded_part_of_what_is_garbage_in_each_turn) {
    lang_harness harness;
    heap& memory = harness.harness.memory();
    harness.run("(define keep nil)");
    memory.collect_cycles();
    const std::size_t live = memory.live_objects();
    // All of them refer to one list, too, that refers to itself.
    harness.run(
        "(let ((l (cons 1 '()))) (set! l (cons l l))"
        "  (set! keep (map (lambda (i) (let ((f nil)) (set! f (lambda () (list f l))) f)) (range " +
        std::to_string(closures) + "))))");
    memory.collect_cycles();
    ASSERT_GE(memory.live_objects(), live + std::size_t{2} * closures);
    harness.run("(set! keep nil)");
    memory.begin_search();
    EXPECT_GT(take_turns(memory), std::size_t{100});
    EXPECT_FALSE(memory.has_dead());
    memory.collect_cycles(); // of what the last programs have left
    EXPECT_LE(memory.live_objects(), live + 100);
}

TEST(cycle_search, looks_at_a_bounded_part_of_a_large_list_or_map_in_each_turn) {
    const heap_owner owner(heap::create());
    heap& memory = *owner;
    for (const bool garbage : {false, true}) {
        value inner = make_cell(memory, value());
        value list = make_list_with_capacity(memory, 0);
        value map = value::empty_map();
        for (int k = 0; k < closures; ++k) {
            list = list_push_back(memory, std::move(list), inner);
            map = map_put(memory, std::move(map), std::to_string(k), k % 2 == 0 ? inner : value());
        }
        value whole = make_list(memory, std::vector<value>{list, map});
        list.set_nil();
        map.set_nil();
        assign(inner, whole);
        while (memory.has_dead()) memory.begin_turn(); // the large storages that it has outgrown
        const std::size_t live = memory.live_objects();
        inner.set_nil();
        if (garbage) whole.set_nil();
        memory.begin_search();
        if (garbage) {
            // What is strongly connected, and garbage, is looked at in one go.
            while (memory.search()) memory.begin_turn();
            EXPECT_EQ(memory.live_objects(), 0U);
        } else {
            EXPECT_GT(take_turns(memory), std::size_t{50});
            EXPECT_EQ(memory.live_objects(), live);
            whole.set_nil();
            memory.collect_cycles();
        }
    }
}

TEST(cycle_search, is_not_led_astray_by_a_list_that_grows_or_dies_while_it_looks) {
    for (std::size_t units = 1; units < 3000; units += 37) {
        const heap_owner owner(heap::create());
        heap& memory = *owner;
        value cell = make_cell(memory, value());
        value list = make_list_with_room(memory, {2000, 500});
        for (int k = 0; k < 1000; ++k)
            list = list_push_back(memory, std::move(list), make_cell(memory, cell));
        value map = value::empty_map();
        for (int k = 0; k < 1000; ++k)
            map = map_put(memory, std::move(map), std::to_string(k), make_cell(memory, cell));
        assign(cell, list);
        value other = make_cell(memory, map);
        memory.begin_search();
        memory.continue_search(units);
        for (int k = 0; k < 100; ++k) {
            list = list_push_front(memory, make_cell(memory, cell), std::move(list));
            list = list_push_back(memory, std::move(list), make_cell(memory, cell));
            map = map_put(memory, std::move(map), std::to_string(1000 + k), list);
        }
        memory.continue_search(units);
        assign(cell, value());
        assign(other, value());
        list.set_nil();
        map.set_nil();
        while (memory.search()) memory.continue_search(units);
        memory.release_dead(SIZE_MAX);
        EXPECT_EQ(memory.live_objects(), 2U) << units;
    }
}

TEST(cycle_search, of_one_heap_leaves_objects_of_another_alone) {
    const heap_owner owner(heap::create());
    const heap_owner other(heap::create());
    value shared = make_cell(*other, value());
    assign(shared, make_list(*other, std::vector<value>{shared}));
    value cell = make_cell(*owner, value());
    assign(cell, make_list(*owner, std::vector<value>{shared, cell}));
    owner->begin_search();
    other->begin_search();
    for (; owner->search() || other->search();) {
        owner->continue_search(1);
        other->continue_search(1);
    }
    EXPECT_EQ(owner->live_objects(), 2U);
    EXPECT_EQ(other->live_objects(), 2U);
    cell.set_nil();
    owner->collect_cycles();
    EXPECT_EQ(owner->live_objects(), 0U);
    shared.set_nil();
    other->collect_cycles();
    EXPECT_EQ(other->live_objects(), 0U);
}

TEST(cycle_search, keeps_pace_with_what_is_made_meanwhile) {
    // Each garbage cycle holds that many objects more.
    for (const int held : {0, 20}) {
        const heap_owner owner(heap::create());
        heap& memory = *owner;
        const auto cycle = [&](int links) {
            value cell = make_cell(memory, value());
            value chain = cell;
            for (int k = 0; k < links; ++k) chain = make_list(memory, std::vector<value>{chain});
            assign(cell, make_list(memory, std::vector<value>{chain}));
            return cell;
        };
        std::vector<value> alive;
        for (int k = 0; k < 50'000; ++k) alive.push_back(cycle(0));
        std::size_t peak = 0;
        for (int k = 0; k < 600'000 / (1 + held); ++k) {
            const value garbage = cycle(held);
            if (k % 500 != 0) continue;
            do {
                memory.begin_turn();
            } while (memory.search_comes_first(false));
            peak = std::max(peak, memory.live_cells());
        }
        EXPECT_LE(peak, 200'000U) << held;
    }
}

TEST(cycle_search, holds_up_what_has_waited_only_when_it_is_far_behind) {
    const heap_owner owner(heap::create());
    heap& memory = *owner;
    std::vector<value> alive;
    const auto make = [&](int cells) {
        for (int k = 0; k < cells; ++k) alive.push_back(make_cell(memory, value()));
    };
    make(100'000);
    memory.collect_cycles();
    memory.begin_search();
    memory.begin_turn();
    EXPECT_FALSE(memory.search_comes_first(false));
    make(2000);
    memory.begin_turn();
    ASSERT_TRUE(memory.search());
    EXPECT_TRUE(memory.search_comes_first(false));
    EXPECT_FALSE(memory.search_comes_first(true));
    make(40'000);
    memory.begin_turn();
    ASSERT_TRUE(memory.search());
    EXPECT_TRUE(memory.search_comes_first(true));
    while (memory.search()) memory.begin_turn();
    EXPECT_FALSE(memory.search_comes_first(false));
}

TEST(cycle_search, at_the_memory_limit_lets_a_computation_wait_for_its_end) {
    const heap_owner owner(heap::create());
    heap& memory = *owner;
    for (int k = 0; k < 8000; ++k) {
        const value cell = make_cell(memory, value());
        assign(cell, make_list(memory, std::vector<value>{cell}));
    }
    ASSERT_FALSE(memory.search());
    memory.set_limit(memory.used() / 2);
    memory.begin_turn();
    ASSERT_TRUE(memory.search_comes_first(false));
    EXPECT_TRUE(memory.search_comes_first(true)) << "it is far over the limit";
    std::size_t turns = 0;
    for (; memory.search_comes_first(false); ++turns) memory.begin_turn();
    EXPECT_GT(turns, 5U);
    EXPECT_FALSE(memory.over_limit());
    while (memory.search() || memory.has_dead()) memory.begin_turn();
    EXPECT_EQ(memory.live_objects(), 0U);
    // Once all was looked at, and nothing was made since, nothing is looked for.
    std::vector<value> alive;
    for (int k = 0; k < 8000; ++k) alive.push_back(make_cell(memory, value()));
    memory.set_limit(memory.used() - 16);
    while (memory.search_comes_first(false)) memory.begin_turn();
    EXPECT_FALSE(memory.search());
    EXPECT_TRUE(memory.limit_used_up());
    EXPECT_FALSE(memory.search());
}

TEST(cycle_search, takes_a_few_turns_at_once_from_a_program) {
    constexpr int count = 100'000;
    lang_harness harness;
    const auto cycles = [](const char* kept) {
        return std::string("(map (lambda (i) (let ((f nil)) (set! f (lambda () f)) (f) ") + kept +
               ")) (range " + std::to_string(count) + "))";
    };
    harness.run("(define keep " + cycles("f") + ")");
    harness.searches = harness.peak_freed = 0;
    harness.peak_searched = 0;
    const std::string garbage = "(length " + cycles("i") + ")";
    ASSERT_EQ(harness.shown("(+ " + garbage + " " + garbage + " " + garbage + ")"),
              std::to_string(3 * count));
    EXPECT_GE(harness.searches, 1U);
    EXPECT_GT(harness.peak_searched, 0U);
    // One at the start of a slice, one at its end, and where a long builtin begins. All that is
    // alive takes a million units.
    EXPECT_LE(harness.peak_searched, 4 * heap::searched_in_a_turn);
    EXPECT_LE(harness.peak_freed, 3 * (heap::freed_in_a_turn + heap::searched_in_a_turn));
    EXPECT_LT(harness.harness.memory().live_cells(), std::size_t{4} * count);
}

TEST(cycle_search, lets_programs_go_on_beside_it) {
    for (const std::uint32_t slice : {1U, 2000U}) {
        schedule how;
        how.slice = slice;
        how.split = true;
        lang_harness harness;
        EXPECT_EQ(
            harness.shown("(define keep (map (lambda (i) (letrec ((f (lambda (k) (if (= k 0) i "
                          "(f (- k 1)))))) f)) (range 25000)))"
                          "(apply + (parallel"
                          "  (reduce + 0 (map (lambda (f) (f 1)) keep))"
                          "  (progn (pause 1) (length (map (lambda (i) (letrec ((f (lambda () f))) "
                          "(f))) (range 25000))))))",
                          how),
            "312512500");
    }
}

} // namespace
} // namespace heddle::lang::testing

// What shares storage, and what does not.
#include "lang_harness.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/map_pattern.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heddle::lang::testing {
namespace {

TEST(storage, that_is_large_is_not_kept_by_small_windows) {
    const std::string big = "(string-join (map (lambda (i) \"0123456789\") (range 20000)))";
    schedule how;
    how.memory = std::size_t{16} * 1024 * 1024; // 200 of 220 kB each would be 44 MB
    for (const std::string& piece :
         {"(substring " + big + " 1000 1005)", "(first (string-split " + big + "))",
          "(first (regex-match \"[0-9]+\" " + big + "))", std::string("(take (range 20000) 3)"),
          std::string("(slice (range 20000) 100 103)"),
          std::string("(let loop ((l (range 20000))) (if (= (length l) 2) l (loop (rest l))))")}) {
        lang_harness harness;
        EXPECT_EQ(harness.shown("(length (map (lambda (i) " + piece + ") (range 200)))", how),
                  "200")
            << piece;
    }
}

TEST(storage, of_a_copy_is_within_the_limit) {
    schedule how;
    how.memory = 33'000'000; // the list alone takes 16 MB
    for (const std::string& text :
         {std::string("(cons 1 (rest b))"),
          std::string("(reduce (lambda (l f) (f 1 l)) (rest b) (list cons))"),
          std::string("(append b '(1))")}) {
        lang_harness harness;
        const std::string program =
            "(let* ((b (range 1000000)) (c " + text + ")) (+ (length b) (length c)))";
        const std::string shown = harness.shown(program, how);
        EXPECT_TRUE(shown.starts_with("LimitError")) << text << ": " << shown;
        lang_harness sandboxed;
        const std::string inside = sandboxed.shown("(sandbox ((memory 33000000)) " + program + ")");
        EXPECT_TRUE(inside.starts_with("LimitError")) << text << ": " << inside;
    }
}

TEST(storage, of_a_map_after_a_pattern_has_its_keys_and_other_items) {
    for (const std::int64_t size : {2, 20}) { // with an index, too
        heap* const memory = heap::create();
        {
            value pattern = value::empty_map();
            for (std::int64_t i = 0; i < size; ++i)
                pattern =
                    map_put(*memory, std::move(pattern), std::to_string(i), value::integer(i));
            std::vector<value> items{value::integer(-1)};
            value filled =
                map_with_items(*memory, pattern, static_cast<std::size_t>(size - 1), items);
            filled = map_put(*memory, std::move(filled), "more", {});
            const std::string last = std::to_string(size - 1);
            EXPECT_EQ(filled.length(), static_cast<std::size_t>(size + 1));
            EXPECT_EQ(map_find(filled, "0")->as_integer(), 0);
            EXPECT_EQ(map_find(filled, last)->as_integer(), -1);
            EXPECT_EQ(map_find(pattern, last)->as_integer(), size - 1);
            EXPECT_EQ(map_find(pattern, "more"), nullptr);
        }
        memory->release_owner();
    }
}

TEST(storage, of_a_map_or_list_that_nobody_else_sees_is_written_in_place) {
    schedule how;
    how.steps = 600'000; // a copy of the map for each round would be 2,000,000
    const std::string keys = "(map (lambda (i) (number->string i)) (range 2000))";
    for (const std::string& program :
         {"(let ((ks " + keys +
              ")) (length (keys (reduce (lambda (m k) (put m k 1)) (dict) "
              "(append ks ks ks)))))",
          "(let ((ks (append " + keys + " " + keys + " " + keys +
              "))) (let next ((i 0) (m (dict))) "
              "(if (< i 6000) (next (+ i 1) (put m (nth ks i) i)) (length m))))",
          "(let ((ks (append " + keys + " " + keys + " " + keys +
              ")) (m (dict)) (i 0)) "
              "(while (< i 6000) (set! m (put m (nth ks i) i)) (set! i (+ i 1))) (length m))",
          "(let ((ks " + keys +
              ") (m (dict))) (let ((add (lambda (k) (set! m (put m k 1)) nil))) "
              "(loop 3 (let next ((l ks)) (if (null? l) nil (progn (add (first l)) (next (rest "
              "l))))))) "
              "(length m))",
          "(define m (dict)) (define ks " + keys +
              ") (loop 3 (let next ((l ks)) (if (null? l) nil "
              "(progn (set! m (put m (first l) 1)) (next (rest l)))))) (length m)",
          std::string("(let ((l (range 2000)) (i 0)) "
                      "(loop 6000 (progn (set! l (put l (modulo i 2000) 1)) (set! i (+ i 1)))) "
                      "(length l))"),
          std::string("(let next ((i 0) (l (range 2000))) "
                      "(if (< i 6000) (next (+ i 1) (put l (modulo i 2000) 0)) (length l)))")}) {
        lang_harness harness;
        EXPECT_EQ(harness.shown(program, how), "2000") << program;
    }
}

// The argument of the inner call was still there when the outer one looked who else sees the map.
TEST(storage, is_written_in_place_although_what_is_put_was_read_from_it) {
    schedule how;
    how.steps = 600'000; // a copy of the map for each round would be 2,000,000
    const std::string keys = "(map (lambda (i) (number->string i)) (range 2000))";
    const std::string many = "(let ((ks " + keys + ")) (let ((ks (append ks ks ks))) ";
    for (const std::string& program :
         {many + "(length (reduce (lambda (m k) (put m k (+ 1 (get m k 0)))) (dict) ks))))",
          many + "(let next ((l ks) (m (dict))) (if (null? l) (length m) "
                 "(next (rest l) (put m (first l) (+ 1 (get m (first l) 0))))))))",
          many + "(let next ((l ks) (m (dict))) (if (null? l) (length m) "
                 "(let ((n (+ 1 (* 2 (+ 3 (get m (first l) 0)))))) "
                 "(next (rest l) (put m (first l) n)))))))",
          many + "(let ((m (dict)) (l ks)) (while (not (null? l)) "
                 "(set! m (put m (first l) (+ 1 (get m (first l) 0)))) (set! l (rest l))) "
                 "(length m))))",
          "(define m (dict)) " + many +
              "(let next ((l ks)) (if (null? l) (length m) (progn "
              "(set! m (put m (first l) (+ 1 (get m (first l) 0)))) "
              "(next (rest l)))))))"}) {
        lang_harness harness;
        EXPECT_EQ(harness.shown(program, how), "2000") << program;
    }
}

TEST(storage, is_written_in_place_however_much_code_there_is) {
    schedule how;
    how.steps = 600'000; // a copy of the list for each round would be 2,000,000
    std::string much;
    for (int k = 0; k < 40; ++k) much += " (if (< i 0) (set! x (+ x 1)) nil)";
    std::string handlers;
    for (int k = 0; k < 30; ++k) handlers += "(try (set! x 0) (catch (e) nil)) ";
    std::string registers = "(let* (";
    for (int k = 0; k < 2000; ++k) registers += "(v" + std::to_string(k) + " 1) ";
    const std::string put = "(set! l (put l (modulo i 2000) 1)) (set! i (+ i 1))";
    const std::string begin = "(let ((l (range 2000)) (i 0) (x 0)) ";
    const std::string loop = "(while (< i 6000) ";
    for (const std::string& program :
         {begin + loop + put + much + ") (length l))",
          begin + handlers + loop + put + ") (length l))",
          begin + loop + put + " (try (set! x 0) (catch (e) nil))" + much + ") (length l))",
          begin + "(while (< x 60) (set! x (+ x 1)) (let ((n (+ i 100))) (while (< i n) " + put +
              "))) (length l))",
          registers + "(l (range 2000))) (let ((i 0)) " + loop + put + ") (length l)))"}) {
        lang_harness harness;
        EXPECT_EQ(harness.shown(program, how), "2000") << program.substr(0, 300);
    }
}

TEST(storage, of_a_variable_that_is_read_later_is_not_written) {
    lang_harness harness;
    // Round a loop, in a loop around it, in a handler.
    EXPECT_EQ(
        harness.shown("(let ((a (range 3)) (b nil) (i 0)) (while (< i 2) (set! b (put a 0 9)) "
                      "(set! i (+ i 1))) (list a b))"),
        "((0 1 2) (9 1 2))");
    EXPECT_EQ(harness.shown("(let ((a (range 3)) (b '(1))) (loop 2 (progn (loop 2 (set! b (put b 0 "
                            "8))) (set! b a))) (list a b))"),
              "((0 1 2) (0 1 2))");
    EXPECT_EQ(harness.shown("(let ((a (range 3)) (b '(1)) (c nil)) (loop 2 (progn (loop 2 (progn "
                            "(set! c (put b 0 8)) (set! b (put a 1 7)))) (loop 2 (set! c a)))) "
                            "(list a b c))"),
              "((0 1 2) (0 7 2) (0 1 2))");
    EXPECT_EQ(harness.shown("(let ((a (range 3))) (try (let ((b (put a 0 9))) (error \"x\")) "
                            "(catch (e) a)))"),
              "(0 1 2)");
    EXPECT_EQ(harness.shown("(let ((a (range 3)) (n 0)) (try (loop 3 (progn (set! n (+ n 1)) "
                            "(try (let ((b (put a 0 n))) (if (= n 12) (error \"x\") b)) "
                            "(finally (set! n (+ n 10)))))) (catch (e) (list a n))))"),
              "((0 1 2) 22)");
}

TEST(storage, of_a_list_that_loses_and_gains_elements_is_used_again) {
    schedule how;
    how.steps = 600'000; // a copy of the list for each round would be 1,500,000
    for (const std::string& program :
         {std::string("(let loop ((i 0) (l (range 2000))) "
                      "(if (< i 6000) (loop (+ i 1) (cons i (rest l))) (length l)))"),
          std::string("(let loop ((i 0) (l (range 2000))) "
                      "(if (< i 6000) (loop (+ i 1) (append (take l 1999) (list i))) (length l)))"),
          std::string("(let loop ((i 0) (l (range 2000))) "
                      "(if (< i 6000) (loop (+ i 1) (append (rest l) (list i))) (length l)))"),
          std::string("(let loop ((i 0) (l (range 2000))) (if (< i 6000) "
                      "(loop (+ i 1) (cons i (take (append (rest (rest l)) (list i)) 1999))) "
                      "(length l)))"),
          std::string("(let loop ((i 0) (l '())) (if (< i 6000) "
                      "(loop (+ i 1) (append (cons i l) (list i))) (- (length l) 10000)))"),
          std::string("(let loop ((i 0) (l '())) (if (< i 6000) "
                      "(loop (+ i 1) (cons i (append l (list i)))) (- (length l) 10000)))"),
          std::string("(let ((l (range 2000))) (for-each (lambda (i) (set! l (cons i (rest l)))) "
                      "(range 6000)) (length l))"),
          std::string("(let ((l (range 2000))) (for-each (lambda (i) (set! l (rest l)) "
                      "(set! l (cons i l))) (range 6000)) (length l))"),
          std::string("(define l (range 2000)) (loop 6000 (progn (set! l (cons 1 (rest l))) nil)) "
                      "(length l)"),
          std::string("(define l (range 2000)) (loop 6000 (progn (set! l (rest l)) "
                      "(set! l (cons 1 l)) nil)) (length l)")}) {
        lang_harness harness;
        EXPECT_EQ(harness.shown(program, how), "2000") << program;
    }
}

TEST(storage, of_a_list_that_grows_at_one_end_has_room_at_that_end) {
    const heap_owner memory(heap::create());
    const value plain = make_list(*memory, std::vector<value>(1000));
    EXPECT_EQ(room_for_push_front(plain).capacity, 2002U);
    EXPECT_EQ(room_for_push_front(plain).front, 1002U);
    EXPECT_EQ(room_to_append(plain, 1).capacity, 1501U);
    EXPECT_EQ(room_to_append(plain, 1).front, 0U);
    const value consed = list_push_front(*memory, value(), plain);
    EXPECT_EQ(room_to_append(consed, 1).front, 1001U);
    const value appended = list_concat(*memory, plain, std::vector<value>(1));
    EXPECT_EQ(room_for_push_front(appended).capacity, 2004U + 500U);
}

TEST(storage, of_a_variable_is_written_in_place_by_nested_puts) {
    schedule how;
    how.steps = 600'000; // a copy for each round would be 1,500,000
    const std::string keys = "(map (lambda (i) (number->string i)) (range 2000))";
    for (const std::string& program :
         {std::string(
              "(let ((l (range 2000))) (for-each (lambda (i) (set! l (put (put l i 1) i 2))) "
              "(append (range 2000) (range 2000) (range 2000))) (length l))"),
          std::string("(let ((l (range 2000)) (n 7)) (for-each (lambda (i) (set! n i) "
                      "(set! l (put (put (put l i 1) (+ i 1) 2) n (- i 1)))) "
                      "(append (range 1999) (range 1999) (range 1999))) (length l))"),
          "(let ((m (dict)) (ks " + keys +
              ")) (for-each (lambda (k) (set! m (put (put m k 1) \"7\" 2))) (append ks ks ks)) "
              "(length m))",
          std::string("(define l (range 2000)) (define (g i) (set! l (put (put l i 1) 0 2))) "
                      "(for-each g (append (range 2000) (range 2000) (range 2000))) (length l)")}) {
        lang_harness harness;
        EXPECT_EQ(harness.shown(program, how), "2000") << program;
    }
}

TEST(storage, of_a_variable_is_whole_when_a_nested_put_fails) {
    for (const std::string outer :
         {"50", "-1", "'x", "i", "(+ i 1)", "(+ 'x i)", "(first '())", "(error \"x\")", "1.0"}) {
        lang_harness harness;
        EXPECT_EQ(
            harness.shown("(let ((l (range 20))) (for-each (lambda (i) (try (set! l (put (put l 0 "
                          "9) " +
                          outer + " 2)) (catch (e) nil))) '(50)) (list (first l) (length l)))"),
            "(0 20)")
            << outer;
    }
    lang_harness harness;
    EXPECT_EQ(
        harness.shown("(let ((m (dict \"a\" 1 \"b\" 2))) (let ((f (lambda (k) (set! m (put (put m "
                      "\"a\" 9) k 2))))) (try (f 5) (catch (e) nil)) (f 'c) (f \"d\") (f 'b) m))"),
        "(dict \"a\" 9 \"b\" 2 \"c\" 2 \"d\" 2)");
    EXPECT_EQ(
        harness.shown("(let ((l (range 3))) (let ((f (lambda () (set! l (put (put l 0 9) 1 l))))) "
                      "(f) l))"),
        "(9 (0 1 2) 2)");
    EXPECT_EQ(harness.shown("(let ((l (range 3)) (old nil)) (let ((f (lambda () (set! old l) "
                            "(set! l (put (put l 0 9) 1 8))))) (f) (list old l)))"),
              "((0 1 2) (9 8 2))");
}

TEST(storage, that_others_see_is_not_written) {
    lang_harness harness;
    EXPECT_EQ(harness.shown("(let* ((a (dict \"k\" 1)) (b (put a \"k\" 2))) (list a b))"),
              "((dict \"k\" 1) (dict \"k\" 2))");
    EXPECT_EQ(harness.shown("(let* ((f (lambda (m) (put m \"k\" 2))) (a (dict \"k\" 1)) (b (f a))) "
                            "(list a b))"),
              "((dict \"k\" 1) (dict \"k\" 2))");
    EXPECT_EQ(harness.shown("(let* ((a '(1 2 3)) (b (put a 0 9)) (c (put (rest a) 0 8))) "
                            "(list a b c))"),
              "((1 2 3) (9 2 3) (8 3))");
    EXPECT_EQ(harness.shown("(let* ((a (range 20)) (b (cons 9 (rest (drop a 1)))) "
                            "(c (append (take a 18) '(7)))) (list (nth a 1) (first b) (first c) "
                            "(nth a 18) (last b) (last c) (length a)))"),
              "(1 9 0 18 19 7 20)");
    EXPECT_EQ(
        harness.shown("(let ((s (range 20)) (t nil)) (let ((f (lambda () (set! t s) "
                      "(set! s (cons 9 (rest s)))))) (f) (list (first t) (first s) (length t) "
                      "(length s))))"),
        "(0 9 20 20)");
    EXPECT_EQ(
        harness.shown("(let ((s (range 20))) (let ((f (lambda () (try (set! s (cons (error \"x\") "
                      "(rest s))) (catch (e) nil)) (try (set! s (put (cons 9 (rest s)) 50 1)) "
                      "(catch (e) nil))))) (f) (list (first s) (length s))))"),
        "(0 20)");
    EXPECT_EQ(harness.shown("(let ((m (dict \"k\" 1))) (try (put m 5 2) (catch (e) m)))"),
              "(dict \"k\" 1)");
    EXPECT_EQ(harness.shown("(let ((m (dict \"k\" 1))) (let ((n (try (error \"x\" (put m \"k\" 2)) "
                            "(catch (e) m)))) (list m n)))"),
              "((dict \"k\" 1) (dict \"k\" 1))");
}

} // namespace
} // namespace heddle::lang::testing

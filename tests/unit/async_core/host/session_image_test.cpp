// Sessions that share a loaded program.
#include "evaluation.hpp"

#include <heddle/host/session_image.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <malloc.h>

namespace heddle::host {
namespace {

/// Files in memory.
class kept_files final : public import_port {
public:
    coro::task<result<imported_source>> load(std::string path, std::string,
                                             coro::call_context) override {
        ++loads;
        const auto found = files.find(path);
        if (found == files.end()) co_return error(heddle::errc::not_found, "no file " + path);
        co_return imported_source{path, found->second};
    }
    std::map<std::string, std::string> files;
    int loads = 0;
};

coro::task<void> load_image(engine* engine, std::string text,
                            std::optional<result<std::shared_ptr<session_image>>>* out) {
    result<std::shared_ptr<session_image>> ended =
        co_await session_image::load(*engine, "program", std::move(text));
    out->emplace(std::move(ended));
}

coro::task<void> open_one(session_image* image,
                          std::optional<result<std::unique_ptr<session>>>* out) {
    result<std::unique_ptr<session>> ended = co_await image->open_session();
    out->emplace(std::move(ended));
}

coro::task<void> call(session* on, lang::value callee, std::vector<lang::value> arguments,
                      run_options options, evaluation_end* out) {
    result<lang::value> ended = co_await on->call(std::move(callee), std::move(arguments), options);
    out->emplace(std::move(ended));
}

class images : public ::testing::Test {
protected:
    images() {
        engine_parts parts;
        parts.imports = &files_;
        engine_ = std::make_unique<engine>(loop_, std::move(parts));
    }

    /// Runs until the loop runs dry.
    void spawn(coro::task<void> work) {
        context_.restart();
        coro::spawn(loop_, std::move(work),
                    [](std::exception_ptr thrown) { EXPECT_FALSE(thrown); });
        context_.run();
    }
    std::shared_ptr<session_image> image_of(const std::string& text) {
        std::optional<result<std::shared_ptr<session_image>>> ended;
        spawn(load_image(engine_.get(), text, &ended));
        if (!ended || !*ended) {
            ADD_FAILURE() << (ended ? ended->error().message() : "not ended");
            return nullptr;
        }
        return **std::move(ended);
    }
    std::string run(session& on, const std::string& text, run_options options = {}) {
        return shown(evaluate_to_the_end(context_, loop_, on, text, options));
    }
    evaluation_end call_main(session& on, std::vector<lang::value> arguments,
                             run_options options = {}) {
        evaluation_end ended;
        spawn(call(&on, on.global("main").value_or(lang::value()), std::move(arguments), options,
                   &ended));
        return ended;
    }

    boost::asio::io_context context_{1};
    coro::event_loop loop_{context_};
    kept_files files_;
    std::unique_ptr<engine> engine_;
};

TEST_F(images, let_sessions_call_what_was_loaded) {
    const auto image = image_of(
        "(define (square x) (* x x))"
        "(define (main xs) (map square xs))");
    ASSERT_TRUE(image->is_shareable()) << image->obstacle();
    for (int i = 0; i < 3; ++i) {
        const auto one = image->new_session().value();
        EXPECT_EQ(run(*one, "(main '(1 2 3))"), "(1 4 9)");
    }
}

TEST_F(images, allocate_nothing_for_a_new_session_in_a_heap_that_is_shared) {
    const auto image = image_of("(define words '(\"a\" b 3)) (define (main) words)");
    const auto one = image->new_session().value();
    EXPECT_EQ(one->memory().used(), 0U);
    EXPECT_EQ(one->memory().live_objects(), 0U);
    EXPECT_EQ(run(*one, "(main)"), "(\"a\" b 3)");
}

TEST_F(images, have_one_symbol_for_a_name) {
    const auto image = image_of(
        "(define kind 'red) (define table (dict 'red 1 \"blue\" 2))"
        "(define (is-red? x) (eq? x 'red))"
        "(define (of x) (case x ((red) 'stop) (else 'go)))");
    const auto one = image->new_session().value();
    EXPECT_EQ(run(*one,
                  "(list (eq? kind 'red) (is-red? 'red) (is-red? (string->symbol \"red\"))"
                  " (of 'red) (of 'new))"),
              "(true true true stop go)");
    // A name that only this session has, twice, and one that another session has as well.
    const auto other = image->new_session().value();
    EXPECT_EQ(run(*one, "(eq? 'only-here (string->symbol \"only-here\"))"), "true");
    EXPECT_EQ(run(*other, "(eq? 'only-here (string->symbol \"only-here\"))"), "true");
    EXPECT_TRUE(one->memory().symbol("red").identical(other->memory().symbol("red")));
    EXPECT_FALSE(one->memory().symbol("only-here").identical(other->memory().symbol("only-here")));
    EXPECT_EQ(run(*one, "(equal? (list 'red \"x\" 1) '(red \"x\" 1))"), "true");
}

TEST_F(images, have_maps_that_both_sides_find_keys_in) {
    std::string program = "(define table (dict";
    for (int i = 0; i < 40; ++i)
        program += " \"key" + std::to_string(i) + "\" " + std::to_string(i);
    const auto image = image_of(program + "))");
    const auto one = image->new_session().value();
    EXPECT_EQ(run(*one, "(get table (string-append \"key\" \"17\"))"), "17");
    EXPECT_EQ(run(*one,
                  "(let ((mine (put table \"new\" 1))) (list (length (keys mine))"
                  " (get mine \"key39\") (get mine \"new\") (length (keys table))))"),
              "(41 39 1 40)");
    EXPECT_EQ(run(*one, "(equal? table (merge (dict) table))"), "true");
    EXPECT_EQ(run(*image->new_session().value(), "(get table \"new\" 'none)"), "none");
}

/// Lists, strings and maps have room to grow: what grows in a session must not do so there.
TEST_F(images, never_hold_what_a_session_appends) {
    const auto image = image_of(
        "(define grown (append (append '() (list 1)) (list 2)))"
        "(define consed (cons 1 (cons 2 (cons 3 '()))))"
        "(define text (string-append (string-append \"a\" \"b\") \"c\"))"
        "(define table (put (put (dict) \"a\" 1) \"b\" 2))"
        "(define (nested x) (put (put table \"in\" x) \"in\" (list x x)))"
        "(define long (range 500))");
    ASSERT_TRUE(image->is_shareable()) << image->obstacle();
    const std::string all = "(list grown consed text table (length long))";
    const auto before = run(*image->new_session().value(), all);
    for (int i = 0; i < 3; ++i) {
        const auto one = image->new_session().value();
        EXPECT_EQ(run(*one,
                      "(let ((mine (list 'own \"object\")))"
                      " (list (append grown (list mine)) (cons mine consed)"
                      " (string-append text \"d\") (put table \"c\" mine) (nested mine)"
                      " (put grown 0 mine) (rest (cons mine (rest consed)))"
                      " (slice long 10 13) (take long 2) (substring text 1 2)))"),
                  "((1 2 (own \"object\")) ((own \"object\") 1 2 3) \"abcd\" "
                  "(dict \"a\" 1 \"b\" 2 \"c\" (own \"object\")) "
                  "(dict \"a\" 1 \"b\" 2 \"in\" ((own \"object\") (own \"object\"))) "
                  "((own \"object\") 2) (2 3) (10 11 12) (0 1) \"b\")");
        EXPECT_EQ(run(*one, all), before);
    }
}

TEST_F(images, keep_the_globals_of_sessions_apart) {
    const auto image = image_of(
        "(define total 10) (define (add n) (set! total (+ total n)) total)"
        "(define (unknown) (later))");
    ASSERT_TRUE(image->is_shareable()) << image->obstacle();
    const auto one = image->new_session().value();
    const auto other = image->new_session().value();
    EXPECT_EQ(run(*one, "(add 1) (add 1)"), "12");
    EXPECT_EQ(run(*other, "(add 5)"), "15");
    EXPECT_EQ(run(*one, "(define later (lambda () 'defined)) (list total (unknown))"),
              "(12 defined)");
    EXPECT_EQ(run(*other, "(unknown)"), "UnboundSymbolError: unbound symbol 'later'");
    EXPECT_EQ(run(*other, "(define (add n) 'mine) (list (add 1) total)"), "(mine 15)");
    EXPECT_EQ(run(*image->new_session().value(), "(add 0)"), "10");
}

TEST_F(images, keep_what_a_frozen_session_may_not_change) {
    const auto image = image_of("(define total 1) (define (add n) (set! total (+ total n)))");
    const auto one = image->new_session().value();
    one->freeze_globals();
    EXPECT_NE(run(*one, "(add 1)").find("'total' cannot be changed"), std::string::npos);
    EXPECT_NE(run(*one, "(eval '(define more 1))").find("'more' cannot be changed"),
              std::string::npos);
    EXPECT_EQ(run(*one, "total"), "1");
}

TEST_F(images, share_macros_and_keep_further_ones_apart) {
    const auto image = image_of("(defmacro twice (x) `(list ,x ,x)) (define (main x) (twice x))");
    ASSERT_TRUE(image->is_shareable()) << image->obstacle();
    const auto one = image->new_session().value();
    const auto other = image->new_session().value();
    EXPECT_EQ(run(*one, "(list (main 1) (twice 2) (eval '(twice 3)))"), "((1 1) (2 2) (3 3))");
    EXPECT_EQ(run(*one, "(defmacro twice (x) `(list 'changed ,x)) (twice 1)"), "(changed 1)");
    EXPECT_EQ(run(*one, "(define (twice x) 'function) (twice 1)"), "function");
    EXPECT_EQ(run(*other, "(twice 2)"), "(2 2)");
    EXPECT_EQ(run(*other, "(defmacro more () 1) (more)"), "1");
    EXPECT_EQ(run(*one, "(more)"), "UnboundSymbolError: unbound symbol 'more'");
}

TEST_F(images, let_sessions_evaluate_code_and_import) {
    files_.files["part.heddle"] = "(define (double x) (* 2 x)) 'part";
    files_.files["own.heddle"] = "(define (triple x) (* 3 (double x))) 'own";
    const auto image = image_of(
        "(import \"part.heddle\") (import std/lists)"
        "(define (main x) (double x))"
        "(define (run code) (eval (parse code)))"
        "(define (with-x x code) (eval (parse code)))");
    ASSERT_TRUE(image->is_shareable()) << image->obstacle();
    EXPECT_EQ(files_.loads, 1);
    const auto one = image->new_session().value();
    EXPECT_EQ(run(*one,
                  "(list (main 4) (run \"(double 5)\") (with-x 7 \"(+ x 1)\")"
                  " (sum '(1 2 3)))"),
              "(8 10 8 6)");
    EXPECT_EQ(files_.loads, 1);
    EXPECT_EQ(run(*one, "(import \"own.heddle\") (triple 2)"), "12");
    EXPECT_EQ(run(*one, "(import std/text) (import std/lists) 1"), "1");
    EXPECT_EQ(run(*image->new_session().value(), "(triple 2)"),
              "UnboundSymbolError: unbound symbol 'triple'");
}

TEST_F(images, show_the_places_of_errors_in_what_was_loaded) {
    const auto image = image_of("(define (broken x)\n  (+ x \"no\"))");
    const auto one = image->new_session().value();
    const evaluation_end ended = evaluate_to_the_end(context_, loop_, *one, "(list (broken 1))");
    ASSERT_TRUE(ended && !*ended);
    const std::string report = one->render(ended->error());
    EXPECT_NE(report.find("(+ x \"no\")"), std::string::npos) << report;
    EXPECT_NE(report.find("program:2:"), std::string::npos) << report;
    EXPECT_NE(report.find("in 'broken' (test:1:7)"), std::string::npos) << report;
    const evaluation_end own = evaluate_to_the_end(context_, loop_, *one, "(error \"here\")");
    ASSERT_TRUE(own && !*own);
    EXPECT_NE(one->render(own->error()).find("(error \"here\")"), std::string::npos);
}

TEST_F(images, bind_sandboxes_of_each_session_by_limits_of_its_own) {
    const auto image = image_of(
        "(define (guarded code)"
        " (sandbox ((steps 2000) (memory 200000)) (eval (parse code))))"
        "(define secret 42)");
    ASSERT_TRUE(image->is_shareable()) << image->obstacle();
    for (int i = 0; i < 3; ++i) {
        const auto one = image->new_session().value();
        EXPECT_EQ(run(*one, "(guarded \"(+ 1 2)\")"), "3");
        EXPECT_EQ(run(*one, "(guarded \"(loop 1000 (+ 1 2))\")"), "3");
        EXPECT_EQ(run(*one, "(guarded \"(while true 1)\")").substr(0, 11), "LimitError:");
        EXPECT_EQ(run(*one, "(guarded \"(range 100000)\")").substr(0, 11), "LimitError:");
        EXPECT_EQ(run(*one, "(guarded \"secret\")").substr(0, 16), "PermissionError:");
    }
}

TEST_F(images, count_only_what_a_session_makes_in_its_limit) {
    const auto image = image_of("(define big (range 200000)) (define (main n) (length (range n)))");
    run_options small;
    small.memory_limit = 1024 * 1024;
    const auto one = image->new_session().value();
    EXPECT_EQ(run(*one, "(+ (length big) (main 1000))", small), "201000");
    EXPECT_EQ(run(*one, "(main 500000)", small).substr(0, 11), "LimitError:");
    // Parts of what is shared are not copied to where nothing counts them.
    EXPECT_EQ(run(*one, "(length (map (lambda (i) (slice big i (+ i 10))) (range 100000)))", small)
                  .substr(0, 11),
              "LimitError:");
    EXPECT_EQ(run(*one, "(main 1000)", small), "1000");
}

TEST_F(images, free_the_garbage_of_a_session_with_it) {
    const auto image = image_of(
        "(define (knot) (let ((f nil)) (set! f (lambda () f)) f))"
        "(define (main n) (for-each (lambda (i) (knot)) (range n)))");
    ASSERT_TRUE(image->is_shareable()) << image->obstacle();
    const auto one = image->new_session().value();
    EXPECT_EQ(run(*one, "(main 30000)"), "nil");
    EXPECT_LT(one->memory().live_cells(), 30'000U) << "they are searched for as ever";
    one->memory().collect_cycles();
    EXPECT_EQ(one->memory().live_cells(), 0U);
}

/// The search of a session must not look at all that was loaded.
TEST_F(images, do_not_look_through_what_is_shared_for_cycles) {
    const auto image = image_of(
        "(define big (map (lambda (i) (list i (list i))) (range 20000)))"
        "(define (main) (let ((f nil)) (set! f (list big (lambda () f)))"
        " (lambda () (set! f 1))))");
    ASSERT_TRUE(image->is_shareable()) << image->obstacle();
    const auto one = image->new_session().value();
    EXPECT_EQ(run(*one, "(define kept (main)) 1"), "1");
    lang::heap& memory = one->memory();
    memory.begin_search();
    memory.continue_search(1000);
    EXPECT_EQ(memory.search(), nullptr) << "20,000 lists are more than 1,000 units";
}

TEST_F(images, may_go_before_what_their_sessions_have_returned) {
    auto image = image_of(
        "(define table (dict \"a\" (list 1 2 'three) \"b\" \"text\"))"
        "(define (main x) (list table x (lambda () x) 'three 'four))");
    auto one = image->new_session().value();
    auto ended = call_main(*one, {lang::make_string(one->memory(), "own")});
    ASSERT_TRUE(ended && *ended);
    lang::value kept = **ended;
    ended.reset();
    image.reset();
    EXPECT_EQ(run(*one, "(length (main 1))"), "5") << "a session keeps its image";
    one.reset();
    engine_.reset();
    EXPECT_EQ(lang::print_value(kept),
              "((dict \"a\" (1 2 three) \"b\" \"text\") \"own\" #<function> three four)");
    lang::value part = lang::list_items(kept)[0];
    kept = lang::value();
    EXPECT_EQ(lang::value_to_json(part).value(), R"({"a":[1,2,"three"],"b":"text"})");
}

TEST_F(images, serve_thousands_of_sessions_at_once) {
    const auto image = image_of(
        "(define base '(1 2 3)) (define count 0)"
        "(define (main x) (set! count (+ count x)) (append base (list x)))");
    std::vector<std::unique_ptr<session>> all;
    std::vector<lang::value> results;
    for (int i = 0; i < 3000; ++i) {
        all.push_back(image->new_session().value());
        auto ended = call_main(*all.back(), {lang::value::integer(i)});
        ASSERT_TRUE(ended && *ended);
        results.push_back(**ended);
    }
    for (std::size_t i = 0; i < all.size(); i += 500) {
        EXPECT_EQ(run(*all[i], "count"), std::to_string(i));
        EXPECT_EQ(lang::print_value(results[i]), "(1 2 3 " + std::to_string(i) + ")");
    }
    // In an order that is not that of their making.
    for (std::size_t i = 0; i < all.size(); i += 2) all[i].reset();
    EXPECT_EQ(run(*all[1], "(main 1)"), "(1 2 3 1)");
    all.clear();
    EXPECT_EQ(lang::print_value(results[2999]), "(1 2 3 2999)");
}

TEST_F(images, run_sessions_side_by_side) {
    const auto image = image_of(
        "(define (main x) (reduce + 0 (map (lambda (i) (sleep 0.001) (* i x))"
        " (range 10))))");
    std::vector<std::unique_ptr<session>> all;
    std::vector<evaluation_end> ends(50);
    context_.restart();
    for (std::size_t i = 0; i < ends.size(); ++i) {
        all.push_back(image->new_session().value());
        coro::spawn(loop_,
                    call(all[i].get(), *all[i]->global("main"),
                         {lang::value::integer(static_cast<std::int64_t>(i))}, {}, &ends[i]),
                    [](std::exception_ptr thrown) { EXPECT_FALSE(thrown); });
    }
    context_.run();
    for (std::size_t i = 0; i < ends.size(); ++i) EXPECT_EQ(shown(ends[i]), std::to_string(45 * i));
}

TEST_F(images, are_made_of_sessions_that_have_an_image) {
    auto first = image_of("(define (one) 1) (define both 'first)");
    auto loaded = first->new_session().value();
    EXPECT_EQ(run(*loaded, "(define (two) (+ 1 (one))) (set! both 'second)"), "second");
    const auto second = session_image::make(std::move(loaded));
    ASSERT_TRUE(second->is_shareable()) << second->obstacle();
    const auto other = first->new_session().value();
    first.reset();
    const auto one = second->new_session().value();
    EXPECT_EQ(run(*one, "(define (three) (+ (one) (two))) (list (three) both 'first)"),
              "(3 second first)");
    EXPECT_EQ(run(*other, "both"), "first");
}

struct stateful {
    const char* program;
    const char* obstacle;
};

class stateful_programs : public images, public ::testing::WithParamInterface<stateful> {};

TEST_P(stateful_programs, are_loaded_again_for_each_session) {
    const auto image = image_of(GetParam().program);
    ASSERT_NE(image, nullptr);
    EXPECT_FALSE(image->is_shareable());
    EXPECT_NE(image->obstacle().find(GetParam().obstacle), std::string::npos) << image->obstacle();
    EXPECT_FALSE(image->new_session());
    for (int i = 0; i < 2; ++i) {
        std::optional<result<std::unique_ptr<session>>> opened;
        spawn(open_one(image.get(), &opened));
        ASSERT_TRUE(opened && *opened);
        EXPECT_EQ(run(***opened, "(list (main) (main))"), "(1 2)") << "as in the first session";
    }
}

INSTANTIATE_TEST_SUITE_P(
    images, stateful_programs,
    ::testing::Values(
        stateful{"(define main (let ((n 0)) (lambda () (set! n (+ n 1)))))", "closed over"},
        stateful{"(define all (list (let ((n 0)) (lambda () (set! n (+ n 1))))))"
                 "(define (main) ((first all)))",
                 "closed over"},
        stateful{"(define table (dict \"f\" (let ((n 0)) (lambda () (set! n (+ n 1))))))"
                 "(define (main) ((get table \"f\")))",
                 "closed over"},
        stateful{"(define s (semaphore 1)) (define count 0)"
                 "(define (main) (with-permit s (set! count (+ count 1))))",
                 "semaphore"},
        stateful{"(define f (spawn 7)) (await f) (define count 0)"
                 "(define (main) (set! count (+ count 1)))",
                 "future"},
        stateful{"(define count 0) (define kept nil) (define (keep f) (set! kept f) nil)"
                 "(sandbox ((allow (keep)) (steps 100000)) (keep (lambda () 1)))"
                 "(define (main) (set! count (+ count (kept))))",
                 "sandbox"}));

TEST_F(images, take_nothing_of_a_session_that_could_not_be_loaded) {
    std::optional<result<std::shared_ptr<session_image>>> ended;
    spawn(load_image(engine_.get(), "(define x (", &ended));
    ASSERT_TRUE(ended && !*ended);
    EXPECT_EQ(lang::error_kind_name(ended->error()), "SexpSyntaxError");
}

TEST_F(images, make_sessions_that_take_little_memory) {
    const auto image = image_of("(import std/lists) (define (main x) (list x x))");
    constexpr std::size_t count = 500;
    std::vector<std::unique_ptr<session>> all(count);
    (void)image->new_session();
    const auto in_use = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
    const std::size_t before = in_use();
    for (auto& each : all) each = image->new_session().value();
    EXPECT_LT((in_use() - before) / count, 4096U);
}

/// The prelude is one: sessions share it.
TEST_F(images, are_what_sessions_without_a_program_begin_with) {
    const auto one = engine_->new_session().value();
    const auto other = engine_->new_session().value();
    EXPECT_EQ(one->memory().used(), 0U);
    EXPECT_EQ(run(*one, "(define (map f xs) 'mine) (list (map 1 2) (filter (lambda (x) x) '(1)))"),
              "(mine (1))");
    EXPECT_EQ(run(*other, "(map (lambda (x) x) '(1))"), "(1)");
    EXPECT_EQ(run(*one, "(set! filter 1)"),
              "SexpEvaluationError: set!: 'filter' cannot be assigned");
}

} // namespace
} // namespace heddle::host

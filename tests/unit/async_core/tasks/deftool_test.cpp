#include "running_programs.hpp"
#include "tools_testing.hpp"

#include <heddle/lang/check.hpp>
#include <heddle/tasks/tools/definition_check.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace heddle::tasks {
namespace {

using testing::harness;
using ::testing::HasSubstr;
using testing::scripted_llm;
using testing::tool_harness;

constexpr auto weigh =
    "(deftool weigh (params (thing string \"What\") (grams optional integer"
    " \"How much\" (default 5)) (note optional)) (description \"Weighs a thing\")"
    " (list thing grams note))";

TEST(deftool, is_called_by_clauses) {
    harness w;
    EXPECT_EQ(w.json(std::string(weigh) + "(weigh (grams 7) (thing \"ink\"))"),
              R"(["ink",7,null])");
    EXPECT_EQ(w.json("(weigh (thing \"ink\") (note '(1 2)))"), R"(["ink",5,[1,2]])");
    EXPECT_EQ(w.json("(call-atomic-task 'weigh (thing \"ink\"))"), R"(["ink",5,null])");
    EXPECT_EQ(w.json(std::string(weigh)), R"("weigh")");
    EXPECT_EQ(w.json("(type-of weigh)"), R"("tool")");
}

TEST(deftool, clauses_are_checked) {
    harness w;
    w.json(weigh);
    EXPECT_THAT(w.json("(weigh (thin \"x\"))"), HasSubstr("there is no clause 'thin'"));
    EXPECT_THAT(w.json("(weigh)"), HasSubstr("needs the clause thing"));
    EXPECT_THAT(w.json("(weigh (thing 7))"), HasSubstr("thing"));
    EXPECT_THAT(w.json("(weigh (thing \"x\") (grams \"much\"))"), HasSubstr("grams"));
    EXPECT_THAT(w.json("(weigh \"x\")"), HasSubstr("(name expression)"));
}

TEST(deftool, closes_over_its_scope) {
    harness w;
    EXPECT_EQ(w.json("(define (make start)"
                     "  (bind sum start)"
                     "  (deftool add (params (n integer)) (description \"Adds\")"
                     "    (set! sum (+ sum n)) sum)"
                     "  (add (n 1)) (add (n 10)))"
                     "(list (make 100) (make 1000))"),
              "[111,1011]");
}

TEST(deftool, body_may_bind_without_reaching_the_outside) {
    harness w;
    EXPECT_EQ(w.json("(define (f) (deftool t (params) (description \"d\") (bind x 2) (* x 3))"
                     "  (bind x 10) (list (t) x))"
                     "(f)"),
              "[6,10]");
}

TEST(deftool, calls_itself_and_is_called_before_its_definition) {
    harness w;
    EXPECT_EQ(w.json("(define (later n) (down (n n)))"
                     "(deftool down (params (n integer)) (description \"Counts\")"
                     "  (if (= n 0) 'end (down (n (- n 1)))))"
                     "(later 5)"),
              R"("end")");
    EXPECT_EQ(w.json("(define (f) (deftool inner (params (n integer)) (description \"d\")"
                     "  (if (= n 0) 0 (+ n (inner (n (- n 1)))))) (inner (n 4))) (f)"),
              "10");
}

TEST(deftool, counts_towards_the_memory) {
    harness w;
    lang::heap& memory = w.session->memory();
    const auto used_for = [&](const std::string& params) {
        const std::size_t before = memory.used();
        w.json("(define kept (map (lambda (i) (deftool t (params " + params +
               ") (description \"d\") i) t) (range 100))) nil");
        return memory.used() - before;
    };
    EXPECT_GE(used_for("(a string)"), 100U * 4000U);
    EXPECT_GE(used_for("(a string) (b string) (c string) (d string)"), 100U * 5000U);
}

TEST(deftool, in_sight_of_its_own_body_is_freed) {
    harness w;
    const std::string define =
        "(define (f) (deftool inner (params (n integer)) (description \"d\")"
        "  (if (= n 0) 0 (inner (n (- n 1)))))"
        "  (inner (n 2)))";
    const std::string again = "(loop 50 (f))";
    w.json(define + again);
    lang::heap& memory = w.session->memory();
    memory.collect_cycles();
    const std::size_t before = memory.live_objects();
    for (int i = 0; i < 20; ++i) w.json(again);
    memory.collect_cycles();
    EXPECT_LE(memory.live_objects(),
              before + 200); // the text of 20 programs is new, not 1000 tools
}

TEST(deftool, endless_nesting_is_a_limit) {
    harness w;
    EXPECT_EQ(w.json("(deftool again (params) (description \"d\") (again)) (again)"),
              "LimitError: tools call each other more than 100 levels deep");
    EXPECT_EQ(w.json("(try (again) (catch (e) 'caught))"), R"("caught")");
}

TEST(deftool, body_that_waits_for_its_caller_in_a_circle_is_an_error) {
    host::run_options options;
    options.until = loopback::runner::in(std::chrono::seconds(20));
    const auto run = [&](const std::string& call) {
        harness w;
        return w.json(
            "(bind g nil)"
            "(deftool ask (params) (description \"d\") (await g))"
            "(bind f (spawn " +
                call +
                "))"
                "(set! g (spawn (progn (sleep 0.05) (await f))))"
                "(await g)",
            options);
    };
    EXPECT_THAT(run("(progn (sleep 0.01) (ask))"), HasSubstr("await: this would wait for ever"));
    EXPECT_THAT(run("(race (progn (sleep 0.01) (ask)) (progn (sleep 0.01) (await g)))"),
                HasSubstr("await: this would wait for ever"));
    EXPECT_EQ(run("(race (progn (sleep 0.01) (ask)) (progn (sleep 0.1) 'other))"), R"("other")");
    EXPECT_EQ(run("(progn (sleep 0.01) (timeout 0.1 (ask) 'late))"), R"("late")");
}

TEST(deftool, endless_body_is_stopped) {
    harness w;
    w.json("(deftool spin (params) (description \"d\") (while true 1))");
    EXPECT_THAT(w.json("(timeout 0.05 (spin))"), HasSubstr("TimeoutError"));
    EXPECT_THAT(w.json("(with ((timeout 0.05)) (spin))"), HasSubstr("TimeoutError"));
    host::run_options options;
    options.until = loopback::runner::in(std::chrono::milliseconds(50));
    EXPECT_THAT(w.json("(spin)", options), HasSubstr("TimeoutError"));
    options = {};
    options.step_limit = 100'000;
    EXPECT_THAT(w.json("(spin)", options), HasSubstr("LimitError"));
}

TEST(deftool, cancelled_call_runs_its_cleanups) {
    harness w;
    EXPECT_EQ(w.json("(bind seen '())"
                     "(deftool slow (params) (description \"d\")"
                     "  (try (sleep 60) (finally (set! seen (cons 'cleaned seen)))))"
                     "(try (timeout 0.02 (slow)) (catch (e) (set! seen (cons (get e 'kind) seen))))"
                     "seen"),
              R"(["TimeoutError","cleaned"])");
    EXPECT_EQ(w.json("(set! seen '()) (race (slow) (sleep 0.02)) seen"), R"(["cleaned"])");
}

TEST(deftool, error_names_the_tool_and_the_line) {
    harness w;
    const auto ended =
        w.run("(deftool bad (params) (description \"d\")\n  (error \"no\" 7))\n(bad)");
    ASSERT_FALSE(ended);
    EXPECT_EQ(lang::error_kind_name(ended.error()), "UserError");
    const std::string shown = w.session->render(ended.error());
    EXPECT_THAT(shown, HasSubstr(":2:"));
    EXPECT_THAT(shown, HasSubstr("in tool bad"));
    EXPECT_EQ(w.json("(try (bad) (catch (e) (get e 'data)))"), "[7]");
}

TEST(deftool, branches_inside_and_outside_do_not_starve) {
    harness w;
    EXPECT_EQ(w.json("(deftool spread (params (n integer)) (description \"d\")"
                     "  (reduce + 0 (map (lambda (i) (sleep 0.001) (* i n)) '(1 2 3))))"
                     "(with ((concurrency 1)) (map (lambda (n) (spread (n n))) '(1 2 3)))"),
              "[6,12,18]");
    EXPECT_EQ(w.json("(length (map (lambda (n) (spread (n n))) (range 300)))"), "300");
}

// Each body had a bound of its own.
TEST(deftool, bodies_share_the_bound_of_what_calls_them) {
    for (const std::string body :
         {"(length (map (lambda (i) (ask)) (range 4)))", "(progn (ask) (ask) 4)",
          "(progn (await (spawn (ask))) 4)", "(let ((f (spawn (ask)))) (ask) (await f) 4)",
          "(first (list 4 (map (lambda (i) (nested)) (range 3))))"}) {
        for (const int bound : {1, 2, 5}) {
            harness w;
            w.llm.delay = std::chrono::milliseconds(1);
            w.llm.say("x");
            const bool spawns = body.find("spawn") != std::string::npos; // futures are not bounded
            EXPECT_EQ(w.json("(defatom ask (params) (instructions \"i\"))"
                             "(deftool nested (params) (description \"d\")"
                             "  (length (map (lambda (i) (ask)) (range 3))))"
                             "(deftool work (params) (description \"d\") " +
                             body + ") (with ((concurrency " + std::to_string(bound) +
                             ")) (reduce + 0 (map (lambda (n) (work) (ask) (work)) (range 10))))"),
                      "40")
                << body;
            if (!spawns) {
                EXPECT_LE(w.llm.max_at_once, bound) << body;
            }
        }
    }
}

TEST(deftool, bodies_that_a_model_calls_share_the_bound_of_its_task) {
    for (const std::string body : {"(length (map (lambda (i) (ask)) (range 4)))", "(ask)", "1"}) {
        for (const int bound : {1, 3}) {
            harness w;
            w.llm.delay = std::chrono::milliseconds(1);
            w.llm.replies.push_back([](const ports::chat_request& request) {
                ports::chat_response response;
                if (request.tools.empty() || request.messages.size() > 1) {
                    response.text = "done";
                    return result<ports::chat_response>(response);
                }
                response.finish = ports::finish_reason::tool_calls;
                for (const char* id : {"a", "b", "c", "d", "e"})
                    response.tool_calls.push_back({id, "work", "{}"});
                return result<ports::chat_response>(response);
            });
            const std::string defined =
                "(defatom ask (params) (instructions \"i\"))"
                "(deftool work (params) (description \"d\") " +
                body +
                ") (defatom plan (params) (instructions \"p\") (tools "
                "(work)))(with ((concurrency " +
                std::to_string(bound) + ")) ";
            EXPECT_EQ(w.json(defined + "(map (lambda (n) (content (plan))) (range 4)))"),
                      R"(["done","done","done","done"])");
            EXPECT_LE(w.llm.max_at_once, bound) << body;
            EXPECT_EQ(w.json(defined + "(content (plan)))"), R"("done")");
            EXPECT_LE(w.llm.max_at_once, bound) << body;
        }
    }
}

TEST(deftool, error_in_a_branch_ends_the_other_calls) {
    harness w;
    EXPECT_THAT(w.json("(deftool some (params (n integer)) (description \"d\")"
                       "  (if (= n 1) (error \"one\") (sleep 60)))"
                       "(map (lambda (n) (some (n n))) '(0 1 2))"),
                HasSubstr("UserError: one"));
}

TEST(deftool, sandbox_reaches_an_allowed_tool_which_has_rights_of_its_own) {
    tool_harness w;
    w.put("a.txt", "alpha");
    w.json("(deftool peek (params) (description \"d\") (read-file \"a.txt\"))");
    EXPECT_THAT(w.json("(sandbox () (peek))"), HasSubstr("PermissionError"));
    EXPECT_EQ(w.json("(sandbox ((allow (peek))) (peek))"), R"("alpha")");
    EXPECT_THAT(w.json("(sandbox ((allow (peek))) (deftool x (params) (description \"d\") 1))"),
                HasSubstr("a sandbox cannot define tools"));
    // A function of the sandbox does not get out by way of a tool.
    w.json("(deftool call (params (f any)) (description \"d\") (f))");
    EXPECT_THAT(w.json("(sandbox ((allow (call))) (call (f (lambda () (read-file \"a.txt\")))))"),
                HasSubstr("SexpEvaluationError: call"));
}

TEST(deftool, works_on_the_limits_of_the_sandbox_that_calls_it) {
    tool_harness w;
    w.put("a.txt", "alpha");
    w.json(
        "(deftool build (params (n integer)) (description \"d\")"
        "  (let next ((i 0) (xs (list))) (if (< i n) (next (+ i 1) (cons i xs)) (length xs))))"
        "(deftool fetch (params (n integer)) (description \"d\")"
        "  (map (lambda (i) (read-file \"a.txt\")) (range n)) (sleep 0) n)"
        "(deftool again (params (n integer)) (description \"d\")"
        "  (try (sandbox () (build (n n))) (catch (e) 0)) (try (build (n n)) (catch (e) 0)))"
        "(deftool fetch-again (params (n integer)) (description \"d\") (fetch (n n)))");
    const auto run = [&](const std::string& limits, const std::string& code) {
        return w.json("(sandbox ((allow (build fetch again fetch-again)) " + limits + ") (eval '" +
                      code + "))");
    };
    EXPECT_EQ(run("(steps 100000) (memory 1000000)", "(build (n 1000))"), "1000");
    for (const char* tool : {"build", "again"}) {
        const std::string call = "(" + std::string(tool) + " (n 300000))";
        EXPECT_THAT(run("(steps 1000)", call),
                    HasSubstr("LimitError: the sandbox allows 1000 steps"));
        EXPECT_THAT(run("(memory 1000000)", call),
                    HasSubstr("LimitError: the sandbox allows 1000000 bytes of memory"));
        EXPECT_THAT(run("(steps 1000)", "(try " + call + " (catch (e) 1))"),
                    HasSubstr("LimitError: the sandbox allows 1000 steps"));
    }
    // The call of the tool counts, and what it calls.
    EXPECT_EQ(run("(calls 4)", "(fetch (n 3))"), "3");
    EXPECT_THAT(run("(calls 3)", "(fetch (n 3))"), HasSubstr("the sandbox allows 3 calls"));
    EXPECT_EQ(run("(calls 5)", "(fetch-again (n 3))"), "3");
    EXPECT_THAT(run("(calls 4)", "(fetch-again (n 3))"), HasSubstr("the sandbox allows 4 calls"));
    // A function that the sandbox made counts once, wherever it is called.
    w.json(
        "(define kept nil) (define (keep f) (set! kept f) 1)"
        "(deftool call-kept (params (n integer)) (description \"d\") (kept n))");
    const auto kept = [&](const std::string& steps) {
        return w.json("(sandbox ((allow (keep call-kept)) (steps " + steps +
                      ")) (eval '(progn (keep (lambda (n) (loop n 1) n)) (call-kept (n 1000)))))");
    };
    EXPECT_EQ(kept("1500"), "1000");
    EXPECT_THAT(kept("1000"), HasSubstr("the sandbox allows 1000 steps"));
    EXPECT_EQ(w.json("(build (n 300000))"), "300000");
}

TEST(deftool, wrong_definitions_are_named) {
    harness w;
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"(deftool)", "expects a name"},
        {"(deftool 7)", "deftool"},
        {"(deftool t)", "(params …) and (description"},
        {"(deftool t (params))", "(params …) and (description"},
        {"(deftool t (description \"d\") 1)", "(params …) and (description"},
        {"(deftool t (params) (description \"d\"))", "has no body"},
        {"(deftool t (params) (description 7) 1)", "description must be one non-empty string"},
        {"(deftool t (params) (description \"\") 1)", "description must be one non-empty string"},
        {"(deftool t (params 7) (description \"d\") 1)", "a parameter is a name"},
        {"(deftool t (params a &rest b) (description \"d\") 1)", "a parameter is a name"},
        {"(deftool t (params a a) (description \"d\") 1)", "twice"},
        {"(deftool t (params (a strin)) (description \"d\") 1)", "unknown type 'strin'"},
        {"(deftool t (params (a string 7)) (description \"d\") 1)", "cannot be read"},
        {"(deftool t (params (a string (default (f)))) (description \"d\") 1)", "literal"},
    };
    for (const auto& [text, part] : wrong) {
        EXPECT_THAT(w.json(text), HasSubstr(part)) << text;
    }
}

TEST(deftool, a_wrong_argument_is_an_input_and_no_answer) {
    harness w;
    const std::string reported =
        w.json("(deftool bad (params (n integer)) (description \"d\") n) (bad (n \"x\"))");
    EXPECT_THAT(
        reported,
        HasSubstr("bad: its input does not match the schema: 'n' must be an integer, not the "
                  "string"));
    EXPECT_EQ(reported.find("answer"), std::string::npos) << reported;
}

TEST(deftool, conflicts_of_names_are_warned_of) {
    harness w;
    w.json(
        "(deftool one (params) (description \"d\") 1) (deftool one (params) (description \"d\") "
        "2)");
    EXPECT_TRUE(w.log.said("tool one replaces an earlier one"));
    EXPECT_EQ(w.json("(one)"), "2");
    w.json("(deftool string-trim (params) (description \"d\") 1)");
    EXPECT_TRUE(w.log.said("tool string-trim hides the builtin"));
    w.json("(defatom ask (params) (instructions \"x\"))");
    w.json("(define (f) (deftool ask (params) (description \"d\") 1) 2) (f)");
    EXPECT_TRUE(w.log.said("tool ask has the name of a task"));
}

TEST(deftool, is_seen_by_models_as_a_schema) {
    harness w;
    w.json(
        "(deftool t (params (a string \"An a\") (b optional integer (default 3)) (c number[])"
        " (d optional object)) (description \"Does t\") 1)");
    const auto* tasks = dynamic_cast<const session_tasks*>(w.session->operators());
    ASSERT_NE(tasks, nullptr);
    const auto found = tasks->tools().find("t");
    ASSERT_TRUE(found);
    const auto* callable = dynamic_cast<const tool_callable*>(lang::host_of(found->callable));
    ASSERT_NE(callable, nullptr);
    const tool& declared = callable->get()->declared;
    EXPECT_EQ(declared.description, "Does t");
    EXPECT_EQ(boost::json::parse(declared.input_schema), boost::json::parse(R"({
        "type": "object", "properties": {
            "a": {"type": "string", "description": "An a"},
            "b": {"type": "integer", "default": 3},
            "c": {"type": "array", "items": {"type": "number"}},
            "d": {"type": "object"}},
        "required": ["a", "c"], "additionalProperties": false})"));
}

TEST(deftool, runs_programs_that_end_with_its_call) {
    tool_harness w;
    EXPECT_THAT(w.json("(deftool wait (params) (description \"d\")"
                       "  (system:run_script (command \"sleep 60\")))"
                       "(timeout 0.1 (wait))"),
                HasSubstr("TimeoutError"));
    EXPECT_FALSE(heddle::testing::programs_are_running());
}

TEST(deftool, help_shows_its_parameters) {
    harness w;
    w.json(weigh);
    const std::string shown = w.json("(help 'weigh)");
    EXPECT_THAT(shown, HasSubstr("Weighs a thing"));
    EXPECT_THAT(shown, HasSubstr("thing"));
    EXPECT_THAT(w.json("(help 'deftool)"), HasSubstr("Defines a tool"));
}

/// The model's next response: calls of tools, {name, arguments} each.
void call_tools(scripted_llm& llm, std::vector<std::pair<std::string, std::string>> wanted) {
    llm.replies.push_back([=](const ports::chat_request&) -> result<ports::chat_response> {
        ports::chat_response response;
        response.finish = ports::finish_reason::tool_calls;
        for (const auto& [name, arguments] : wanted) {
            response.tool_calls.push_back(
                {"id" + std::to_string(response.tool_calls.size()), name, arguments});
        }
        return response;
    });
}

TEST(deftool, is_called_by_models_of_tasks_that_list_it) {
    harness w;
    call_tools(w.llm, {{"price", R"({"item": "ink"})"},
                       {"price", R"({"item": "gold"})"},
                       {"price", R"({"thing": 1})"}});
    w.llm.say("done");
    EXPECT_EQ(
        w.json("(bind asked '())"
               "(deftool price (params (item string \"What\")) (description \"Returns a price\")"
               "  (sleep 0.001) (set! asked (append asked (list item)))"
               "  (if (string=? item \"ink\") (dict \"eur\" 3) (error \"not for sale\" item)))"
               "(defatom shop (params) (instructions \"buy\") (tools (price)))"
               "(list (content (shop)) (sort asked))"),
        R"(["done",["gold","ink"]])");
    ASSERT_EQ(w.llm.asked.size(), 2U);
    ASSERT_EQ(w.llm.asked[0].tools.size(), 1U);
    EXPECT_EQ(w.llm.asked[0].tools[0].name, "price");
    EXPECT_EQ(w.llm.asked[0].tools[0].description, "Returns a price");
    std::string reported;
    int failed = 0;
    for (const ports::chat_message& each : w.llm.asked[1].messages) {
        if (each.role != ports::chat_role::tool) continue;
        reported += each.text + "\n";
        failed += each.tool_failed ? 1 : 0;
    }
    EXPECT_THAT(reported, HasSubstr(R"("eur":3)"));
    EXPECT_THAT(reported, HasSubstr("not for sale"));
    EXPECT_THAT(reported, HasSubstr("thing"));
    EXPECT_EQ(failed, 2);
}

TEST(deftool, called_by_a_model_ends_with_the_task) {
    harness w;
    call_tools(w.llm, {{"wait", "{}"}});
    EXPECT_EQ(w.json("(bind seen '())"
                     "(deftool wait (params) (description \"d\")"
                     "  (try (sleep 60) (finally (set! seen (cons 'cleaned seen)))))"
                     "(defatom t (params) (instructions \"x\") (tools (wait)) (timeout 0.05))"
                     "(list (get-in (t) '(notes error reason)) seen)"),
              R"(["execution_timeout",["cleaned"]])");
}

TEST(run_script, is_called_by_models_under_a_name_that_services_allow) {
    tool_harness w;
    call_tools(w.llm, {{"system_run_script", R"({"command": "echo $((6 * 7)) >made; cat made"})"}});
    w.llm.say("done");
    EXPECT_EQ(w.json("(defatom t (params) (instructions \"x\") (tools (system:run_script)))"
                     "(content (t))"),
              R"("done")");
    EXPECT_EQ(w.get("made"), "42\n");
    ASSERT_EQ(w.llm.asked.size(), 2U);
    EXPECT_THAT(w.llm.asked[1].messages.back().text, HasSubstr(R"("stdout":"42\n")"));
}

std::vector<lang::problem> check(const std::string& text) {
    harness w;
    lang::realm& realm = w.session->realm();
    const std::uint32_t position = realm.sources().add("test", text);
    const definition_check definitions;
    lang::check_options options;
    options.tasks = &definitions;
    return lang::check_program(realm, text, position, options);
}

TEST(deftool, is_checked_without_running) {
    EXPECT_TRUE(check(std::string(weigh) + "(weigh (thing \"x\"))").empty());
    EXPECT_TRUE(check("(define (f) (deftool t (params) (description \"d\") 1) 2) (f)").empty());
    const auto only = [](const std::string& text) {
        const auto found = check(text);
        return found.size() == 1 ? std::string(found[0].code) + ": " + found[0].message
                                 : std::to_string(found.size()) + " problems";
    };
    EXPECT_EQ(only(std::string(weigh) + "(weigh (thin \"x\") (thing \"x\"))"),
              "task-inputs: the tool 'weigh' has no input 'thin'");
    EXPECT_EQ(only(std::string(weigh) + "(weigh (thing \"x\") (timeout 3))"),
              "task-inputs: the tool 'weigh' has no input 'timeout'");
    EXPECT_EQ(only(std::string(weigh) + "(weigh)"), "task-inputs: the tool 'weigh' needs 'thing'");
    EXPECT_THAT(only("(deftool t (params (a strin)) (description \"d\") a)"),
                HasSubstr("bad-tool: deftool t: params declares 'a' with the unknown type"));
    EXPECT_THAT(only("(deftool t (params a) (description \"d\") (list a b))"),
                HasSubstr("unknown name 'b'"));
}

} // namespace
} // namespace heddle::tasks

// A check of hostile files: one of eight times the size takes some eight times the time.
#include <heddle/lang/builtin.hpp>
#include <heddle/lang/check.hpp>
#include <heddle/lang/prelude.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::lang {
namespace {

std::string numbered(const std::string& text, std::size_t count) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) {
        for (const char c : text) {
            if (c == '#') all += std::to_string(i);
            else all += c;
        }
    }
    return all;
}

/// Signatures of tasks, without templates: the inputs are a0, a1 and so on.
class tasks_of_many_inputs final : public task_definitions {
public:
    explicit tasks_of_many_inputs(std::size_t inputs) : inputs_(inputs) {}
    std::optional<task_signature> check(realm&, const value&, source_span,
                                        std::vector<problem>&) const override {
        task_signature result;
        for (std::size_t i = 0; i < inputs_; ++i) result.inputs.push_back("a" + std::to_string(i));
        result.required = result.inputs;
        return result;
    }
    std::optional<task_signature> signature_of(realm&, const host_object&) const override {
        return std::nullopt;
    }

private:
    std::size_t inputs_;
};

/// A host that has tasks.
class task_host final : public host_names {
public:
    const builtin* find_effect(std::string_view name) const override {
        static const builtin row = [] {
            builtin result;
            result.name = "%defatom";
            result.min_arguments = result.max_arguments = 1;
            result.how = builtin_kind::effect;
            return result;
        }();
        return name == row.name ? &row : nullptr;
    }
    std::optional<operator_info> find_operator(heap&, std::string_view) const override {
        return std::nullopt;
    }
    std::optional<operator_info> describe_callable(const host_object&) const override {
        return std::nullopt;
    }
    bool is_reserved_key(std::string_view) const override { return false; }
    double now() const override { return 0; }
    void collect_names(std::vector<std::string>&) const override {}
};

/// Processor time of a check.
double time_of(const std::string& text, const check_options& options) {
    const task_host host;
    realm harness(host);
    EXPECT_TRUE(load_prelude(harness));
    const std::uint32_t position = harness.sources().add("p", text);
    const std::clock_t began = std::clock();
    (void)check_program(harness, text, position, options);
    return static_cast<double>(std::clock() - began);
}

/// `write`: the text of a size. Time that is quadratic in the size grows 64-fold.
void expect_no_worse_than_in_proportion(const char* name, std::size_t size,
                                        const std::function<std::string(std::size_t)>& write,
                                        const check_options& options = {}) {
    double once = time_of(write(size), options);
    for (int i = 0; i < 2; ++i) once = std::min(once, time_of(write(size), options));
    const double fixed = 0.005 * CLOCKS_PER_SEC;
    EXPECT_LT(time_of(write(8 * size), options), 24 * (once + fixed)) << name;
}

TEST(check_work, of_many_imports_is_linear) {
    for (const char* form : {"(import std/lists)\n", "(import \"f#.heddle\")\n",
                             "(import std/unknown#)\n", "(import std/lists) "}) {
        expect_no_worse_than_in_proportion(form, 2000,
                                           [&](std::size_t n) { return numbered(form, n); });
    }
}

TEST(check_work, of_many_evals_beside_names_is_linear) {
    expect_no_worse_than_in_proportion("evals", 1000, [](std::size_t n) {
        return "(define (f) " + numbered("(bind v# (eval '1))\n", n) + " 1)";
    });
}

TEST(check_work, of_second_definitions_in_one_line_is_linear) {
    expect_no_worse_than_in_proportion("second definitions", 2000, [](std::size_t n) {
        return numbered("(define (f x) (+ x #)) ", n);
    });
}

TEST(check_work, of_uses_before_a_definition_is_linear) {
    expect_no_worse_than_in_proportion("in the definition", 2000, [](std::size_t n) {
        return "(define x (list " + numbered("x ", n) + "))";
    });
    expect_no_worse_than_in_proportion("in one line", 2000, [](std::size_t n) {
        return numbered("(list x#) ", n) + numbered("(define x# 1) ", n);
    });
}

TEST(check_work, of_names_that_a_sandbox_allows_is_linear) {
    expect_no_worse_than_in_proportion("allowed names", 2000, [](std::size_t n) {
        return "(sandbox ((allow (" + numbered("tool# ", n) + "))) 1)";
    });
}

TEST(check_work, of_clauses_and_inputs_is_linear) {
    const auto text = [](std::size_t n) {
        return "(defatom t (params " + numbered("a# ", n) + ") (instructions \"x\")) (t " +
               numbered("(a# 1) ", n) + ") (t " + numbered("(b# 1) ", n) + ")";
    };
    check_options options;
    constexpr std::size_t n = 1000;
    const tasks_of_many_inputs few(n);
    const tasks_of_many_inputs many(8 * n);
    options.tasks = &few;
    double once = time_of(text(n), options);
    once = std::min(once, time_of(text(n), options));
    options.tasks = &many;
    EXPECT_LT(time_of(text(8 * n), options), 24 * (once + 0.005 * CLOCKS_PER_SEC));
}

TEST(check_work, of_unknown_tasks_is_linear) {
    const tasks_of_many_inputs tasks(1);
    check_options options;
    options.tasks = &tasks;
    expect_no_worse_than_in_proportion(
        "unknown tasks", 1000,
        [](std::size_t n) {
            return numbered("(defatom t# (params a0) (instructions \"x\"))", n) +
                   numbered("(call-atomic-task 'u# (a0 1))", n);
        },
        options);
}

} // namespace
} // namespace heddle::lang

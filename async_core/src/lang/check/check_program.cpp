#include <heddle/lang/check.hpp>

#include "lang/check/program_facts.hpp"
#include "lang/check/recovering_reader.hpp"
#include "lang/check/rules.hpp"
#include "lang/compile/analyzer.hpp"
#include "lang/compile/deep_stack.hpp"
#include "lang/compile/generator.hpp"

#include <heddle/lang/errors.hpp>

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace heddle::lang {

namespace {

constexpr std::size_t max_problems = 1000;
/// One macro may return code whose shared parts make a tree without end.
constexpr std::size_t max_memory = std::size_t{1} << 30;

/// What a check may take of a heap, while it exists.
class memory_bound {
public:
    explicit memory_bound(heap& memory) : memory_(memory), before_(memory.limit()) {
        const std::size_t used = std::min(memory.used(), SIZE_MAX - max_memory);
        memory.set_limit(std::min(before_, used + max_memory));
    }
    ~memory_bound() { memory_.set_limit(before_); }
    memory_bound(const memory_bound&) = delete;
    memory_bound& operator=(const memory_bound&) = delete;

private:
    heap& memory_;
    std::size_t before_;
};

std::string_view code_of(const error& failure) noexcept {
    if (failure.code() == errc::syntax) return "syntax";
    if (failure.code() == errc::limit) return "limit";
    if (failure.code() == errc::permission) return "permission";
    return "malformed-form";
}

problem problem_of(const error& failure) {
    const error_info& info = failure.info();
    return {severity::error, code_of(failure), info.message, info.hint, info.span};
}

class program_check {
public:
    program_check(realm& realm, const check_options& options) : realm_(realm), options_(options) {}

    std::vector<problem> run(std::string_view text, std::uint32_t position) {
        const memory_bound bound(realm_.memory());
        const recovered_text read = read_recovering(realm_.memory(), text, position);
        for (const error& each : read.errors) problems_.push_back(problem_of(each));
        const line_index lines(text, position);
        const auto done = on_deep_stack(realm_, read.forms, [&](std::size_t max_depth) {
            check_forms(read.forms, max_depth, read.errors.empty(), lines, position);
        });
        if (!done) problems_.push_back(problem_of(done.error()));
        put_in_order();
        return std::move(problems_);
    }

private:
    void check_forms(std::span<const datum> forms, std::size_t max_depth, bool complete,
                     const line_index& lines, std::uint32_t position) {
        compile_request request;
        request.in_one = true;
        ast::arena arena;
        analyzer analysis(realm_, arena, request, max_depth);
        std::vector<error> malformed;
        analysis.collect_errors(malformed);
        const auto program = analysis.program(forms);
        for (const error& each : malformed) problems_.push_back(problem_of(each));
        if (!program) {
            problems_.push_back(problem_of(program.error()));
            return;
        }
        if (!complete) return; // every name may be one that could not be read
        const program_facts facts(realm_, *(*program)->body, options_, problems_);
        const rule_context context{realm_,
                                   facts,
                                   options_,
                                   malformed.empty() ? nullptr : &analysis.defined(),
                                   problems_,
                                   lines,
                                   realm_.sources().locate({position, position}).line,
                                   0,
                                   {}};
        check_names(context);
        check_calls(context);
        check_task_texts(context);
        check_types(context);
        check_form_arguments(context);
        check_clause_values(context);
        check_results(context);
        check_duplicates(context);
        check_reach(context);
        check_sandboxes(context);
        check_bindings(context);
        if (!malformed.empty()) return;
        // What only shows when code is made: a function with too many variables, for example.
        auto code = generator(realm_, **program, nullptr, nullptr, false).run();
        if (!code) problems_.push_back(problem_of(code.error()));
    }

    /// By place; what was found twice once.
    void put_in_order() {
        const auto key = [](const problem& each) {
            return std::tie(each.span.begin, each.span.end, each.level, each.message);
        };
        std::stable_sort(problems_.begin(), problems_.end(),
                         [&](const problem& a, const problem& b) { return key(a) < key(b); });
        const auto same = [&](const problem& a, const problem& b) { return key(a) == key(b); };
        problems_.erase(std::unique(problems_.begin(), problems_.end(), same), problems_.end());
        if (problems_.size() <= max_problems) return;
        const std::size_t more = problems_.size() - max_problems;
        const bool has_errors =
            std::any_of(problems_.begin() + max_problems, problems_.end(),
                        [](const problem& each) { return each.level == severity::error; });
        problems_.resize(max_problems); // heddle-check: allow cut-text (a list)
        problems_.push_back({has_errors ? severity::error : severity::warning,
                             "too-many",
                             std::to_string(more) + " more problems are not shown",
                             {},
                             {}});
    }

    realm& realm_;
    const check_options& options_;
    std::vector<problem> problems_;
};

} // namespace

std::vector<problem> check_program(realm& realm, std::string_view text, std::uint32_t position,
                                   const check_options& options) {
    return program_check(realm, options).run(text, position);
}

} // namespace heddle::lang

#include <heddle/lang/errors.hpp>

#include "lang_fixture.hpp"

#include <set>
#include <string>

namespace heddle::lang {
namespace {

class builtins_data : public lang_fixture {};

TEST_F(builtins_data, every_row_is_documented_and_found) {
    std::set<std::string_view> names;
    for (const auto family : {number_builtins(), string_builtins(), regex_builtins(),
                              list_builtins(), map_builtins(), data_builtins()}) {
        for (const builtin& row : family) {
            EXPECT_TRUE(names.insert(row.name).second) << row.name << " twice";
            EXPECT_EQ(find_builtin(row.name), &row) << row.name;
            EXPECT_EQ(row.how, builtin_kind::pure) << row.name;
            EXPECT_NE(row.run, nullptr) << row.name;
            EXPECT_LE(row.min_arguments, row.max_arguments) << row.name;
            EXPECT_FALSE(row.summary.empty()) << row.name;
            EXPECT_TRUE(row.summary.ends_with('.')) << row.name;
            EXPECT_FALSE(row.family.empty()) << row.name;
            EXPECT_EQ(row.parameters.empty(), row.max_arguments == 0) << row.name;
            // Every line of an example is "expression => expression".
            const auto examples = read_all(memory(), row.example);
            ASSERT_TRUE(examples.has_value()) << row.name;
            ASSERT_FALSE(examples->empty()) << row.name;
            ASSERT_EQ(examples->size() % 3, 0U) << row.name;
            for (std::size_t i = 1; i < examples->size(); i += 3) {
                EXPECT_EQ(print_value((*examples)[i].content), "=>") << row.name;
            }
        }
    }
    EXPECT_EQ(find_builtin("no-such-builtin"), nullptr);
    EXPECT_EQ(find_builtin(""), nullptr);
}

TEST_F(builtins_data, every_builtin_of_the_language_is_there) {
    constexpr std::string_view expected =
        "+ - * / quotient remainder modulo abs min max floor ceiling round truncate sqrt expt < <= "
        "> >= = number? integer? string=? string<? string-append string-length substring "
        "string-upcase string-downcase string-trim string-split string-join string-replace "
        "string-contains? string-starts-with? string-ends-with? string->number number->string "
        "string->symbol symbol->string format regex-match regex-match-all regex-replace list cons "
        "append first second third rest last nth length reverse range take drop slice sort unique "
        "flatten zip index-of contains? chunk null? nil? empty? list? dict get-field get get-in "
        "put merge remove-key keys values has-key? map? entries json-parse json-string eq? equal? "
        "not type-of boolean? string? symbol? procedure? content parsed notes ok?";
    const auto names = read_all(memory(), expected);
    ASSERT_TRUE(names.has_value());
    for (const datum& name : *names) {
        EXPECT_NE(find_builtin(symbol_name(name.content)), nullptr) << symbol_name(name.content);
    }
}

TEST_F(builtins_data, survive_arguments_of_every_kind) {
    std::vector<value> kinds{value(),
                             value::boolean(true),
                             value::integer(-1),
                             value::integer(3),
                             value::real(2.5),
                             value::real(-1e300),
                             value::empty_string(),
                             make_string(memory(), "a{}ż("),
                             memory().symbol("s"),
                             value::empty_list(),
                             read("(1 \"a\" (b 2))"),
                             data("(dict \"status\" 1 \"content\" (2))"),
                             value::of_builtin(*find_builtin("+"))};
    for (const auto family : {number_builtins(), string_builtins(), regex_builtins(),
                              list_builtins(), map_builtins(), data_builtins()}) {
        for (const builtin& row : family) {
            const std::size_t most = std::min<std::size_t>(row.max_arguments, 3);
            for (std::size_t count = row.min_arguments; count <= most; ++count) {
                std::size_t combinations = 1;
                for (std::size_t i = 0; i < count; ++i) combinations *= kinds.size();
                for (std::size_t which = 0; which < combinations; ++which) {
                    std::vector<value> arguments;
                    for (std::size_t i = 0, rest = which; i < count; ++i, rest /= kinds.size()) {
                        arguments.push_back(kinds[rest % kinds.size()]);
                    }
                    free_work work;
                    native_call call(memory(), row, work);
                    const value result = row.run(call, std::span<value>(arguments));
                    if (call.failure()) {
                        EXPECT_TRUE(result.is_nil()) << row.name;
                        EXPECT_TRUE(is_evaluation_error(*call.failure())) << row.name;
                        EXPECT_TRUE(call.failure()->message().starts_with(row.name));
                    }
                }
            }
        }
    }
    EXPECT_EQ(print_value(kinds[10]), "(1 \"a\" (b 2))"); // nothing was changed in place
}

TEST(errors, have_the_names_of_the_language) {
    const auto name = [](auto code) { return error_kind_name(error(code, "")); };
    EXPECT_EQ(name(errc::syntax), "SexpSyntaxError");
    EXPECT_EQ(name(errc::evaluation), "SexpEvaluationError");
    EXPECT_EQ(name(errc::unbound), "UnboundSymbolError");
    EXPECT_EQ(name(errc::arity), "ArityError");
    EXPECT_EQ(name(errc::type), "TypeError");
    EXPECT_EQ(name(errc::limit), "LimitError");
    EXPECT_EQ(name(errc::permission), "PermissionError");
    EXPECT_EQ(name(errc::timeout), "TimeoutError");
    EXPECT_EQ(name(errc::user), "UserError");
    EXPECT_EQ(name(errc::task), "TaskError");
    EXPECT_EQ(name(heddle::errc::limit_exceeded), "LimitError");
    EXPECT_EQ(name(heddle::errc::internal), "InternalError");
    EXPECT_EQ(error_kind_name(error::cancelled(cancel_reason::user)), "CancelledError");
    EXPECT_TRUE(is_evaluation_error(error(errc::arity, "")));
    EXPECT_FALSE(is_evaluation_error(error(errc::syntax, "")));
    EXPECT_FALSE(is_evaluation_error(error(errc::user, "")));
    EXPECT_FALSE(is_evaluation_error(error::cancelled(cancel_reason::user)));
    const error failed = task_error("llm_error", "no answer");
    EXPECT_EQ(error_kind_name(failed), "TaskError");
    EXPECT_EQ(dynamic_cast<const script_payload&>(*failed.info().payload).reason, "llm_error");
}

} // namespace
} // namespace heddle::lang

// Every kind of error, reason of a failure and code of a service is on the page of errors.
#include "file_text.hpp"
#include "test_paths.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

namespace heddle::docs_test {
namespace {

constexpr int enough = 1000; ///< no enumeration has as many values

/// The names of the codes of a category, by what `name` makes of an error with each; the name of
/// one that does not exist is not among them.
template <class Name>
std::set<std::string> names_in(const boost::system::error_category& category, Name name) {
    const std::string none = name(error(boost::system::error_code(enough, category), ""));
    std::set<std::string> names;
    for (int code = 1; code < enough; ++code)
        names.insert(name(error(boost::system::error_code(code, category), "")));
    names.erase(none);
    return names;
}

std::string kind_of(const error& failure) { return std::string(lang::error_kind_name(failure)); }
std::string message_of(const error& failure) { return failure.code().message(); }

class errors_page : public testing::Test {
protected:
    void expect_all(const std::set<std::string>& names) const {
        for (const std::string& each : names)
            EXPECT_NE(text.find("`" + each + "`"), std::string::npos) << each;
    }

    const std::string text = text_of(std::filesystem::path(heddle::test_paths::source_folder()) /
                                     "docs/reference/errors.md");
};

TEST_F(errors_page, has_every_kind) {
    const auto of_language = names_in(lang::lang_category(), kind_of);
    EXPECT_EQ(of_language.size(), 10U);
    expect_all(of_language);
    const auto of_base = names_in(base_category(), kind_of);
    EXPECT_GE(of_base.size(), 6U);
    expect_all(of_base);
    expect_all({"HttpError", "ModelError"});
}

TEST_F(errors_page, has_every_reason) {
    std::set<std::string> reasons;
    for (int i = 0; i <= static_cast<int>(tasks::task_failure_reason::unexpected_error); ++i)
        reasons.emplace(tasks::to_string(static_cast<tasks::task_failure_reason>(i)));
    EXPECT_GE(reasons.size(), 17U);
    expect_all(reasons);
}

TEST_F(errors_page, has_every_code_of_a_service) {
    const auto codes = names_in(ports::llm_category(), message_of);
    EXPECT_GE(codes.size(), 14U);
    expect_all(codes);
}

} // namespace
} // namespace heddle::docs_test

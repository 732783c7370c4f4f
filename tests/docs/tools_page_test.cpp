// docs/reference/tools.md describes every built-in tool as its table does.
#include "test_paths.hpp"

#include <heddle/host/session.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace heddle::docs_test {
namespace {

std::string row_of(const tasks::registered_tool& one) {
    std::string names = "`" + one.declared.name + "`";
    for (const std::string& alias : one.declared.aliases) names += " `" + alias + "`";
    std::string clauses;
    for (const std::string& clause : one.clauses) {
        const bool required =
            std::find(one.required.begin(), one.required.end(), clause) != one.required.end();
        if (!clauses.empty()) clauses += ", ";
        clauses += required ? "`" + clause + "`" : "[`" + clause + "`]";
    }
    return "| " + names + " | " + clauses + " | " + one.declared.description + " |\n";
}

TEST(tools_page, has_a_row_for_each_built_in_tool) {
    boost::asio::io_context context;
    coro::event_loop loop(context);
    host::engine_parts parts;
    parts.operators = tasks::operators({});
    host::engine engine(loop, parts);
    const auto session = engine.new_session().value();
    const auto* known = dynamic_cast<const tasks::session_tasks*>(session->operators());
    ASSERT_NE(known, nullptr);
    std::ifstream stream(std::filesystem::path(heddle::test_paths::source_folder()) /
                         "docs/reference/tools.md");
    const std::string page{std::istreambuf_iterator<char>(stream), {}};
    std::vector<std::string> names;
    known->tools().collect_names(names);
    ASSERT_GT(names.size(), 5U);
    for (const std::string& name : names) {
        const auto found = known->tools().find(name);
        ASSERT_TRUE(found) << name;
        const auto* callable = lang::host_as<tasks::tool_callable>(found->callable);
        ASSERT_NE(callable, nullptr) << name;
        const std::string row = row_of(*callable->get());
        EXPECT_NE(page.find(row), std::string::npos) << "docs/reference/tools.md lacks the row\n"
                                                     << row;
    }
}

} // namespace
} // namespace heddle::docs_test

// The printed error of a failed task says how to mend it.
#include "child_process.hpp"
#include "scratch_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loopback_server.hpp>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;

TEST(failure_hints, of_a_certificate_that_nobody_trusts) {
    const loopback::authority own;
    loopback::server_options options;
    options.tls = own.issue();
    const loopback::server service(
        [](loopback::connection& with, int) { (void)with.read_request(); }, options);
    const scratch_directory scratch;
    child_options child;
    child.variables["OPENAI_API_KEY"] = "sk-0123456789abcdef";
    const std::string wanted = "give its certificate as the CA file";
    for (const std::string form : {"(ask \"1\")", "(content (ask \"1\"))"}) {
        SCOPED_TRACE(form);
        std::vector<std::string> command = {
            "run",
            scratch.file("w.heddle", "(defatom ask (params q) (instructions \"{{q}}\"))\n" + form),
            "--base-url", service.url() + "/v1"};
        const auto text = run_heddle(command, child);
        EXPECT_EQ(text.code, 1);
        EXPECT_THAT(text.err, HasSubstr("hint: "));
        EXPECT_THAT(text.err, HasSubstr(wanted));
        command.emplace_back("--json");
        const auto json = run_heddle(command, child);
        EXPECT_THAT(json.err, ::testing::ContainsRegex("\"hint\":\"[^\"]*" + wanted));
    }
}

} // namespace
} // namespace heddle::cli_test

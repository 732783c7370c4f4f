#include "process_testing.hpp"

#include "process/environment.hpp"

#include <csignal>
#include <cstdlib>

#include <fcntl.h>

namespace heddle::process::testing {
namespace {

class process_runner : public process_test {};

TEST_F(process_runner, run_returns_output_and_exit_code) {
    const auto ended = run(shell("echo to out; echo to err >&2; exit 3"));
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_EQ(ended->out, "to out\n");
    EXPECT_EQ(ended->err, "to err\n");
    EXPECT_EQ(ended->exit_code, 3);
    EXPECT_EQ(ended->signal, 0);
    EXPECT_GT(ended->elapsed.count(), 0);
    EXPECT_FALSE(heddle::testing::programs_are_running());
}

TEST_F(process_runner, run_list_without_shell_expands_nothing) {
    const auto ended = run(program({"printf", "%s|", "$HOME", "a b", "*", ""}));
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_EQ(ended->out, "$HOME|a b|*||");
}

TEST_F(process_runner, run_input_and_output_bigger_than_pipes) {
    std::string big;
    for (int i = 0; big.size() < 8'000'000; ++i) big += "line " + std::to_string(i) + "\n";
    process_request request = program({"cat"});
    request.input = big;
    request.max_output = big.size();
    const auto ended = run(request);
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_TRUE(ended->out == big);
    EXPECT_EQ(ended->out_dropped, 0U);
}

TEST_F(process_runner, run_input_nobody_reads_does_no_harm) {
    for (const char* line : {"exec 0<&-; echo closed", "head -c 1 >/dev/null; echo closed"}) {
        process_request request = shell(line);
        request.input = std::string(2'000'000, 'x');
        const auto ended = run(std::move(request));
        ASSERT_TRUE(ended) << ended.error().message();
        EXPECT_EQ(ended->out, "closed\n");
        EXPECT_EQ(ended->exit_code, 0);
    }
}

TEST_F(process_runner, run_without_input_reads_nothing) {
    const auto ended = run(shell("cat; echo end"));
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out, "end\n");
}

TEST_F(process_runner, run_output_beyond_the_limit_is_counted_and_dropped) {
    process_request request = shell("head -c 3000000 /dev/zero; head -c 500 /dev/zero >&2");
    request.max_output = 1000;
    const auto ended = run(std::move(request));
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out.size(), 1000U);
    EXPECT_EQ(ended->out_dropped, 2'999'000U);
    EXPECT_EQ(ended->err.size(), 500U);
    EXPECT_EQ(ended->err_dropped, 0U);
    EXPECT_EQ(ended->exit_code, 0);
}

TEST_F(process_runner, run_what_cannot_be_started_has_its_reason) {
    put("no-permission", "#!/bin/sh\n", 0644);
    put("no-interpreter", "#!/nonexistent/interpreter\n");
    put("no-program", "\x01\x02 nothing that runs");
    expect_error(program({"heddle-has-no-such-program"}), process_errc::not_found);
    expect_error(program({"./missing"}), process_errc::not_found);
    expect_error(program({"./no-interpreter"}), process_errc::not_found);
    expect_error(program({"./no-permission"}), process_errc::not_permitted);
    expect_error(program({"./no-program"}), process_errc::not_permitted);
    expect_error(program({"./sub"}), process_errc::not_permitted);
    expect_error(program({}), process_errc::invalid_argument);
    expect_error(program({""}), process_errc::invalid_argument);
    expect_error(program({"echo", std::string("a\0b", 3)}), process_errc::invalid_argument);
    expect_error(program({"true", std::string(10'000'000, 'x')}), process_errc::too_long);
    process_request two = shell("true");
    two.arguments.emplace_back("more");
    expect_error(two, process_errc::invalid_argument);
    EXPECT_FALSE(heddle::testing::programs_are_running());
}

TEST_F(process_runner, run_program_on_path_without_permission_is_not_permitted) {
    put("sub/heddle-locked", "#!/bin/sh\n", 0644);
    process_request request = program({"heddle-locked"});
    request.environment = {{"PATH", (root / "sub").string()}};
    expect_error(request, process_errc::not_permitted);
}

TEST_F(process_runner, run_path_of_the_environment_is_searched_but_not_the_workspace) {
    put("sub/heddle-probe", "#!/bin/sh\necho found\n");
    process_request request = program({"heddle-probe"});
    request.environment = {{"PATH", (root / "sub").string()}};
    const auto ended = run(request);
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_EQ(ended->out, "found\n");
    request.environment = {{"PATH", ".::sub"}};
    request.directory = "sub";
    expect_error(request, process_errc::not_found);
}

TEST_F(process_runner, run_directory_is_inside_the_workspace) {
    process_request request = shell("pwd -P");
    auto ended = run(request);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out, stdfs::canonical(root).string() + "\n");
    request.directory = "sub/../sub";
    ended = run(request);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out, stdfs::canonical(root / "sub").string() + "\n");
    stdfs::create_symlink(base / "outside", root / "link");
    put("file", "");
    for (const char* path : {"..", "../outside", "/", "link", "file", "missing", "sub/../.."}) {
        SCOPED_TRACE(path);
        request.directory = path;
        expect_error(request, process_errc::bad_directory);
    }
}

TEST_F(process_runner, run_environment_is_inherited_without_secrets) {
    ::setenv("HEDDLE_TEST_API_KEY", "hidden", 1);
    ::setenv("HEDDLE_TEST_PLAIN", "seen", 1);
    open({"*_API_KEY"});
    process_request request =
        shell("echo \"${HEDDLE_TEST_API_KEY-none} ${HEDDLE_TEST_PLAIN-none} ${GIVEN-none}\"");
    auto ended = run(request);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out, "none seen none\n");
    request.secrets = {"HEDDLE_TEST_API_KEY"};
    request.environment = {{"GIVEN", "first"}, {"GIVEN", "x=y"}, {"HEDDLE_TEST_PLAIN", "other"}};
    ended = run(request);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out, "hidden other x=y\n");
    ::unsetenv("HEDDLE_TEST_API_KEY");
    ::unsetenv("HEDDLE_TEST_PLAIN");
    for (const std::string& name : {std::string(), std::string("A=B"), std::string("A\0B", 3)}) {
        request.environment = {{name, "x"}};
        expect_error(request, process_errc::invalid_argument);
    }
}

TEST_F(process_runner, usual_secrets_cover_the_names_of_keys) {
    ::setenv("HEDDLE_TEST_Secret_thing", "hidden", 1);
    ::setenv("HEDDLE_TEST_GH_TOKEN", "hidden", 1);
    open(usual_secrets());
    const auto ended = run(shell("env"));
    ::unsetenv("HEDDLE_TEST_Secret_thing");
    ::unsetenv("HEDDLE_TEST_GH_TOKEN");
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out.find("hidden"), std::string::npos);
    EXPECT_NE(ended->out.find("PATH="), std::string::npos);
    const auto secret = [](const char* name) {
        const auto patterns = usual_secrets();
        return std::any_of(patterns.begin(), patterns.end(),
                           [name](const auto& each) { return matches_name(each, name); });
    };
    for (const char* name : {"OPENAI_API_KEY",
                             "AWS_SECRET_ACCESS_KEY",
                             "AWS_SESSION_TOKEN",
                             "GITHUB_TOKEN",
                             "GITHUB_PAT",
                             "DD_APP_KEY",
                             "AZURE_STORAGE_KEY",
                             "REDISCLI_AUTH",
                             "DOCKER_AUTH_CONFIG",
                             "MYSQL_PWD",
                             "PGPASSWORD",
                             "SENTRY_DSN",
                             "CI_JOB_JWT",
                             "npm_config__auth",
                             "MY_PASSPHRASE",
                             "DB_PASS",
                             "SMTP_PASS",
                             "SSHPASS",
                             "PGPASS",
                             "MYPASS",
                             "STRIPE_SK",
                             "JWT",
                             "COOKIE",
                             "AZURE_STORAGE_CONNECTION_STRING"}) {
        EXPECT_TRUE(secret(name)) << name;
    }
    for (const char* name : {"PATH", "HOME", "SSH_AUTH_SOCK", "XAUTHORITY", "LS_COLORS", "OLDPWD",
                             "LD_LIBRARY_PATH", "KEYBOARD", "GIT_AUTHOR_NAME", "MONKEY"}) {
        EXPECT_FALSE(secret(name)) << name;
    }
    for (const std::string& name : usual_variables()) EXPECT_FALSE(secret(name.c_str())) << name;
}

TEST_F(process_runner, of_many_variables_only_those_are_inherited_that_are_named) {
    process_options options;
    options.workspace = root.string();
    options.inherited = usual_variables();
    options.inherited->push_back("HEDDLE_TEST_MANY_*");
    options.withheld = {"*_TOKEN"};
    options.passed = {"HEDDLE_TEST_PASSED_TOKEN"};
    const std::vector<std::string> seen{"HEDDLE_TEST_MANY_1", "heddle_test_many_2",
                                        "HEDDLE_TEST_PASSED_TOKEN", "LC_HEDDLE_TEST"};
    const std::vector<std::string> unseen{"HEDDLE_TEST_MANY_TOKEN", "HEDDLE_TEST_OTHER",
                                          "HEDDLE_TEST_ASKED"};
    for (const auto& name : seen) ::setenv(name.c_str(), "x", 1);
    for (const auto& name : unseen) ::setenv(name.c_str(), "x", 1);
    children = make_process_port(test.loop, options).value();
    process_request request = shell("env");
    const std::string out = run(request)->out;
    request.secrets = {"HEDDLE_TEST_ASKED"};
    const std::string asked = run(request)->out;
    for (const auto& name : seen) ::unsetenv(name.c_str());
    for (const auto& name : unseen) ::unsetenv(name.c_str());
    for (const auto& name : seen) EXPECT_NE(out.find(name + "=x"), std::string::npos) << name;
    for (const auto& name : unseen) EXPECT_EQ(out.find(name + "=x"), std::string::npos) << name;
    EXPECT_NE(out.find("PATH="), std::string::npos);
    EXPECT_NE(asked.find("HEDDLE_TEST_ASKED=x"), std::string::npos);
}

TEST_F(process_runner, passwords_in_addresses_are_withheld_where_asked_for) {
    for (const char* text : {"postgres://me:pw@db/x", "http://u:p@proxy:3128",
                             "a b=redis://:pw@h:1", "x://a, https://u:p@h/?q",
                             // not percent-encoded
                             "postgres://u:p/w@h", "postgres://u:p#w@h/db", "postgres://u:p?w@h",
                             "postgres://u:/@h", "postgres://u:p\"w@h", "postgres://u:1/2@h",
                             "postgres://u@s:p/w@h", "{\"a\":\"x://u:p/@h\"}"}) {
        EXPECT_TRUE(holds_password(text)) << text;
    }
    for (const char* text :
         {"", "http://proxy:3128", "http://user@host", "http://user:@host", "https://h/a:b@c",
          "https://h/?a:b@c", "https://u@h/a:b@c", "https://h:8080/a me@x", "git@host:repo",
          "user:pw@host", "x://", "://:@"}) {
        EXPECT_FALSE(holds_password(text)) << text;
    }
    ::setenv("HEDDLE_TEST_DATABASE", "postgres://me:hidden@db/x", 1);
    process_options options;
    options.workspace = root.string();
    options.withhold_passwords = true;
    children = make_process_port(test.loop, options).value();
    process_request request = shell("echo \"${HEDDLE_TEST_DATABASE-none}\"");
    EXPECT_EQ(run(request)->out, "none\n");
    request.secrets = {"HEDDLE_TEST_DATABASE"};
    EXPECT_EQ(run(request)->out, "postgres://me:hidden@db/x\n");
    ::unsetenv("HEDDLE_TEST_DATABASE");
}

TEST_F(process_runner, addresses_of_proxies_with_users_are_withheld_however_they_are_written) {
    process_options options;
    options.workspace = root.string();
    options.inherited = usual_variables();
    options.inherited->push_back("HEDDLE_TEST_*");
    options.withhold_passwords = true;
    const auto passes = [&](const char* text) {
        const std::string line = std::string("HEDDLE_TEST_PROXY=") + text;
        const char* const inherited[] = {line.c_str(), nullptr};
        const auto block = make_environment(inherited, options, {});
        return block && *block == environment_block{line};
    };
    for (const char* text :
         {"proxy:3128", "http://proxy:3128", "https://proxy", "[::1]:3128", "socks5://proxy"}) {
        EXPECT_TRUE(passes(text)) << text;
    }
    for (const char* text : {"user:hidden@proxy:3128", "http://user:hidden@proxy:3128",
                             "user:hid/den@proxy", "http://user:hid/den@proxy", "token@proxy:3128",
                             "http://token@proxy", "socks5h://user:hidden@proxy"}) {
        EXPECT_FALSE(passes(text)) << text;
    }
    // Lower case, as the usual variables of proxies have it; asked for by its full name.
    const char* const inherited[] = {"https_proxy=user:hidden@proxy:3128", nullptr};
    EXPECT_TRUE(make_environment(inherited, options, {})->empty());
    options.passed = {"https_proxy"};
    EXPECT_EQ(make_environment(inherited, options, {})->size(), 1U);
}

TEST_F(process_runner, run_child_has_usual_signals_and_no_descriptors) {
    const int open_here = ::open("/dev/null", O_RDONLY); // not close-on-exec
    ASSERT_GE(open_here, 3);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    const auto ended = run(shell("[ -e /proc/self/fd/" + std::to_string(open_here) +
                                 " ] && echo leaked; sh -c 'kill -PIPE $$; echo ignored'; echo $?;"
                                 " sh -c 'kill -XFSZ $$; echo ignored' 2>/dev/null; echo $?"));
    std::signal(SIGPIPE, SIG_DFL);
    std::signal(SIGXFSZ, SIG_DFL);
    ::close(open_here);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out,
              std::to_string(128 + SIGPIPE) + "\n" + std::to_string(128 + SIGXFSZ) + "\n");
}

TEST_F(process_runner, run_signal_is_reported) {
    const auto ended = run(shell("kill -KILL $$"));
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->signal, SIGKILL);
    EXPECT_EQ(ended->exit_code, 128 + SIGKILL);
}

TEST_F(process_runner, run_thousands_in_a_row_leak_nothing) {
    static_cast<void>(run(program({"true"})));
    const std::size_t before = open_descriptors();
    for (int batch = 0; batch < 20; ++batch) {
        for (int i = 0; i < 100; ++i) {
            const auto ended = run(program({"true"}));
            ASSERT_TRUE(ended) << ended.error().message();
            ASSERT_EQ(ended->exit_code, 0);
        }
    }
    test.turn();
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_FALSE(heddle::testing::programs_are_running());
}

coro::task<result<void>> run_one(ports::process_port* children, process_request request,
                                 coro::call_context context, std::string* out) {
    result<process_result> ended = co_await children->run(std::move(request), context);
    if (!ended) co_return std::move(ended).error();
    *out = std::move(ended->out);
    co_return result<void>();
}

coro::task<result<void>> run_many(ports::process_port* children, coro::call_context context,
                                  std::vector<std::string>* outputs) {
    coro::nursery all(context);
    for (std::size_t i = 0; i < outputs->size(); ++i) {
        process_request request;
        request.arguments = {"cat"};
        request.input = "child " + std::to_string(i);
        all.start(run_one(children, std::move(request), all.context(), &(*outputs)[i]));
    }
    result<void> joined = co_await all.join();
    co_return joined;
}

TEST_F(process_runner, run_many_at_once_keep_their_output_apart) {
    std::vector<std::string> outputs(100);
    const auto ended = test.run(run_many(children.get(), test.context(), &outputs));
    ASSERT_TRUE(ended) << ended.error().message();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        EXPECT_EQ(outputs[i], "child " + std::to_string(i));
    }
    EXPECT_FALSE(heddle::testing::programs_are_running());
}

TEST_F(process_runner, what_others_do_with_children_does_not_matter) {
    std::signal(SIGCHLD, SIG_IGN); // the system reaps
    open();
    const auto ended = run(shell("(exit 3) & wait $!; exit $?"));
    static_cast<void>(::waitpid(-1, nullptr, WNOHANG));
    const auto again = run(program({"true"}));
    std::signal(SIGCHLD, SIG_DFL);
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_EQ(ended->exit_code, 3);
    ASSERT_TRUE(again) << again.error().message();
}

TEST_F(process_runner, what_keeps_a_program_shows_no_variables) {
    // It was forked from us, and we hold what programs are not to inherit.
    if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
    const auto ended = run(shell("cat /proc/$PPID/environ"));
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_EQ(ended->out, "");
    EXPECT_NE(ended->err.find("ermission denied"), std::string::npos) << ended->err;
}

TEST_F(process_runner, open_missing_workspace_is_not_found) {
    process_options options;
    options.workspace = (base / "missing").string();
    const auto result = make_process_port(test.loop, options);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), make_error_code(errc::not_found));
}

} // namespace
} // namespace heddle::process::testing

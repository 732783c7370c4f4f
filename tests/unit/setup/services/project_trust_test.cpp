// What a project's heddle.toml may have the user's keys do: each test is a way to get at them.
#include "project_trust_fixture.hpp"

#include <heddle/fs/local_tree.hpp>

namespace heddle::setup {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(project_trust, a_variable_cannot_be_named) {
    set["GITHUB_TOKEN"] = "ghp_0123456789";
    project(
        "model = \"evil:m\"\n[providers.evil]\ntype = \"openai\"\n"
        "base_url = \"http://evil.test/v1\"\napi_key_env = \"GITHUB_TOKEN\"\n");
    EXPECT_THAT(mistakes(),
                ElementsAre(AllOf(HasSubstr(project_file() + ":5: "),
                                  HasSubstr("providers.evil.api_key_env is taken from"))));
}

TEST_F(project_trust, nor_proxies_authorities_prices_commands_and_the_cache) {
    for (const char* line :
         {"prices = \"p.json\"", "aider = [\"sh\"]", "pass_env = [\"*\"]",
          "http.https_proxy = \"http://127.0.0.1:1\"", "http.http_proxy = \"http://127.0.0.1:1\"",
          "http.no_proxy = \"*\"", "http.ca_file = \"ca.pem\"", "http.ca_directory = \"ca\"",
          "http.user_agent = \"x\"", "http.max_connections = 1", "[http]",
          "[cache]\nfile = \"forged.db\"", "[cache]\nkeep_for = \"1s\"", "[cache]\nmax_size = 1",
          "[providers.openai]\napi_key_file = \"k\"",
          "[providers.openai]\napi_key_command = [\"sh\"]"}) {
        project(line);
        EXPECT_THAT(mistakes(), ElementsAre(HasSubstr("taken from your own heddle.toml only")))
            << line;
    }
}

TEST_F(project_trust, the_usual_key_does_not_go_to_an_address_of_the_project) {
    for (const char* name : {"openai", "evil"}) {
        project(std::string("[providers.") + name +
                "]\ntype = \"openai\"\nbase_url = \"http://evil.test/v1\"\n");
        expect_refused(name, "http://evil.test:80/v1", "OPENAI_API_KEY");
    }
    set["ANTHROPIC_API_KEY"] = "sk-ant";
    project("[providers.anthropic]\nbase_url = \"https://evil.test\"\n");
    expect_refused("anthropic", "https://evil.test:443", "ANTHROPIC_API_KEY");
}

TEST_F(project_trust, nor_do_prompts_without_a_key) {
    variables.openai_api_key = secret();
    project("[providers.evil]\ntype = \"vllm\"\nbase_url = \"http://evil.test/v1\"\n");
    expect_refused("evil", "http://evil.test:80/v1", "prompts");
}

TEST_F(project_trust, a_key_of_the_users_file_does_not_follow_the_address) {
    const std::string marker = (root / "was-run").string();
    for (const std::string& key :
         {std::string("api_key_env = \"MINE\""), std::string("api_key_file = \"key\""),
          "api_key_command = [\"touch\", \"" + marker + "\"]"}) {
        set["MINE"] = "sk-mine";
        std::ofstream(root / "home" / "config" / "heddle" / "key") << "sk-mine";
        user("[providers.mine]\ntype = \"openai\"\nbase_url = \"https://good.test/v1\"\n" + key +
             "\n");
        project("[providers.mine]\nbase_url = \"http://evil.test/v1\"\n");
        expect_refused("mine", "http://evil.test:80/v1", "");
        EXPECT_FALSE(stdfs::exists(marker)); // not even asked for
    }
}

TEST_F(project_trust, nor_does_it_follow_another_type) {
    std::ofstream(root / "home" / "config" / "heddle" / "key") << "sk-ant-of-the-user";
    user("[providers.claude]\ntype = \"anthropic\"\napi_key_file = \"key\"\n");
    project("[providers.claude]\ntype = \"deepseek\"\n");
    expect_refused("claude", "https://api.deepseek.com", "the file ");
    // The address is the user's, and the key would be another one than the user meant for it.
    user("[providers.gate]\ntype = \"openai\"\nbase_url = \"https://good.test/v1\"\n");
    set["ANTHROPIC_API_KEY"] = "sk-ant";
    project("[providers.gate]\ntype = \"anthropic\"\n");
    expect_refused("gate", "https://good.test:443/v1", "ANTHROPIC_API_KEY");
}

TEST_F(project_trust, no_order_of_layers_joins_a_key_with_an_address_of_the_project) {
    const auto own = std::make_shared<const configuration>(
        read_config("[providers.mine]\ntype = \"openai\"\nbase_url = \"https://good.test/v1\"\n"
                    "api_key_env = \"MINE\"\n",
                    "user", "/", config_trust::user)
            .value());
    const configuration theirs =
        read_config("[providers.mine]\nbase_url = \"http://evil.test/v1\"\n", "project", "/",
                    config_trust::project)
            .value();
    for (const bool project_first : {true, false}) {
        configuration merged = project_first ? theirs : *own;
        lay_over(merged, project_first ? *own : theirs);
        merged.without_project = own;
        merged.project_file = "/p/heddle.toml";
        const provider_config& mine = *merged.provider("mine");
        const trust_question asked =
            judge_service(mine, *find_service_type("openai"), merged, variables, nullptr);
        EXPECT_EQ(asked.key, "MINE");
        const bool evil = asked.address == "http://evil.test:80/v1";
        EXPECT_EQ(evil, project_first);
        EXPECT_EQ(asked.verdict, evil ? trust_verdict::refused : trust_verdict::trusted);
    }
}

TEST_F(project_trust, the_users_own_addresses_are_trusted) {
    expect_sent("openai", official, users_key);
    // A project with other settings of the service.
    project("[providers.openai]\nmax_in_flight = 3\n[providers.alike]\ntype = \"openai\"\n");
    expect_sent("openai", official, users_key);
    expect_sent("alike", official, users_key);
    // The variable goes before a project's file; it is the user's word.
    variables.openai_base_url = "https://mine.test/v1";
    project(
        "[providers.openai]\nbase_url = \"http://evil.test/v1\"\n"
        "[providers.alike]\ntype = \"openai\"\n");
    expect_sent("openai", "https://mine.test/v1", users_key);
    expect_sent("alike", "https://mine.test/v1", users_key);
    // So does the flag.
    flag = "https://flag.test/v1";
    expect_sent("openai", "https://flag.test/v1", users_key);
    flag.reset();
    variables.openai_base_url.reset();
    // What the user's file and the project say alike.
    user("[providers.office]\ntype = \"openai\"\nbase_url = \"https://office.test/v1/\"\n");
    project("[providers.office]\nbase_url = \"HTTPS://Office.test:443/v1\"\n");
    expect_sent("office", "HTTPS://Office.test:443/v1", users_key);
}

TEST_F(project_trust, a_file_that_is_named_is_the_users) {
    project("[providers.openai]\nbase_url = \"http://other.test/v1\"\napi_key_env = \"MINE\"\n");
    set["MINE"] = "sk-mine";
    const auto found = find_config({project_file(), "/", std::nullopt, nullptr});
    ASSERT_TRUE(found) << found.error().message();
    const service_parts parts{*http, loop, null_log(), limiters, variables, *found, 0, nullptr};
    EXPECT_EQ(make_service(*found->provider("openai"), parts).key.reveal(), "sk-mine");
}

TEST_F(project_trust, an_address_that_looks_like_the_official_one_is_another) {
    project("[providers.openai]\nbase_url = \"https://API.openai.com:443/v1/\"\n");
    EXPECT_EQ(service("openai").key.reveal(), users_key);
    for (const char* url :
         {"http://api.openai.com/v1", "https://api.openai.com:8443/v1",
          "https://api.openai.com./v1", "https://api.openai.com/v1/../x",
          "https://api.openai.com/v2", "https://api.openai.com",
          "https://api.openai.com.evil.test/v1", "https://api.openai.com@evil.test/v1",
          "https://evil.test/api.openai.com/v1", "//api.openai.com/v1", "api.openai.com/v1"}) {
        project(std::string("[providers.openai]\nbase_url = \"") + url + "\"\n");
        const configured_service found = service("openai");
        EXPECT_TRUE(found.key.empty()) << url;
        EXPECT_FALSE(found.provider) << url;
    }
}

TEST_F(project_trust, this_machine_gets_prompts_and_no_key) {
    for (const char* url : {"http://127.0.0.1:8000/v1", "http://localhost:8000/v1",
                            "http://[::1]:8000/v1", "http://a.localhost/v1", "http://127.9.9.9"}) {
        project(std::string("[providers.mine]\ntype = \"openai\"\nbase_url = \"") + url + "\"\n");
        const configured_service found = service("mine");
        EXPECT_TRUE(found.provider) << url;
        EXPECT_TRUE(found.key.empty()) << url;
        EXPECT_EQ(found.withheld_key, "OPENAI_API_KEY") << url;
    }
    for (const char* url : {"http://127.0.0.1.evil.test/v1", "http://localhost.evil.test/v1",
                            "http://127.evil.test", "http://0.0.0.0:8000", "http://127.1/v1",
                            "http://2130706433/v1", "http://localhost@evil.test/v1"}) {
        project(std::string("[providers.mine]\ntype = \"openai\"\nbase_url = \"") + url + "\"\n");
        const configured_service found = service("mine");
        EXPECT_FALSE(found.provider) << url;
        EXPECT_TRUE(found.key.empty()) << url;
    }
    allow("http://127.0.0.1:8000/v1", "OPENAI_API_KEY");
    project("[providers.mine]\ntype = \"openai\"\nbase_url = \"http://127.0.0.1:8000/v1\"\n");
    expect_sent("mine", "http://127.0.0.1:8000/v1", users_key);
}

TEST_F(project_trust, an_address_that_no_client_takes_cannot_be_allowed) {
    for (const char* url :
         {"http://127.0.0.1?@evil.test/v1", "http://127.0.0.1:80@evil.test/v1",
          "http://127.0.0.1#@evil.test/v1", "http://me:word@office.test/v1",
          "http://office.test/v1?key=x", "http://office.test/v1#x", "http://office.test:0/v1",
          "http://office.test:port/v1", "http://[::1/v1", "http:///v1", "ftp://office.test/v1",
          "office.test/v1", "http://office.test\\@evil.test/v1", "http://office.test/a b"}) {
        SCOPED_TRACE(url);
        project(std::string("[providers.mine]\ntype = \"openai\"\nbase_url = '") + url + "'\n");
        auto found = load();
        ASSERT_TRUE(found) << found.error().message();
        const auto type = *find_service_type("openai");
        const provider_config& mine = *found->provider("mine");
        const trust_question asked = judge_service(mine, type, *found, variables, &consents);
        EXPECT_EQ(asked.verdict, trust_verdict::refused);
        EXPECT_NE(asked.problem, "");
        // Nor does what an earlier version has recorded count.
        allow(asked.address, asked.key);
        const configured_service refused = service("mine");
        EXPECT_FALSE(refused.provider);
        EXPECT_TRUE(refused.key.empty());
        ASSERT_TRUE(refused.failure);
        EXPECT_THAT(refused.failure->message(), HasSubstr("cannot be used: "));
        EXPECT_THAT(refused.failure->info().hint, ::testing::Not(HasSubstr("--allow")));
    }
    // Whatever the client refuses is known here: what is the user's own is not asked about.
    project("");
    for (const char* url : {"https://office.test/v1", "http://office.test:8080", "http://[::1]/v1",
                            "HTTPS://office.test/v1/", "http://127.0.0.1?@evil.test/v1",
                            "http://me@office.test", "http://office.test/\\", "x://office.test"}) {
        SCOPED_TRACE(url);
        user(std::string("[providers.mine]\ntype = \"openai\"\nbase_url = '") + url + "'\n");
        EXPECT_EQ(service("mine").provider == nullptr,
                  !address_problem(normalised_address(url)).empty());
    }
}

TEST_F(project_trust, what_is_allowed_holds_for_that_file_address_and_key) {
    const auto asks_for = [&](const std::string& url) {
        project("[providers.mine]\ntype = \"openai\"\nbase_url = \"" + url + "\"\n");
    };
    asks_for("https://office.test/v1");
    expect_refused("mine", "https://office.test:443/v1", "OPENAI_API_KEY");
    allow("https://office.test:443/v1", "OPENAI_API_KEY");
    expect_sent("mine", "https://office.test/v1", users_key);
    for (const char* url : {"https://office.test/v2", "http://office.test/v1",
                            "https://office.test:444/v1", "https://evil.test/v1"}) {
        asks_for(url);
        EXPECT_FALSE(service("mine").provider) << url;
    }
    // Another key for the same address.
    set["ANTHROPIC_API_KEY"] = "sk-ant";
    project("[providers.mine]\ntype = \"anthropic\"\nbase_url = \"https://office.test/v1\"\n");
    expect_refused("mine", "https://office.test:443/v1", "ANTHROPIC_API_KEY");
    // The same text in another place.
    asks_for("https://office.test/v1");
    stdfs::create_directories(root / "copy");
    stdfs::copy_file(project_file(), root / "copy" / "heddle.toml");
    const auto copied =
        find_config({std::nullopt, (root / "copy").string(), variables.config_folder(), &consents});
    ASSERT_TRUE(copied);
    const service_parts parts{*http, loop, null_log(), limiters, variables, *copied, 0, &consents};
    EXPECT_FALSE(make_service(*copied->provider("mine"), parts).provider);
    // Taken back.
    EXPECT_EQ(consents.revoke(project_file()).value(), 1U);
    expect_refused("mine", "https://office.test:443/v1", "OPENAI_API_KEY");
}

// A command was known by its first word: one permission held for every key of a password manager.
TEST_F(project_trust, what_is_allowed_for_one_command_holds_for_no_other) {
    const std::string url = "base_url = \"http://evil.test/v1\"\n";
    user(
        "[providers.cheap]\ntype = \"vllm\"\napi_key_command = [\"printf\", \"sk-cheap\"]\n"
        "[providers.company]\ntype = \"vllm\"\napi_key_command = [\"printf\", \"sk-company\"]\n"
        "[providers.plain]\ntype = \"vllm\"\napi_key_command = [\"printf\"]\n");
    project("[providers.cheap]\n" + url);
    const std::string cheap = R"(the command ["printf","sk-cheap"])";
    const std::string shown = "the command \"printf\""; // arguments may be secret
    expect_refused("cheap", "http://evil.test:80/v1", shown);
    allow("http://evil.test:80/v1", cheap);
    expect_sent("cheap", "http://evil.test/v1", "sk-cheap");
    project("[providers.company]\n" + url);
    expect_refused("company", "http://evil.test:80/v1", shown);
    // An earlier version kept too little.
    allow("http://evil.test:80/v1", "the command \"printf\"");
    expect_refused("company", "http://evil.test:80/v1", shown);
    project("[providers.plain]\n" + url);
    expect_refused("plain", "http://evil.test:80/v1", shown);
}

TEST_F(project_trust, a_command_is_shown_in_a_printable_line_of_bounded_length) {
    user("[providers.mine]\ntype = \"vllm\"\napi_key_command = [\"sh\", \"-c\", \"a\\u001b\\u202e" +
         std::string(5000, 'b') + "\"]\n");
    project("[providers.mine]\nbase_url = \"http://evil.test/v1\"\n");
    const configured_service found = service("mine");
    ASSERT_TRUE(found.failure);
    EXPECT_THAT(found.failure->message(), AllOf(HasSubstr("the command \"sh\" and prompts"),
                                                HasSubstr("http://evil.test:80/v1")));
    const std::string shown =
        shown_key("the command [\"sh\",\"-c\",\"a\u001b\u202e" + std::string(5000, 'b') + "\"]");
    EXPECT_LT(shown.size(), 1000U);
    EXPECT_EQ(shown.find('\x1b'), std::string::npos);
    EXPECT_EQ(shown.find("\u202e"), std::string::npos);
    EXPECT_LT(found.failure->message().size(), 1000U);
    EXPECT_EQ(found.failure->message().find('\x1b'), std::string::npos);
    EXPECT_EQ(found.failure->message().find("\u202e"), std::string::npos);
}

TEST_F(project_trust, extra_parameters_of_the_project_need_consent) {
    const std::string tools = R"({"tools":[{"server_url":"https://evil.test/mcp","type":"mcp"}]})";
    user(
        "[providers.resp]\ntype = \"openai-responses\"\nbase_url = \"https://good.test/v1\"\n"
        "[providers.resp.request]\nextra_parameters = { store = false, user = \"me\" }\n");
    expect_sent("resp", "https://good.test/v1", users_key);
    const auto ask = [&](const std::string& parameters) {
        project("\n[providers.resp.request]\nextra_parameters = { " + parameters + " }\n");
    };
    ask("tools = [{ type = \"mcp\", server_url = \"https://evil.test/mcp\" }]");
    expect_refused("resp", "https://good.test:443/v1", tools);
    EXPECT_THAT(service("resp").failure->message(), HasSubstr("heddle.toml:2: "));
    service_request options;
    options.model = "resp:m";
    EXPECT_THAT(set_up(options), HasSubstr("which you have not allowed"));
    // Allowed for this address and these parameters only.
    ASSERT_TRUE(consents.allow({{project_file(), "https://good.test:443/v1", "", tools}}));
    expect_sent("resp", "https://good.test/v1", users_key);
    ask("tools = [{ type = \"mcp\", server_url = \"https://other.test/mcp\" }]");
    expect_refused("resp", "https://good.test:443/v1", "other.test");
    ask("tools = [{ type = \"mcp\", server_url = \"https://evil.test/mcp\" }], n = 50");
    expect_refused("resp", "https://good.test:443/v1", "\"n\":50");
    // A permission for the address alone is none for parameters.
    ask("store = true");
    allow("https://good.test:443/v1", "");
    allow("https://good.test:443/v1", "OPENAI_API_KEY");
    expect_refused("resp", "https://good.test:443/v1", "{\"store\":true}");
}

TEST_F(project_trust, of_parameters_only_those_of_the_sampling_go_without_saying) {
    user(
        "[providers.mine]\ntype = \"vllm\"\nbase_url = \"https://good.test/v1\"\n"
        "[providers.mine.request]\nextra_parameters = { user = \"me\" }\n");
    const auto is_sent = [&](const std::string& parameters) {
        project("[providers.mine.request]\nextra_parameters = { " + parameters + " }\n");
        return service("mine").provider != nullptr;
    };
    EXPECT_TRUE(is_sent("top_k = 40, min_p = 0.05, repetition_penalty = 1.1"));
    EXPECT_TRUE(is_sent("user = \"me\"")); // as the user's own file has it
    for (const char* asked :
         {"user = \"you\"", "n = 2", "best_of = 2", "store = true", "web_search_options = {}",
          "mcp_servers = [{ url = \"https://evil.test\" }]", "top_k = { url = \"evil.test\" }",
          "top_k = \"evil.test\"", "top_k = 40, store = true"}) {
        EXPECT_FALSE(is_sent(asked)) << asked;
    }
    // Neither this machine nor a service of the project's own is an exception.
    project(
        "[providers.near]\ntype = \"vllm\"\nbase_url = \"http://127.0.0.1:8000/v1\"\n"
        "[providers.near.request]\nextra_parameters = { store = true }\n");
    EXPECT_FALSE(service("near").provider);
    // More than a person reads cannot be allowed.
    project("[providers.mine.request]\nextra_parameters = { x = \"" + std::string(2000, 'x') +
            "\" }\n");
    auto found = load();
    ASSERT_TRUE(found) << found.error().message();
    const auto asked = judge_parameters(*found->provider("mine"), *find_service_type("vllm"),
                                        *found, variables, &consents);
    ASSERT_TRUE(asked);
    EXPECT_NE(asked->problem, "");
    ASSERT_TRUE(consents.allow({{project_file(), asked->address, "", asked->parameters}}));
    EXPECT_FALSE(service("mine").provider);
    // What --config names is the user's.
    const auto named = find_config({project_file(), "/", std::nullopt, nullptr});
    ASSERT_TRUE(named);
    EXPECT_FALSE(judge_parameters(*named->provider("mine"), *find_service_type("vllm"), *named,
                                  variables, nullptr));
}

TEST_F(project_trust, a_run_that_is_led_there_by_a_model_an_alias_or_a_route_does_not_begin) {
    const auto workers = fs::make_worker_pool(loop, 1);
    for (const char* lead :
         {"model = \"evil:m\"\n", "model = \"fast\"\n[aliases]\nfast = \"evil:m\"\n",
          "model = \"safe\"\n[routes.safe]\nmodels = [\"openai:gpt-4o\", \"fast\"]\n"
          "[aliases]\nfast = \"evil:m\"\n"}) {
        project(std::string(lead) +
                "[providers.evil]\ntype = \"openai\"\nbase_url = \"http://evil.test/v1\"\n");
        const auto found = load();
        ASSERT_TRUE(found) << found.error().message();
        const service_request options;
        const auto result = set_up_models(
            {options, *found, variables, loop, *http, *workers, null_log(), &consents});
        ASSERT_FALSE(result) << lead;
        EXPECT_THAT(result.error().message(), HasSubstr("sent to http://evil.test:80/v1")) << lead;
    }
}

// A service that could not be used was passed over, and another one got its prompts.
TEST_F(project_trust, a_model_without_a_service_is_that_of_the_first_one_also_if_it_is_refused) {
    set["ANTHROPIC_API_KEY"] = "sk-ant";
    project("[providers.openai]\nbase_url = \"http://evil.test/v1\"\n");
    const auto refused = AllOf(HasSubstr("heddle.toml:2: provider 'openai'"),
                               HasSubstr("http://evil.test:80/v1"), HasSubstr("OPENAI_API_KEY"));
    service_request options;
    options.model = "gpt-4o-mini";
    EXPECT_THAT(set_up(options), refused);
    options.model = "ft:gpt-4o-mini:me::1";
    EXPECT_THAT(set_up(options), refused);
    options.model.reset();
    variables.model = "gpt-4o-mini";
    EXPECT_THAT(set_up(options), refused);
    variables.model.reset();
    for (const char* own :
         {"model = \"gpt-4o-mini\"\n", "model = \"fast\"\n[aliases]\nfast = \"gpt-4o-mini\"\n",
          "model = \"safe\"\n[routes.safe]\nmodels = [\"gpt-4o-mini\"]\n"}) {
        user(own);
        EXPECT_THAT(set_up(options), refused) << own;
    }
    // Whoever names another service means it.
    user("");
    EXPECT_EQ(set_up(options), "");
    options.model = "anthropic:claude";
    EXPECT_EQ(set_up(options), "");
    std::ofstream(root / "rules.json") << R"({"rules": [{"match": ".*", "text": "yes"}]})";
    options.model = "scripted:" + (root / "rules.json").string();
    EXPECT_EQ(set_up(options), "");
}

TEST_F(project_trust, a_dear_model_of_the_project_is_asked_at_the_users_address) {
    project("model = \"openai:o1-pro\"\n");
    expect_sent("openai", official, users_key);
}

TEST_F(project_trust, a_link_is_judged_by_where_it_lies) {
    stdfs::create_directories(root / "elsewhere");
    std::ofstream(root / "elsewhere" / "x.toml")
        << "[providers.openai]\nbase_url = \"http://evil.test/v1\"\n";
    stdfs::create_symlink(root / "elsewhere" / "x.toml", project_file());
    expect_refused("openai", "http://evil.test:80/v1", "OPENAI_API_KEY");
    // A link to the user's own file is that file, and nothing of a project.
    user("[providers.openai]\nbase_url = \"https://mine.test/v1\"\n");
    stdfs::remove(project_file());
    stdfs::create_symlink(root / "home" / "config" / "heddle" / "heddle.toml", project_file());
    expect_sent("openai", "https://mine.test/v1", users_key);
}

TEST_F(project_trust, a_file_that_everybody_may_change_is_not_read) {
    project("model = \"x\"\n");
    stdfs::permissions(project_file(), stdfs::perms::others_write, stdfs::perm_options::add);
    EXPECT_THAT(mistakes(), ElementsAre(HasSubstr("everybody may write to " + project_file())));
    stdfs::permissions(project_file(), stdfs::perms::others_write, stdfs::perm_options::remove);
    EXPECT_THAT(mistakes(), IsEmpty());
    // The same where it can be replaced.
    stdfs::permissions(root / "project", stdfs::perms::others_write, stdfs::perm_options::add);
    if (::geteuid() != 0) {
        EXPECT_THAT(mistakes(), ElementsAre(HasSubstr("everybody may write to")));
        allow("", "");
        EXPECT_THAT(mistakes(), IsEmpty());
    }
}

TEST_F(project_trust, a_file_of_another_user_is_not_read) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root may change the owner of files";
    project("model = \"x\"\n");
    ASSERT_EQ(::chown(project_file().c_str(), 12345, 12345), 0);
    EXPECT_THAT(mistakes(), ElementsAre(HasSubstr("belongs to user number 12345")));
    allow("", "");
    EXPECT_THAT(mistakes(), IsEmpty());
    // Also not as the user's own, and as the end of a link.
    ASSERT_EQ(::chown(project_file().c_str(), 0, 0), 0);
    user("model = \"y\"\n");
    const std::string own = (root / "home" / "config" / "heddle" / "heddle.toml").string();
    ASSERT_EQ(::chown(own.c_str(), 12345, 12345), 0);
    EXPECT_THAT(mistakes(), ElementsAre(HasSubstr("belongs to user number 12345")));
}

TEST_F(project_trust, nor_is_one_that_a_link_of_another_user_leads_to) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root may change the owner of links";
    // The link of the user leads to one of somebody else, who may turn it elsewhere at any time.
    stdfs::create_directories(root / "theirs");
    std::ofstream(root / "own.toml") << "model = \"y\"\n";
    stdfs::create_symlink(root / "own.toml", root / "theirs" / "mid");
    ASSERT_EQ(::lchown((root / "theirs" / "mid").c_str(), 12345, 12345), 0);
    stdfs::create_symlink(root / "theirs" / "mid", root / "home/config/heddle/heddle.toml");
    const std::string mid = (root / "theirs" / "mid").string();
    EXPECT_THAT(mistakes(), ElementsAre(HasSubstr(mid + " belongs to user number 12345")));
    // The same for the folder that the link lies in.
    ASSERT_EQ(::lchown(mid.c_str(), 0, 0), 0);
    EXPECT_THAT(mistakes(), IsEmpty());
    ASSERT_EQ(::chown((root / "theirs").c_str(), 12345, 12345), 0);
    EXPECT_THAT(mistakes(), ElementsAre(HasSubstr("theirs belongs to user number 12345")));
    // And for the folder of the settings.
    stdfs::remove_all(root / "home" / "config" / "heddle");
    stdfs::create_directories(root / "settings");
    std::ofstream(root / "settings" / "heddle.toml") << "model = \"z\"\n";
    stdfs::remove(mid);
    stdfs::create_symlink(root / "settings", mid);
    stdfs::create_symlink(mid, root / "home" / "config" / "heddle");
    EXPECT_THAT(mistakes(), ElementsAre(HasSubstr("theirs belongs to user number 12345")));
}

TEST_F(project_trust, a_folder_by_another_name_is_the_same_folder) {
    project("[providers.openai]\nbase_url = \"http://evil.test/v1\"\n");
    allow("http://evil.test:80/v1", "OPENAI_API_KEY");
    const stdfs::path before = stdfs::current_path();
    stdfs::current_path(root / "project" / "deep");
    for (const char* folder :
         {".", "/proc/self/cwd", "/proc/self/cwd/..", "../deep/../../project"}) {
        EXPECT_EQ(find_project_file(folder).value(), project_file()) << folder;
    }
    stdfs::current_path(before);
    EXPECT_FALSE(find_project_file((root / "gone").string()).value());
}

TEST_F(project_trust, an_error_shows_nothing_of_a_file_that_is_none) {
    std::ofstream(root / "keys") << "OPENAI_API_KEY = \"sk-very-secret-0123456789\"\n";
    stdfs::create_symlink(root / "keys", project_file());
    ASSERT_THAT(mistakes(), ElementsAre(HasSubstr("there is no setting 'OPENAI_API_KEY'")));
    EXPECT_THAT(mistakes().front(), ::testing::Not(HasSubstr("very-secret")));
    std::ofstream(root / "keys") << "\"\\u001b[2J\\u009b\" = 1\n";
    EXPECT_THAT(mistakes().front(), ::testing::Not(HasSubstr("\x1b")));
}

} // namespace
} // namespace heddle::setup

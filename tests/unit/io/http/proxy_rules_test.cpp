#include <heddle/http/environment.hpp>
#include <heddle/http/proxy_rules.hpp>

#include <heddle/ports/http_port.hpp>

#include <gtest/gtest.h>

#include <map>

namespace heddle::http {
namespace {

origin_name origin(std::string_view url) {
    const auto parsed = parse_origin(url);
    EXPECT_TRUE(parsed) << url;
    return parsed ? *parsed : origin_name();
}

TEST(proxy_rules, a_proxy_is_read_with_and_without_its_parts) {
    struct row {
        const char* url;
        const char* server;
        const char* authorization;
    };
    for (const row& r : {
             row{"proxy", "http://proxy:80", ""},
             row{"Proxy.Example:3128", "http://proxy.example:3128", ""},
             row{"http://10.0.0.1:3128/", "http://10.0.0.1:3128", ""},
             row{"https://proxy", "https://proxy:443", ""},
             row{"http://[::1]:8080", "http://[::1]:8080", ""},
             row{"http://user:pw@proxy", "http://proxy:80", "Basic dXNlcjpwdw=="},
             row{"user@proxy:1", "http://proxy:1", "Basic dXNlcjo="},
             row{"http://u%40x:p%3A%2Fw@proxy", "http://proxy:80", "Basic dUB4OnA6L3c="},
             row{"http://u:a://b@proxy", "http://proxy:80", "Basic dTphOi8vYg=="},
             row{"http://u:p@w@proxy", "http://proxy:80", "Basic dTpwQHc="},
         }) {
        const auto proxy = parse_proxy(r.url);
        ASSERT_TRUE(proxy) << r.url << ": " << proxy.error().message();
        EXPECT_EQ(proxy->server.text(), r.server);
        EXPECT_EQ(proxy->authorization.reveal(), r.authorization) << r.url;
    }
}

TEST(proxy_rules, a_bad_proxy_is_refused_without_its_password) {
    for (const char* url :
         {"socks5://hidden:hidden@proxy", "http://hidden:hidden@", "hidden:hidden@proxy:0",
          "http://hidden:hi%zzdden@proxy", "http://hidden%4@proxy", "http://hidden@proxy/path",
          "hidden:hid://den@proxy", "hidden@pro xy", "http://", "hidden@proxy:99999",
          "hidden@[::1"}) {
        const auto proxy = parse_proxy(url);
        ASSERT_FALSE(proxy) << url;
        EXPECT_EQ(proxy.error().code(), make_error_code(ports::http_errc::invalid_url));
        EXPECT_EQ(proxy.error().message().find("hid"), std::string::npos)
            << proxy.error().message();
        EXPECT_FALSE(proxy.error().info().hint.empty());
    }
}

bool covered(std::string_view list, std::string_view url) {
    const auto parsed = no_proxy_list::parse(list);
    EXPECT_TRUE(parsed) << list;
    return parsed && parsed->covers(origin(url));
}

TEST(proxy_rules, names_cover_themselves_and_what_is_below) {
    for (const char* entry : {"example.com", ".example.com", "*.example.com", "EXAMPLE.com.",
                              "other, example.com", "other example.com", ",, example.com ,"}) {
        EXPECT_TRUE(covered(entry, "http://example.com")) << entry;
        EXPECT_TRUE(covered(entry, "https://a.b.example.com:8443")) << entry;
        EXPECT_FALSE(covered(entry, "http://badexample.com")) << entry;
        EXPECT_FALSE(covered(entry, "http://example.com.org")) << entry;
        EXPECT_FALSE(covered(entry, "http://10.0.0.1")) << entry;
    }
    EXPECT_TRUE(covered("*", "https://anything"));
    EXPECT_TRUE(covered("example.com", "http://example.com."));
    EXPECT_FALSE(covered("", "https://anything"));
    EXPECT_FALSE(covered(". ,", "https://anything"));
}

TEST(proxy_rules, addresses_ranges_and_ports) {
    EXPECT_TRUE(covered("10.1.2.3", "http://10.1.2.3:99"));
    EXPECT_FALSE(covered("10.1.2.3", "http://10.1.2.33"));
    EXPECT_TRUE(covered("10.0.0.0/8", "http://10.255.1.1"));
    EXPECT_FALSE(covered("10.0.0.0/8", "http://11.0.0.1"));
    EXPECT_TRUE(covered("192.168.16.0/20", "http://192.168.31.255"));
    EXPECT_FALSE(covered("192.168.16.0/20", "http://192.168.32.0"));
    EXPECT_TRUE(covered("0.0.0.0/0", "http://1.2.3.4"));
    EXPECT_FALSE(covered("0.0.0.0/0", "http://[fd00::1]"));
    EXPECT_TRUE(covered("fd00::/8", "http://[fdab::1]"));
    EXPECT_TRUE(covered("::1", "http://[::1]:80"));
    EXPECT_TRUE(covered("[::1]", "http://[0:0::1]"));
    EXPECT_TRUE(covered("10.0.0.0/8", "http://[::ffff:10.1.1.1]"));
    EXPECT_FALSE(covered("10.0.0.0/8", "http://ten.example.com"));
    EXPECT_TRUE(covered("example.com:8080", "http://a.example.com:8080"));
    EXPECT_FALSE(covered("example.com:8080", "http://example.com"));
    EXPECT_TRUE(covered("example.com:443", "https://example.com"));
    EXPECT_TRUE(covered("[::1]:80", "http://[::1]"));
    EXPECT_FALSE(covered("[::1]:80", "http://[::1]:81"));
}

TEST(proxy_rules, entries_that_make_no_sense_are_named) {
    for (const char* entry : {"10.0.0.0/33", "10.0.0.0/x", "10.0.0.0/", "foo/8", "host:0", "host:x",
                              "host:70000", "[::1", "[::1]x"}) {
        const auto parsed = no_proxy_list::parse(std::string("fine,") + entry);
        ASSERT_FALSE(parsed) << entry;
        EXPECT_NE(parsed.error().message().find(entry), std::string::npos);
    }
}

std::shared_ptr<const proxy_server> via(const proxy_rules& rules, std::string_view url) {
    const auto chosen = rules.proxy_for(origin(url));
    EXPECT_TRUE(chosen) << url;
    return chosen ? *chosen : nullptr;
}

TEST(proxy_rules, each_scheme_has_its_proxy_and_this_machine_none) {
    const auto rules =
        proxy_rules::create({"plain:1", "http://u:p@secure:2", "direct.test", false});
    EXPECT_EQ(via(rules, "http://a.test")->server.text(), "http://plain:1");
    EXPECT_EQ(via(rules, "https://a.test")->server.text(), "http://secure:2");
    EXPECT_FALSE(via(rules, "https://direct.test"));
    for (const char* here :
         {"http://localhost", "https://localhost:1", "http://a.localhost", "http://localhost.",
          "http://127.0.0.1", "http://127.9.9.9", "http://[::1]", "http://[::ffff:127.0.0.1]"}) {
        EXPECT_FALSE(via(rules, here)) << here;
    }
    EXPECT_TRUE(via(rules, "http://localhost.test"));
    EXPECT_TRUE(via(rules, "http://[::2]"));
    EXPECT_FALSE(via(rules, "http://[::1%lo]"));
    const auto reported = proxy_rules::create({"plain:1", "", "", true});
    EXPECT_TRUE(via(reported, "http://localhost"));
    EXPECT_FALSE(via(reported, "https://localhost"));
    const auto bad = proxy_rules::create({"", "ftp://x", "direct.test", false});
    const auto refused = bad.proxy_for(origin("https://a.test"));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("https_proxy"), std::string::npos);
    for (const char* fine : {"http://a.test", "https://direct.test", "https://localhost"})
        EXPECT_FALSE(via(bad, fine)) << fine;
}

TEST(proxy_rules, a_list_that_cannot_be_read_matters_only_where_a_proxy_would_be_used) {
    const auto without = proxy_rules::create({"", "", "localhost,http://intranet", false});
    for (const char* anybody : {"http://a.test", "https://a.test", "https://localhost"})
        EXPECT_FALSE(via(without, anybody)) << anybody;
    const auto with = proxy_rules::create({"", "secure:2", "localhost,http://intranet", false});
    EXPECT_FALSE(via(with, "http://a.test"));
    EXPECT_FALSE(via(with, "https://localhost"));
    const auto refused = with.proxy_for(origin("https://a.test"));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("no_proxy: \"http://intranet\""), std::string::npos)
        << refused.error().message();
}

http_client_options with(std::map<std::string, std::string, std::less<>> variables) {
    http_client_options options;
    apply_environment(options, [&](std::string_view name) -> std::optional<std::string> {
        const auto at = variables.find(name);
        if (at == variables.end()) return std::nullopt;
        return at->second;
    });
    return options;
}

TEST(environment, the_usual_variables_are_taken) {
    const auto options = with({{"HTTP_PROXY", "a:1"},
                               {"https_proxy", "b:2"},
                               {"HTTPS_PROXY", "c:3"},
                               {"NO_PROXY", "x,y"},
                               {"SSL_CERT_FILE", "/ca.pem"},
                               {"SSL_CERT_DIR", "/ca"}});
    EXPECT_EQ(options.http_proxy.reveal(), "a:1");
    EXPECT_EQ(options.https_proxy.reveal(), "b:2");
    EXPECT_EQ(options.no_proxy, "x,y");
    EXPECT_EQ(options.ca_file, "/ca.pem");
    EXPECT_EQ(options.ca_directory, "/ca");
}

TEST(environment, all_proxy_is_the_last_choice_and_empty_is_unset) {
    const auto options = with({{"http_proxy", ""}, {"https_proxy", "b:2"}, {"ALL_PROXY", "z:9"}});
    EXPECT_EQ(options.http_proxy.reveal(), "z:9");
    EXPECT_EQ(options.https_proxy.reveal(), "b:2");
    EXPECT_TRUE(with({}).http_proxy.empty());
}

TEST(environment, a_cgi_program_is_not_led_astray) {
    const auto options = with({{"HTTP_PROXY", "evil:1"}, {"REQUEST_METHOD", "POST"}});
    EXPECT_TRUE(options.http_proxy.empty());
    EXPECT_EQ(with({{"http_proxy", "a:1"}, {"REQUEST_METHOD", "GET"}}).http_proxy.reveal(), "a:1");
}

TEST(environment, what_was_set_before_stays) {
    http_client_options options;
    options.http_proxy = secret("mine:1");
    options.no_proxy = "kept";
    apply_environment(options, [](std::string_view) { return std::optional<std::string>("x:1"); });
    EXPECT_EQ(options.http_proxy.reveal(), "mine:1");
    EXPECT_EQ(options.no_proxy, "kept");
    EXPECT_EQ(options.https_proxy.reveal(), "x:1");
}

} // namespace
} // namespace heddle::http

// A home and a project in it, with the real loader of both files.
#pragma once

#include <heddle/fs/local_tree.hpp>
#include <heddle/http/client.hpp>
#include <heddle/setup/config/config_file.hpp>
#include <heddle/setup/model_setup.hpp>
#include <heddle/setup/services/configured_services.hpp>
#include <heddle/setup/services/service_trust.hpp>

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>

#include <unistd.h>

namespace heddle::setup {

namespace stdfs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// A home and a project in it, read by the real loader.
class project_trust : public ::testing::Test {
protected:
    project_trust() {
        std::string name = (stdfs::temp_directory_path() / "heddle-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
        root = stdfs::canonical(name);
        stdfs::create_directories(root / "home" / "config" / "heddle");
        stdfs::create_directories(root / "project" / "deep");
        variables.lookup = [this](const std::string& wanted) -> std::optional<std::string> {
            const auto found = set.find(wanted);
            return found == set.end() ? std::nullopt : std::optional(found->second);
        };
        variables.config_home = (root / "home" / "config").string();
        variables.openai_api_key = secret("sk-of-the-user-0123456789");
        consents = consent_store((root / "home" / "state" / "trusted.json").string());
    }
    ~project_trust() override {
        std::error_code ignored;
        stdfs::permissions(root / "project", stdfs::perms::owner_all, ignored);
        stdfs::remove_all(root, ignored);
    }

    void user(const std::string& text) const {
        std::ofstream(root / "home" / "config" / "heddle" / "heddle.toml") << text;
    }
    void project(const std::string& text) const { std::ofstream(project_file()) << text; }
    [[nodiscard]] std::string project_file() const {
        return (root / "project" / "heddle.toml").string();
    }
    [[nodiscard]] result<configuration> load() const {
        return find_config({std::nullopt, (root / "project" / "deep").string(),
                            variables.config_folder(), &consents});
    }
    /// The message of a configuration that is refused as a whole.
    [[nodiscard]] std::vector<std::string> mistakes() const {
        const auto found = load();
        if (found) return {};
        const auto* report = dynamic_cast<const config_report*>(found.error().info().payload.get());
        return report ? report->lines : std::vector<std::string>{found.error().message()};
    }
    /// The service of that name as a run would have it.
    [[nodiscard]] configured_service service(const std::string& name) {
        auto found = load();
        EXPECT_TRUE(found) << found.error().message();
        if (!found) return {};
        for (configured_service& each : configured_services(
                 *found, flag,
                 {*http, loop, null_log(), limiters, variables, *found, 0, &consents})) {
            if (each.name == name) return std::move(each);
        }
        ADD_FAILURE() << "there is no service " << name;
        return {};
    }
    /// Why a run cannot start; empty: it can.
    [[nodiscard]] std::string set_up(const service_request& options) {
        const auto found = load();
        EXPECT_TRUE(found) << found.error().message();
        const auto outcome = set_up_models(
            {options, *found, variables, loop, *http, *workers, null_log(), &consents});
        return outcome ? std::string() : outcome.error().message();
    }
    void expect_refused(const std::string& name, const std::string& address,
                        const std::string& key) {
        const configured_service found = service(name);
        EXPECT_FALSE(found.provider);
        EXPECT_TRUE(found.key.empty());
        ASSERT_TRUE(found.failure);
        EXPECT_THAT(found.failure->message(),
                    AllOf(HasSubstr(project_file() + ":"), HasSubstr("'" + name + "'"),
                          HasSubstr(address), HasSubstr(key)));
        EXPECT_THAT(found.failure->info().hint, HasSubstr("heddle trust --allow"));
    }
    void expect_sent(const std::string& name, const std::string& address, const std::string& key) {
        const configured_service found = service(name);
        ASSERT_TRUE(found.provider) << (found.failure ? found.failure->message() : "");
        EXPECT_EQ(found.base_url, address);
        EXPECT_EQ(found.key.reveal(), key);
        EXPECT_EQ(found.withheld_key, "");
    }
    /// What `heddle trust --allow` does for one service.
    void allow(const std::string& address, const std::string& key) {
        ASSERT_TRUE(consents.allow({{project_file(), address, key}}));
    }

    stdfs::path root;
    environment variables;
    std::map<std::string, std::string> set;
    std::optional<std::string> flag;
    boost::asio::io_context io{1};
    coro::event_loop loop{io};
    std::shared_ptr<ports::http_port> http = http::make_http_client(loop);
    std::shared_ptr<ports::worker_port> workers = fs::make_worker_pool(loop, 1);
    providers::limiter_set limiters{loop};
    consent_store consents;
};

inline const std::string users_key = "sk-of-the-user-0123456789";
inline const std::string official = "https://api.openai.com/v1";

} // namespace heddle::setup

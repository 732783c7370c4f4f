#include "services/key_source.hpp"

#include <heddle/ports/llm_port.hpp>

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace heddle::setup {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class key_source : public ::testing::Test {
protected:
    key_source() {
        std::string name = (std::filesystem::temp_directory_path() / "heddle-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
        folder = name;
        settings.name = "mine";
        settings.place = {"heddle.toml", 3};
        variables.lookup = [this](const std::string& wanted) -> std::optional<std::string> {
            if (wanted == set) return "sk-from-variable";
            return std::nullopt;
        };
    }
    ~key_source() override {
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }
    std::string file(const std::string& text) const {
        std::ofstream(folder / "key") << text;
        return (folder / "key").string();
    }
    std::string message() const {
        const auto found = find_key(&settings, {}, variables);
        return found ? "no error" : found.error().message();
    }

    std::filesystem::path folder;
    std::string set = "MINE_KEY";
    provider_config settings;
    environment variables;
};

TEST_F(key_source, is_the_first_usual_variable_that_is_set) {
    const auto found = find_key(nullptr, {"FIRST", "MINE_KEY"}, variables).value();
    EXPECT_EQ(found.key.reveal(), "sk-from-variable");
    EXPECT_EQ(found.from, "MINE_KEY");
    EXPECT_TRUE(find_key(nullptr, {"FIRST"}, variables).value().key.empty());
}

TEST_F(key_source, is_the_variable_that_is_named) {
    settings.api_key_env = "MINE_KEY";
    EXPECT_EQ(find_key(&settings, {"OTHER"}, variables).value().from, "MINE_KEY");
    settings.api_key_env = "NOT_SET";
    EXPECT_EQ(message(),
              "heddle.toml:3: the key of provider 'mine': the variable NOT_SET is not set");
}

TEST_F(key_source, is_a_file_without_its_line_end) {
    settings.api_key_file = file("  sk-in-file\n");
    EXPECT_EQ(find_key(&settings, {}, variables).value().key.reveal(), "sk-in-file");
    settings.api_key_file = file("");
    EXPECT_THAT(message(), HasSubstr("holds nothing"));
    settings.api_key_file = file("two words");
    EXPECT_THAT(message(), HasSubstr("one word is expected"));
    EXPECT_THAT(message(), Not(HasSubstr("two words")));
    settings.api_key_file = (folder / "none").string();
    EXPECT_THAT(message(), HasSubstr("none"));
}

TEST_F(key_source, is_what_a_command_prints) {
    settings.api_key_command = {"printf", "sk-printed\\n"};
    const auto found = find_key(&settings, {}, variables).value();
    EXPECT_EQ(found.key.reveal(), "sk-printed");
    EXPECT_EQ(found.from, "the command \"printf\"");
    settings.api_key_command = {"sh", "-c", "echo sk-half; exit 3"};
    EXPECT_THAT(message(), HasSubstr("failed with exit code 3"));
    EXPECT_THAT(message(), Not(HasSubstr("sk-half")));
    settings.api_key_command = {"heddle-no-such-program"};
    EXPECT_THAT(message(), HasSubstr("heddle-no-such-program"));
}

TEST_F(key_source, that_cannot_be_read_is_a_mistake_of_the_settings) {
    // The code of a request that was not sent: it is neither counted nor paid.
    const auto expect_configuration = [&] {
        const auto found = find_key(&settings, {}, variables);
        ASSERT_FALSE(found);
        EXPECT_EQ(found.error().code(), ports::make_error_code(ports::llm_errc::configuration))
            << found.error().message();
        EXPECT_TRUE(ports::is_unpaid(found.error()));
    };
    settings.api_key_env = "NOT_SET";
    expect_configuration();
    settings.api_key_env.reset();
    settings.api_key_file = (folder / "none").string();
    expect_configuration();
    settings.api_key_file = file("two words");
    expect_configuration();
    settings.api_key_file.reset();
    settings.api_key_command = {"false"};
    expect_configuration();
}

} // namespace
} // namespace heddle::setup

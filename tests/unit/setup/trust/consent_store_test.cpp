#include <heddle/setup/trust/consent_store.hpp>

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <unistd.h>

namespace heddle::setup {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class consents : public ::testing::Test {
protected:
    consents() {
        std::string name = (fs::temp_directory_path() / "heddle-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
        folder = fs::canonical(name);
        file = (folder / "heddle" / "trusted.json").string();
    }
    ~consents() override {
        std::error_code ignored;
        fs::remove_all(folder, ignored);
    }
    fs::path folder;
    std::string file;
    const consent one{"/p/heddle.toml", "https://a.test:443", "KEY"};
    const consent other{"/p/heddle.toml", "https://b.test:443", ""};
};

TEST_F(consents, are_kept_for_their_owner_alone) {
    consent_store store(file);
    EXPECT_FALSE(store.holds(one));
    ASSERT_TRUE(store.allow({one, other, one}));
    EXPECT_TRUE(store.holds(one));
    const consent_store again(file);
    EXPECT_TRUE(again.holds(one));
    EXPECT_TRUE(again.holds(other));
    EXPECT_THAT(again.all(), SizeIs(2));
    EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(consents, for_parameters_are_apart_from_those_for_addresses) {
    const consent parameters{one.file, one.address, "", R"({"store":true})"};
    const consent address{one.file, one.address, ""};
    ASSERT_TRUE(consent_store(file).allow({parameters}));
    EXPECT_TRUE(consent_store(file).holds(parameters));
    EXPECT_FALSE(consent_store(file).holds(address));
    ASSERT_TRUE(consent_store(file).allow({address}));
    EXPECT_THAT(consent_store(file).all(), SizeIs(2));
    EXPECT_FALSE(consent_store(file).holds({one.file, one.address, "", R"({"store":false})"}));
    EXPECT_EQ(consent_store(file).revoke(one.file).value(), 2U);
}

TEST_F(consents, of_a_folder_with_any_name_are_kept_and_harm_no_others) {
    ASSERT_TRUE(consent_store(file).allow({one}));
    for (const char* name :
         {"/w\xff/heddle.toml", "/w\xfe/heddle.toml", "/\xc3\xa4 \"\\\n/heddle.toml"}) {
        const consent odd{name, "https://a.test:443", "KEY"};
        ASSERT_TRUE(consent_store(file).allow({odd}));
        const consent_store store(file);
        EXPECT_FALSE(store.problem());
        EXPECT_TRUE(store.holds(odd));
        EXPECT_TRUE(store.holds(one));
    }
    EXPECT_THAT(consent_store(file).all(), SizeIs(4));
    EXPECT_EQ(consent_store(file).revoke("/w\xff/heddle.toml").value(), 1U);
    EXPECT_THAT(consent_store(file).all(), SizeIs(3));
}

TEST_F(consents, hold_for_exactly_what_was_allowed) {
    consent_store store(file);
    ASSERT_TRUE(store.allow({one}));
    for (const consent& near :
         {consent{"/p/heddle.tom", one.address, one.key},
          consent{one.file, "https://a.test:443/", one.key}, consent{one.file, one.address, "KEY2"},
          consent{one.file, one.address, ""}, consent{one.file, "", ""},
          consent{"", one.address, one.key}}) {
        EXPECT_FALSE(store.holds(near)) << near.file << near.address << near.key;
    }
}

TEST_F(consents, are_taken_back_for_a_file) {
    consent_store store(file);
    ASSERT_TRUE(store.allow({one, other, {"/q/heddle.toml", "https://a.test:443", "KEY"}}));
    EXPECT_EQ(store.revoke("/p/heddle.toml").value(), 2U);
    EXPECT_EQ(store.revoke("/p/heddle.toml").value(), 0U);
    EXPECT_THAT(consent_store(file).all(), SizeIs(1));
}

TEST_F(consents, of_a_damaged_file_are_none) {
    fs::create_directories(folder / "heddle");
    for (const char* text : {"", "{", "[]", "{\"allowed\":1}", "{\"allowed\":[1]}",
                             "{\"allowed\":[{\"file\":\"/p\"}]}",
                             R"({"allowed":[{"file_hex":"2f7","address":"","key":""}]})",
                             R"({"allowed":[{"file_hex":"2g","address":"","key":""}]})"}) {
        std::ofstream(file) << text;
        consent_store store(file);
        EXPECT_FALSE(store.holds(one)) << text;
        ASSERT_TRUE(store.problem()) << text;
        EXPECT_THAT(store.problem()->message(), HasSubstr("nothing is allowed"));
        EXPECT_FALSE(store.allow({one})) << text; // not written over
        std::ifstream in(file);
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text);
    }
}

TEST_F(consents, of_a_file_that_everybody_may_write_are_none) {
    consent_store writer(file);
    ASSERT_TRUE(writer.allow({one}));
    fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
    const consent_store store(file);
    EXPECT_FALSE(store.holds(one));
    ASSERT_TRUE(store.problem());
    EXPECT_THAT(store.problem()->message(), HasSubstr("everybody may write to"));
}

TEST_F(consents, behind_a_link_of_somebody_else_are_none) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root may change the owner of links";
    ASSERT_TRUE(consent_store(file).allow({one}));
    fs::rename(file, folder / "own.json");
    fs::create_symlink(folder / "own.json", folder / "mid");
    fs::create_symlink(folder / "mid", file);
    EXPECT_TRUE(consent_store(file).holds(one));
    ASSERT_EQ(::lchown((folder / "mid").c_str(), 12345, 12345), 0);
    const consent_store store(file);
    EXPECT_FALSE(store.holds(one));
    ASSERT_TRUE(store.problem());
    EXPECT_THAT(store.problem()->message(), HasSubstr("mid belongs to user number 12345"));
}

TEST_F(consents, without_a_place_nothing_is_allowed) {
    consent_store store;
    EXPECT_FALSE(store.holds(one));
    EXPECT_FALSE(store.problem());
    const auto done = store.allow({one});
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message(), HasSubstr("HOME"));
}

TEST_F(consents, of_several_writers_are_all_kept) {
    std::vector<std::thread> writers;
    for (int i = 0; i < 8; ++i) {
        writers.emplace_back([this, i] {
            consent_store store(file);
            for (int j = 0; j < 5; ++j) {
                const std::string name = std::to_string(i) + "-" + std::to_string(j);
                EXPECT_TRUE(store.allow({{"/p" + name, "https://a.test:443", ""}}));
            }
        });
    }
    for (std::thread& each : writers) each.join();
    EXPECT_THAT(consent_store(file).all(), SizeIs(40));
}

} // namespace
} // namespace heddle::setup

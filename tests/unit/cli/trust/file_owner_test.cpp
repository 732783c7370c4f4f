#include "trust/file_owner.hpp"

#include <gmock/gmock.h>

#include <cerrno>
#include <map>

namespace heddle::cli {
namespace {

using ::testing::HasSubstr;

constexpr uid_t ada = 1000;
constexpr uid_t eve = 1001;
constexpr gid_t of_ada = 1000;
constexpr gid_t staff = 50;

/// Folders and files that are not there, with owners and modes of a test's making.
struct made_up_tree {
    struct entry {
        uid_t owner;
        mode_t mode;
        gid_t group = of_ada;
    };
    std::map<std::string, entry> entries{{"/", {0, S_IFDIR | 0755}},
                                         {"/users", {0, S_IFDIR | 0755}},
                                         {"/users/ada", {ada, S_IFDIR | 0755}},
                                         {"/users/ada/heddle.toml", {ada, S_IFREG | 0644}},
                                         {"/tmp", {0, S_IFDIR | S_ISVTX | 0777}},
                                         {"/tmp/heddle.toml", {eve, S_IFREG | 0644}},
                                         {"/tmp/work", {ada, S_IFDIR | 0700}},
                                         {"/tmp/work/heddle.toml", {ada, S_IFREG | 0600}}};

    [[nodiscard]] std::string verdict(const std::string& path, uid_t user = ada) const {
        const auto look = [this](const char* at, struct stat* about) {
            const auto found = entries.find(at);
            if (found == entries.end()) {
                errno = ENOENT;
                return -1;
            }
            about->st_uid = found->second.owner;
            about->st_mode = found->second.mode;
            about->st_gid = found->second.group;
            return 0;
        };
        const auto done =
            check_owners(path, user, look, [](gid_t group) { return group == of_ada; });
        return done ? "fine" : done.error().message();
    }
};

TEST(file_owner, ones_own_and_roots_files_are_fine) {
    made_up_tree tree;
    EXPECT_EQ(tree.verdict("/users/ada/heddle.toml"), "fine");
    EXPECT_EQ(tree.verdict("/tmp/work/heddle.toml"), "fine");
    tree.entries["/users/ada/heddle.toml"].owner = 0;
    EXPECT_EQ(tree.verdict("/users/ada/heddle.toml"), "fine");
    tree.entries["/users/ada/heddle.toml"] = {ada, S_IFLNK | 0777};
    EXPECT_EQ(tree.verdict("/users/ada/heddle.toml"), "fine"); // modes of links say nothing
    tree.entries["/users/ada"].mode =
        S_IFDIR | 0775; // a group of one's own, as many systems have it
    EXPECT_EQ(tree.verdict("/users/ada/heddle.toml"), "fine");
}

TEST(file_owner, anothers_file_folder_or_link_is_named) {
    made_up_tree tree;
    EXPECT_THAT(tree.verdict("/tmp/heddle.toml"), HasSubstr("/tmp/heddle.toml belongs to"));
    EXPECT_THAT(tree.verdict("/users/ada/heddle.toml", eve), HasSubstr("belongs to"));
    // Root reading the settings of a user would run that user's commands.
    EXPECT_THAT(tree.verdict("/users/ada/heddle.toml", 0), HasSubstr("belongs to"));
    tree.entries["/users/ada"].owner = eve;
    EXPECT_THAT(tree.verdict("/users/ada/heddle.toml"), HasSubstr("/users/ada belongs to"));
    tree = made_up_tree();
    tree.entries["/tmp/work/heddle.toml"] = {eve, S_IFLNK | 0777};
    EXPECT_THAT(tree.verdict("/tmp/work/heddle.toml"), HasSubstr("belongs to"));
}

TEST(file_owner, what_everybody_may_change_is_named) {
    made_up_tree tree;
    tree.entries["/users/ada/heddle.toml"].mode |= S_IWOTH;
    EXPECT_THAT(tree.verdict("/users/ada/heddle.toml"),
                HasSubstr("everybody may write to /users/ada/heddle.toml"));
    tree = made_up_tree();
    tree.entries["/users/ada"].mode |= S_IWOTH;
    EXPECT_THAT(tree.verdict("/users/ada/heddle.toml"), HasSubstr("write to /users/ada"));
    tree = made_up_tree();
    tree.entries["/tmp/work/heddle.toml"] = {0, S_IFREG | 0666}; // root's, and no folder
    EXPECT_THAT(tree.verdict("/tmp/work/heddle.toml"), HasSubstr("everybody may write to"));
}

TEST(file_owner, what_a_group_with_others_may_change_is_named) {
    made_up_tree tree;
    tree.entries["/users/ada/heddle.toml"] = {ada, S_IFREG | 0664, staff};
    EXPECT_THAT(tree.verdict("/users/ada/heddle.toml"),
                HasSubstr(" may write to /users/ada/heddle.toml"));
    EXPECT_THAT(tree.verdict("/users/ada/heddle.toml"), ::testing::StartsWith("group "));
    tree.entries["/users/ada/heddle.toml"].mode = S_IFREG | 0644;
    EXPECT_EQ(tree.verdict("/users/ada/heddle.toml"), "fine");
    tree.entries["/users/ada"] = {ada, S_IFDIR | 0775, staff};
    EXPECT_THAT(tree.verdict("/users/ada/heddle.toml"), HasSubstr("may write to /users/ada"));
    tree.entries["/users/ada"] = {0, S_IFDIR | 02775, staff}; // root's as well
    EXPECT_THAT(tree.verdict("/users/ada/heddle.toml"), HasSubstr("may write to /users/ada"));
}

TEST(file_owner, in_a_folder_of_roots_names_have_to_stay_with_their_owners) {
    made_up_tree tree;
    EXPECT_EQ(tree.verdict("/tmp/work/heddle.toml"), "fine");
    tree.entries["/tmp"].mode = S_IFDIR | 0777; // anybody renames anything
    EXPECT_THAT(tree.verdict("/tmp/work/heddle.toml"), HasSubstr("everybody may write to /tmp"));
}

TEST(file_owner, what_is_not_there_is_an_error) {
    EXPECT_THAT(made_up_tree().verdict("/users/ada/none"), HasSubstr("No such file"));
}

} // namespace
} // namespace heddle::cli

#include <heddle/setup/trust/file_owner.hpp>

#include <gmock/gmock.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include <sys/xattr.h>
#include <unistd.h>

namespace heddle::setup {
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
    std::map<std::string, std::vector<acl_entry>> lists;
    std::map<std::string, std::string> targets; ///< of links
    std::map<std::string, entry> entries{{"/", {0, S_IFDIR | 0755}},
                                         {"/users", {0, S_IFDIR | 0755}},
                                         {"/users/ada", {ada, S_IFDIR | 0755}},
                                         {"/users/ada/heddle.toml", {ada, S_IFREG | 0644}},
                                         {"/tmp", {0, S_IFDIR | S_ISVTX | 0777}},
                                         {"/tmp/heddle.toml", {eve, S_IFREG | 0644}},
                                         {"/tmp/work", {ada, S_IFDIR | 0700}},
                                         {"/tmp/work/heddle.toml", {ada, S_IFREG | 0600}}};

    [[nodiscard]] std::string verdict(const std::string& path, uid_t user = ada) const {
        owner_view view;
        view.look_at = [this](const char* at, struct stat* about) {
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
        view.list_of = [this](const char* at, std::vector<acl_entry>* list) {
            if (const auto found = lists.find(at); found != lists.end()) *list = found->second;
            return 0;
        };
        view.target_of = [this](const char* at, std::string* target) {
            *target = targets.at(at);
            return 0;
        };
        view.is_own_group = [](gid_t group) { return group == of_ada; };
        const auto done = check_owners(path, user, view);
        real = done ? *done : "";
        return done ? "fine" : done.error().message();
    }
    void link(const std::string& path, const std::string& target, uid_t owner = ada) {
        entries[path] = {owner, S_IFLNK | 0777}; // modes of links say nothing
        targets[path] = target;
    }
    mutable std::string real; ///< what the last check came to
};

TEST(file_owner, ones_own_and_roots_files_are_fine) {
    made_up_tree tree;
    EXPECT_EQ(tree.verdict("/users/ada/heddle.toml"), "fine");
    EXPECT_EQ(tree.verdict("/tmp/work/heddle.toml"), "fine");
    tree.entries["/users/ada/heddle.toml"].owner = 0;
    EXPECT_EQ(tree.verdict("/users/ada/heddle.toml"), "fine");
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
    tree.link("/tmp/work/heddle.toml", "/users/ada/heddle.toml", eve);
    EXPECT_THAT(tree.verdict("/tmp/work/heddle.toml"), HasSubstr("belongs to"));
}

TEST(file_owner, links_are_followed_one_at_a_time) {
    made_up_tree tree;
    tree.link("/tmp/work/heddle.toml", "../../users/./ada/../link");
    tree.link("/users/link", "ada/heddle.toml");
    EXPECT_EQ(tree.verdict("/tmp/work/heddle.toml"), "fine");
    EXPECT_EQ(tree.real, "/users/ada/heddle.toml");
    tree.link("/users/link", "/users/ada/heddle.toml", eve);
    EXPECT_THAT(tree.verdict("/tmp/work/heddle.toml"), HasSubstr("/users/link belongs to"));
    // A folder by another name, in which somebody else puts what he likes.
    tree.link("/users/link", "/shared/eve");
    tree.entries["/shared"] = {0, S_IFDIR | 0777};
    tree.entries["/shared/eve"] = {ada, S_IFDIR | 0755};
    tree.entries["/shared/eve/heddle.toml"] = {ada, S_IFREG | 0644};
    EXPECT_THAT(tree.verdict("/users/link/heddle.toml"), HasSubstr("may write to /shared"));
    tree.entries["/shared"].mode = S_IFDIR | 0755;
    EXPECT_EQ(tree.verdict("/users/link/heddle.toml"), "fine");
    EXPECT_EQ(tree.real, "/shared/eve/heddle.toml");
    tree.link("/users/link", "link");
    EXPECT_THAT(tree.verdict("/users/link"), HasSubstr("symbolic links"));
}

TEST(file_owner, what_is_read_is_what_was_checked) {
    std::string name = (std::filesystem::temp_directory_path() / "heddle-own-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    const std::string folder = std::filesystem::canonical(name).string();
    const std::string file = folder + "/heddle.toml";
    const std::string other = folder + "/other.toml";
    std::ofstream(other) << "changed";
    const uid_t self = ::geteuid();
    owner_view view = owner_view::of_system(self);
    // Somebody is faster than the reading, as the owner of the folder may be.
    std::function<void()> meanwhile = [] {};
    view.list_of = [&, list_of = view.list_of](const char* at, std::vector<acl_entry>* list) {
        const int done = list_of(at, list);
        if (at == file) meanwhile();
        return done;
    };
    const auto read = [&] {
        std::filesystem::remove(file);
        std::ofstream(file) << "checked";
        return read_own_file(file, 100, self, view);
    };
    EXPECT_EQ(read().value(), "checked");
    meanwhile = [&] {
        std::filesystem::remove(file);
        std::filesystem::create_symlink(other, file);
    };
    EXPECT_FALSE(read());
    meanwhile = [&] {
        std::filesystem::permissions(file, std::filesystem::perms::others_write,
                                     std::filesystem::perm_options::add);
    };
    const auto opened = read();
    std::filesystem::remove_all(name);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().message(), "everybody may write to " + file);
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

TEST(file_owner, whom_a_list_lets_write_is_named) {
    using holder = acl_entry::holder;
    made_up_tree tree;
    const std::string file = "/users/ada/heddle.toml";
    tree.entries[file] = {ada, S_IFREG | 0664, staff}; // the mask, and not the group
    const std::vector<acl_entry> plain{{holder::owner, true, 0},
                                       {holder::owning_group, false, 0},
                                       {holder::mask, true, 0},
                                       {holder::others, false, 0}};
    const auto with = [&](acl_entry more) {
        tree.lists[file] = plain;
        tree.lists[file].push_back(more);
        return tree.verdict(file);
    };
    EXPECT_THAT(with({holder::user, true, eve}), HasSubstr(" may write to " + file));
    EXPECT_THAT(with({holder::user, true, eve}), ::testing::StartsWith("user "));
    EXPECT_THAT(with({holder::group, true, staff}), ::testing::StartsWith("group "));
    EXPECT_THAT(with({holder::owning_group, true, 0}), ::testing::StartsWith("group "));
    EXPECT_THAT(with({holder::others, true, 0}), HasSubstr("everybody may write to"));
    EXPECT_EQ(with({holder::user, false, eve}), "fine");
    EXPECT_EQ(with({holder::user, true, ada}), "fine");
    EXPECT_EQ(with({holder::user, true, 0}), "fine");
    EXPECT_EQ(with({holder::group, true, of_ada}), "fine");
    // The mask takes all of them away.
    tree.lists[file] = {{holder::owner, true, 0},
                        {holder::user, true, eve},
                        {holder::group, true, staff},
                        {holder::mask, false, 0}};
    EXPECT_EQ(tree.verdict(file), "fine");
    tree.lists.clear();
    tree.entries[file].mode = S_IFREG | 0644;
    tree.lists["/users"] = {{holder::user, true, eve}};
    EXPECT_THAT(tree.verdict(file), HasSubstr(" may write to /users"));
}

TEST(file_owner, the_group_of_root_is_roots_only) { EXPECT_FALSE(is_private_group(0, ada)); }

/// "user::rw-,user:NUMBER:PERMISSIONS,group::r--,mask::MASK,other::r--" as Linux keeps it.
std::string list_for(std::uint32_t number, char permissions, char mask) {
    constexpr std::uint32_t nobody = 0xFFFFFFFF;
    std::string text{2, 0, 0, 0};
    const auto add = [&](char tag, char may, std::uint32_t id) {
        text.append({tag, 0, may, 0});
        for (int shift = 0; shift < 32; shift += 8) text += static_cast<char>(id >> shift);
    };
    add(0x01, 6, nobody);
    add(0x02, permissions, number);
    add(0x04, 4, nobody);
    add(0x10, mask, nobody);
    add(0x20, 4, nobody);
    return text;
}

TEST(file_owner, a_real_list_is_read) {
    std::string name = (std::filesystem::temp_directory_path() / "heddle-acl-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    const std::string file = name + "/heddle.toml";
    std::ofstream(file) << "model = \"x\"\n";
    const auto set = [&](const std::string& list) {
        return ::setxattr(file.c_str(), "system.posix_acl_access", list.data(), list.size(), 0) ==
               0;
    };
    const bool can = set(list_for(12345, 6, 6));
    const auto open_to_another = check_owners(file);
    (void)set(list_for(12345, 4, 6));
    const auto readable = check_owners(file);
    (void)set(list_for(12345, 6, 4));
    const auto masked = check_owners(file);
    std::filesystem::remove_all(name);
    if (!can) GTEST_SKIP() << "no access control lists here";
    ASSERT_FALSE(open_to_another);
    EXPECT_EQ(open_to_another.error().message(), "user number 12345 may write to " + file);
    EXPECT_TRUE(readable) << readable.error().message();
    EXPECT_TRUE(masked) << masked.error().message();
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
} // namespace heddle::setup

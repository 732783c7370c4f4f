// Files that are replaced in one step, and what is left when that fails.
#include <heddle/fs/replacement_file.hpp>

#include <limited_file_size.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

namespace heddle::fs {
namespace {

namespace stdfs = std::filesystem;

class replacement_file_in_folder : public ::testing::Test {
protected:
    replacement_file_in_folder() {
        stdfs::create_directories(folder_);
        std::ofstream(file_) << "before";
    }
    ~replacement_file_in_folder() override { stdfs::remove_all(folder_); }

    [[nodiscard]] std::string text() const {
        std::ifstream in(file_, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    [[nodiscard]] auto names() const {
        return std::distance(stdfs::directory_iterator(folder_), {});
    }
    [[nodiscard]] mode_t mode() const {
        struct stat about {};
        return ::stat(file_.c_str(), &about) == 0 ? about.st_mode & 07777 : 0;
    }

    stdfs::path folder_ =
        stdfs::temp_directory_path() / ("heddle-replacement-" + std::to_string(::getpid()));
    std::string file_ = (folder_ / "file").string();
};

TEST_F(replacement_file_in_folder, shows_the_new_content_all_at_once) {
    const std::string large(3 << 20, 'x'); // more than one write
    {
        replacement_file fresh(file_);
        ASSERT_TRUE(fresh.is_open());
        EXPECT_TRUE(fresh.name().starts_with((folder_ / ".file.part-").string())) << fresh.name();
        EXPECT_TRUE(fresh.write("after "));
        EXPECT_TRUE(fresh.write(large));
        EXPECT_TRUE(fresh.sync());
        EXPECT_EQ(text(), "before");
        EXPECT_TRUE(fresh.take_place());
    }
    EXPECT_EQ(text(), "after " + large);
    EXPECT_EQ(mode(), 0600U);
    EXPECT_EQ(names(), 1);
}

TEST_F(replacement_file_in_folder, leaves_the_old_content_when_it_is_dropped) {
    {
        replacement_file fresh(file_);
        EXPECT_TRUE(fresh.write("after"));
    }
    EXPECT_EQ(text(), "before");
    EXPECT_EQ(names(), 1);
}

TEST_F(replacement_file_in_folder, leaves_the_old_content_when_a_write_fails) {
    const std::string large(100'000, 'x');
    bool wrote = true;
    int why = 0;
    {
        replacement_file fresh(file_);
        const heddle::testing::limited_file_size limited(1000);
        wrote = fresh.write(large);
        why = errno;
    }
    EXPECT_FALSE(wrote);
    EXPECT_EQ(why, EFBIG);
    EXPECT_EQ(text(), "before");
    EXPECT_EQ(names(), 1);
}

TEST_F(replacement_file_in_folder, leaves_no_file_when_the_name_cannot_be_taken) {
    stdfs::create_directories(folder_ / "other" / "below");
    {
        replacement_file fresh((folder_ / "other").string());
        EXPECT_TRUE(fresh.write("after"));
        EXPECT_FALSE(fresh.take_place()) << "a folder is there";
    }
    EXPECT_EQ(names(), 2);
}

TEST_F(replacement_file_in_folder, reports_a_folder_that_does_not_exist) {
    const replacement_file fresh((folder_ / "none" / "file").string());
    EXPECT_EQ(errno, ENOENT);
    EXPECT_FALSE(fresh.is_open());
}

TEST_F(replacement_file_in_folder, sets_permissions_whatever_the_umask) {
    const mode_t mask = ::umask(077);
    {
        replacement_file fresh(file_, 0666);
        EXPECT_TRUE(fresh.take_place());
        EXPECT_EQ(mode(), 0600U);
    }
    {
        replacement_file fresh(file_);
        EXPECT_TRUE(fresh.set_mode(0644));
        EXPECT_TRUE(fresh.take_place());
        EXPECT_EQ(mode(), 0644U);
    }
    ::umask(mask);
}

TEST_F(replacement_file_in_folder, replaces_a_link_and_not_what_it_leads_to) {
    const stdfs::path link = folder_ / "link";
    stdfs::create_symlink(file_, link);
    replacement_file fresh(link.string());
    EXPECT_TRUE(fresh.write("after"));
    EXPECT_TRUE(fresh.take_place());
    EXPECT_FALSE(stdfs::is_symlink(link));
    EXPECT_EQ(text(), "before");
}

TEST_F(replacement_file_in_folder, takes_names_as_long_as_the_system_does) {
    const std::string name(255, 'n');
    const descriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(folder.open());
    replacement_file fresh(name, 0600, folder.get());
    EXPECT_TRUE(fresh.take_place());
    EXPECT_TRUE(stdfs::exists(folder_ / name));
}

} // namespace
} // namespace heddle::fs

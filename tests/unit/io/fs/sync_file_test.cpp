// Files on systems that know no synchronization.
#include <heddle/fs/sync_file.hpp>

#include <refused_sync.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>
#include <memory>

namespace heddle::fs {
namespace {

TEST(sync_file, is_done_where_there_is_nothing_to_synchronize) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
    ASSERT_TRUE(file);
    const int number = ::fileno(file.get());
    EXPECT_TRUE(sync_file(number));
    EXPECT_TRUE(sync_data(number));
    for (const int refusal : {EINVAL, ENOSYS, EOPNOTSUPP}) {
        const testing::refused_sync refused(refusal);
        EXPECT_TRUE(sync_file(number)) << refusal;
        EXPECT_TRUE(sync_data(number)) << refusal;
    }
    int ends[2]; // a pipe: the kernel itself refuses it
    ASSERT_EQ(::pipe(ends), 0);
    EXPECT_TRUE(sync_file(ends[1]));
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(sync_file, waits_for_names_in_a_folder) {
    EXPECT_TRUE(sync_folder_of("a"));
    EXPECT_TRUE(sync_folder_of("/a"));
    EXPECT_FALSE(sync_folder_of("/there is no such folder/a"));
    EXPECT_EQ(errno, ENOENT);
    const testing::refused_sync refused(EIO);
    EXPECT_FALSE(sync_folder_of("/a"));
    EXPECT_EQ(errno, EIO);
}

TEST(sync_file, reports_data_that_is_lost) {
    for (const int refusal : {EIO, ENOSPC, EDQUOT}) {
        const testing::refused_sync refused(refusal);
        EXPECT_FALSE(sync_file(0));
        EXPECT_EQ(errno, refusal);
        EXPECT_FALSE(sync_data(0));
    }
    EXPECT_FALSE(sync_file(-1));
    EXPECT_EQ(errno, EBADF);
}

} // namespace
} // namespace heddle::fs

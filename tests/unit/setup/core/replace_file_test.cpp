// Files that are replaced as a whole.
#include <heddle/setup/input_files.hpp>

#include <refused_sync.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace heddle::setup {
namespace {

namespace stdfs = std::filesystem;

std::string text_of(const stdfs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(replace_file, writes_where_the_file_system_cannot_synchronize) {
    const stdfs::path file =
        stdfs::temp_directory_path() / ("heddle-replaced-" + std::to_string(::getpid()));
    std::ofstream(file) << "before";
    for (const int refusal : {EINVAL, ENOSYS, EOPNOTSUPP}) {
        const heddle::testing::refused_sync refused(refusal);
        const std::string text = "text " + std::to_string(refusal);
        const auto written = replace_file(file.string(), text);
        EXPECT_TRUE(written) << written.error().message();
        EXPECT_EQ(text_of(file), text);
    }
    {
        const heddle::testing::refused_sync refused(EIO);
        EXPECT_FALSE(replace_file(file.string(), "lost"));
        EXPECT_NE(text_of(file), "lost");
    }
    stdfs::remove(file);
}

} // namespace
} // namespace heddle::setup

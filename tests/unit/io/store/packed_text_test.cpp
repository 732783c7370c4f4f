#include "store/packed_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace heddle::store {
namespace {

TEST(packed_text, comes_back_and_refuses_what_was_not_packed) {
    text_packer packer;
    for (const std::size_t size : {0U, 1U, 1023U, 1024U, 500'000U}) {
        const std::string text(size, 'q');
        const std::string packed(packer.pack(text));
        EXPECT_EQ(unpack_text(packed).value(), text);
        if (size > 2000) {
            EXPECT_LT(packed.size(), size / 100);
            EXPECT_FALSE(unpack_text(std::string_view(packed).substr(0, packed.size() / 2)));
            std::string longer = packed;
            longer[0] = 9;
            EXPECT_FALSE(unpack_text(longer));
        }
    }
}

} // namespace
} // namespace heddle::store

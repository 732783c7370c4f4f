#pragma once

#include <cstddef>
#include <string_view>

/// The number of words: runs of anything but white space.
std::size_t count_words(std::string_view text);

/// The longest word, the first of several; empty when there is none.
std::string_view longest_word(std::string_view text);

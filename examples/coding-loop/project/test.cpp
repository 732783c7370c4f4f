#include "text.hpp"

#include <cstdio>
#include <string>

int failures = 0;

void check(const std::string& call, const std::string& expected, const std::string& given) {
    if (given == expected) return;
    ++failures;
    std::printf("FAIL %s: expected %s, got %s\n", call.c_str(), expected.c_str(), given.c_str());
}

void check_count(const std::string& text, std::size_t expected) {
    check("count_words(\"" + text + "\")", std::to_string(expected),
          std::to_string(count_words(text)));
}

int main() {
    check_count("one", 1);
    check_count("one two", 2);
    check_count("one  two ", 2);
    check_count("", 0);
    check("longest_word(\"a bcd ef\")", "bcd", std::string(longest_word("a bcd ef")));
    check("longest_word(\"\")", "", std::string(longest_word("")));
    if (failures == 0) std::puts("all tests passed");
    return failures == 0 ? 0 : 1;
}

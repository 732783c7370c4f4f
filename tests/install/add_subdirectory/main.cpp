// Only the lowest library: the others are built by the installed way already.
#include <heddle/base/error.hpp>

int main() {
    const heddle::error failure(heddle::errc::not_found, "nothing here");
    return failure.message() == "nothing here" ? 0 : 1;
}

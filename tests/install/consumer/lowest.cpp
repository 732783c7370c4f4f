// Only the lowest library: the installed ways have the others built.
#include <heddle/base/error.hpp>

int main() {
    const heddle::error failure(heddle::errc::not_found, "nothing here");
    return failure.message() == "nothing here" ? 0 : 1;
}

#include <heddle/base/exceptions.hpp>

#include <exception>
#include <new>
#include <string>

namespace heddle {

namespace {

error of_current(std::string_view doing) {
    try {
        throw;
    } catch (const error_exception& carried) { // needs no memory
        return carried.failure();
    } catch (const std::bad_alloc&) {
        return out_of_memory();
    } catch (const std::exception& thrown) {
        return error(errc::internal, std::string(doing) + " threw an exception: " + thrown.what());
    } catch (...) {
        return error(errc::internal, std::string(doing) + " threw an exception of an unknown type");
    }
}

/// Made with the program, so that the first lack of memory finds it. Never destroyed: other threads
/// may hold copies at exit.
const error& prepared = *new error(errc::limit_exceeded, "out of memory");

} // namespace

const error& out_of_memory() noexcept { return prepared; }

error error_of_exception(std::string_view doing) noexcept {
    try {
        return of_current(doing);
    } catch (...) { // no memory for the message
        return prepared;
    }
}

} // namespace heddle

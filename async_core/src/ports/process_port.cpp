#include <heddle/ports/process_port.hpp>

namespace heddle::ports {

namespace {

class process_category_impl final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "heddle.process"; }
    std::string message(int value) const override {
        switch (static_cast<process_errc>(value)) {
        case process_errc::ok: return "no error";
        case process_errc::not_found: return "no such program";
        case process_errc::not_permitted: return "the program cannot be executed";
        case process_errc::bad_directory: return "no such working directory";
        case process_errc::start_failed: return "the program could not be started";
        case process_errc::invalid_argument: return "invalid command";
        case process_errc::too_long: return "arguments and environment are too long";
        case process_errc::status_lost: return "the exit status is unknown";
        }
        return "unknown process error";
    }
};

} // namespace

const boost::system::error_category& process_category() noexcept {
    static const process_category_impl category;
    return category;
}

} // namespace heddle::ports

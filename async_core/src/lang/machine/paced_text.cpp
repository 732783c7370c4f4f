#include <heddle/lang/paced_text.hpp>

#include "native_stack.hpp"
#include "slice_work.hpp"
#include "turn_work.hpp"

#include "lang/print/printing.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/work.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace heddle::lang {

class paced_text::job final : private turn_work {
public:
    job(realm& realm, std::vector<value> parts)
        : turn_work(stack_), realm_(realm), parts_(std::move(parts)),
          work_([this] { text_ = write(*this); }), stack_(realm, stack_bytes) {}
    ~job() { stack_.abandon(); }
    job(const job&) = delete;
    job& operator=(const job&) = delete;

    [[nodiscard]] bool go_on() {
        if (!begun_) { // most texts are short
            begun_ = true;
            slice_work here;
            here.begin(units_of_a_turn);
            text_ = write(here);
            if (text_) return true;
        }
        return stack_.resume(work_) == native_stack::progress::ended;
    }
    [[nodiscard]] result<std::string> take() { return *std::move(text_); }

private:
    static constexpr std::size_t stack_bytes = 256 * 1024;

    /// Nothing: stopped.
    [[nodiscard]] std::optional<result<std::string>> write(work_meter& work) const {
        const heap& memory = realm_.memory();
        text_builder out(work);
        print_options options;
        options.display = true;
        options.max_bytes = std::min<std::size_t>(
            value::max_length, memory.limit() - std::min(memory.limit(), memory.used()));
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            if (i != 0) out.tail() += ' ';
            if (!print_to(out, parts_[i], options)) return std::nullopt;
            if (out.size() <= options.max_bytes) continue;
            return result<std::string>(
                error(errc::limit, "the text of the values does not fit in the memory limit of " +
                                       std::to_string(memory.limit_asked()) + " bytes"));
        }
        auto text = std::move(out).text();
        if (!text) return std::nullopt;
        return result<std::string>(*std::move(text));
    }

    realm& realm_;
    std::vector<value> parts_;
    std::optional<result<std::string>> text_;
    bool begun_ = false;
    std::function<void()> work_;
    native_stack stack_;
};

paced_text::paced_text(realm& realm, std::vector<value> parts)
    : job_(std::make_unique<job>(realm, std::move(parts))) {}

paced_text::~paced_text() = default;

bool paced_text::go_on() { return job_->go_on(); }

result<std::string> paced_text::take() { return job_->take(); }

} // namespace heddle::lang

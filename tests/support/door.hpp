// A gate that a test opens and closes.
#pragma once

#include <heddle/ports/flow_gate.hpp>

namespace heddle::testing {

class door final : public ports::flow_gate {
public:
    [[nodiscard]] bool open() const noexcept override { return open_; }
    void close() noexcept { open_ = false; }
    void reopen() noexcept {
        open_ = true;
        report_open();
    }

private:
    bool open_ = true;
};

} // namespace heddle::testing

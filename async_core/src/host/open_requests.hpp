// The requests of a row that were sent and have no response.
#pragma once

#include <heddle/ports/run_journal.hpp>

#include <map>
#include <vector>

namespace heddle::host {

/// Which requests of a row have no response, as its records are read in order.
class open_requests {
public:
    void send(ports::step_record record);
    /// What was sent has cost nothing. It has no response all the same.
    void excuse(const ports::step_record& record);
    /// `record`: of a response, or that the request was lost.
    void settle(const ports::step_record& record);
    /// The step has ended. True: the last of its requests has no response, and is none of parts
    /// side by side, of which one may have been cancelled by another one.
    [[nodiscard]] bool settle_step(const ports::digest128& path);
    /// Those that may have been paid for.
    [[nodiscard]] std::vector<ports::step_record> take();

private:
    std::map<ports::digest128, std::vector<ports::step_record>> by_path_;
    std::map<ports::digest128, ports::digest128> last_; ///< what was sent last, by step
};

} // namespace heddle::host

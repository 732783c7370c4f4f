// A body whose size is not known before its end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::http {

/// Collects a body so that never much more memory is in use than the body has bytes: a string that
/// doubles holds up to three times as much while it moves. What fits in `block_size` goes into the
/// string at once.
class body_blocks {
public:
    static constexpr std::size_t block_size = 1024 * 1024;

    void append(std::string& body, std::string_view piece);
    /// Puts everything into `body`, block by block.
    void join(std::string& body);

private:
    std::vector<std::string> blocks_; ///< behind what is in the string; all full but the last
};

} // namespace heddle::http

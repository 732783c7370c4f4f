#include "body_blocks.hpp"

#include <algorithm>

namespace heddle::http {

void body_blocks::append(std::string& body, std::string_view piece) {
    if (blocks_.empty()) {
        const std::size_t fits =
            std::min(piece.size(), block_size - std::min(body.size(), block_size));
        body.append(piece.substr(0, fits));
        piece.remove_prefix(fits);
    }
    while (!piece.empty()) {
        if (blocks_.empty() || blocks_.back().size() == block_size) {
            blocks_.emplace_back().reserve(block_size);
        }
        std::string& last = blocks_.back();
        const std::size_t fits = std::min(piece.size(), block_size - last.size());
        last.append(piece.substr(0, fits));
        piece.remove_prefix(fits);
    }
}

void body_blocks::join(std::string& body) {
    if (blocks_.empty()) return;
    body.reserve(body.size() + (blocks_.size() - 1) * block_size + blocks_.back().size());
    for (std::string& block : blocks_) {
        body.append(block);
        block = std::string(); // given back before the next one is copied
    }
    blocks_.clear();
}

} // namespace heddle::http

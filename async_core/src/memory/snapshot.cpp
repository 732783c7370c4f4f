#include "memory/snapshot.hpp"

namespace heddle::memory {

namespace {

constexpr std::string_view magic = "heddle index\n";
static_assert(magic.size() == snapshot_mark_bytes);
constexpr std::uint64_t version = 2; ///< 1 had the words of whole paths

/// FNV-1a in steps of 8 bytes. Each step is a bijection, so that no single damaged byte gets
/// through.
[[nodiscard]] std::uint64_t checksum(std::string_view bytes) noexcept {
    std::uint64_t sum = 0xCBF2'9CE4'8422'2325;
    constexpr std::uint64_t prime = 0x0000'0100'0000'01B3;
    while (bytes.size() >= 8) {
        std::uint64_t word = 0;
        for (unsigned i = 0; i < 8; ++i) {
            word |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
        }
        sum = (sum ^ word) * prime;
        sum ^= sum >> 29; // so that the high bits reach the low ones
        bytes.remove_prefix(8);
    }
    for (const char byte : bytes) sum = (sum ^ static_cast<unsigned char>(byte)) * prime;
    return sum;
}

[[nodiscard]] error refused(std::string what) {
    return error(errc::invalid_argument, "the index file " + std::move(what))
        .with_hint("delete it, and a new one is created from the files")
        .with_payload(std::make_shared<unusable_index>());
}

} // namespace

bool begins_snapshot(std::string_view beginning) noexcept { return beginning.starts_with(magic); }

error not_an_index(const std::string& file) {
    return error(errc::invalid_argument,
                 "\"" + file + "\" exists and is not an index of heddle: it is left unchanged")
        .with_hint("name another file for the index, or delete this one");
}

std::string write_snapshot(inverted_index& index) {
    std::string content;
    index.save(content);
    std::string out(magic);
    out.reserve(magic.size() + 24 + content.size());
    byte_writer to(out);
    to.fixed64(version);
    to.fixed64(content.size());
    to.fixed64(checksum(content));
    out += content;
    return out;
}

result<inverted_index> read_snapshot(std::string_view bytes) {
    if (bytes.empty()) return refused("is empty");
    if (!begins_snapshot(bytes)) {
        return error(errc::invalid_argument, "the file is not an index of heddle")
            .with_hint("name another file for the index, or delete this one");
    }
    bytes.remove_prefix(magic.size());
    byte_reader head(bytes);
    const auto made_by = head.fixed64();
    const auto size = head.fixed64();
    const auto sum = head.fixed64();
    if (!sum) return refused("is cut off");
    if (*made_by != version) {
        return refused("has version " + std::to_string(*made_by) + ", not " +
                       std::to_string(version));
    }
    bytes.remove_prefix(24);
    if (*size != bytes.size()) {
        return refused("is damaged: " + std::to_string(bytes.size()) + " bytes where " +
                       std::to_string(*size) + " should be");
    }
    if (*sum != checksum(bytes)) return refused("is damaged: its checksum is wrong");
    auto index = inverted_index::load(bytes);
    if (!index) return refused("is damaged: its content makes no sense");
    return *std::move(index);
}

} // namespace heddle::memory

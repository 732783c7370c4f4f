// What a connection sends.
#include "http/server_connection.hpp"

#include <heddle/http/status.hpp>

#include <algorithm>
#include <charconv>

namespace heddle::http {

namespace {

using net::io_status;

constexpr std::size_t write_block = 64 * 1024; // that has write_time

void append_number(std::string& out, std::uint64_t value, int base = 10) {
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, value, base).ptr);
}

/// A line end in a field would begin another one.
void append_field(std::string& out, std::string_view name, std::string_view value) {
    const auto begin = static_cast<std::ptrdiff_t>(out.size());
    out += name;
    out += ": ";
    out += value;
    const auto is_control = [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; };
    std::replace_if(out.begin() + begin, out.end(), is_control, ' ');
    out += "\r\n";
}

bool has_no_body(int status) noexcept { return status < 200 || status == 204 || status == 304; }

} // namespace

coro::task<result<void>> server_connection::flush(server_connection& self) {
    std::size_t sent = 0;
    std::size_t in_block = 0;
    std::size_t in_turn = 0;
    coro::deadline until = self.in(self.shared_.options.write_time);
    bool fine = !self.at_end_;
    while (fine && sent < self.out_.size()) {
        const net::io_outcome put =
            self.stream_.write_some(std::string_view(self.out_).substr(sent, max_turn));
        if (put.status == io_status::done) {
            sent += put.count;
            in_block += put.count;
            if (in_block >= write_block) {
                in_block = 0;
                until = self.in(self.shared_.options.write_time);
            }
            in_turn += put.count;
            if (in_turn >= max_turn) {
                in_turn = 0;
                co_await coro::yield_now(self.shared_.loop);
                fine = !self.at_end_;
            }
            continue;
        }
        fine = false;
        if (put.status == io_status::would_block) {
            const coro::wake woken = co_await wait_writable(self, until);
            fine = woken == coro::wake::notified && !self.at_end_;
        }
    }
    self.out_.clear();
    if (self.out_.capacity() > kept_room) std::string().swap(self.out_);
    if (fine) co_return result<void>();
    self.hang_up();
    co_return error::cancelled(cancel_reason::user, "the client has hung up");
}

void server_connection::put_head(const response_head& head, std::optional<std::size_t> length) {
    if (shared_.stopping) keep_alive_ = false;
    if (!length && is_http_1_0_) keep_alive_ = false; // its end is that of the connection
    if (has_no_body(head.status)) {
        no_body_ = true;
        length.reset();
    }
    out_ += "HTTP/1.1 ";
    append_number(out_, static_cast<std::uint64_t>(std::clamp(head.status, 100, 999)));
    out_ += ' ';
    out_ += status_text(head.status);
    out_ += "\r\nDate: ";
    out_ += shared_.date();
    out_ += "\r\n";
    if (!head.content_type.empty()) append_field(out_, "Content-Type", head.content_type);
    for (const response_field& each : head.fields) append_field(out_, each.name, each.value);
    if (length) {
        out_ += "Content-Length: ";
        append_number(out_, *length);
        out_ += "\r\n";
    } else if (!is_http_1_0_ && !has_no_body(head.status)) {
        out_ += "Transfer-Encoding: chunked\r\n";
    }
    if (!keep_alive_) out_ += "Connection: close\r\n";
    else if (is_http_1_0_) out_ += "Connection: keep-alive\r\n";
    out_ += "\r\n";
}

void server_connection::put_body(std::string_view bytes) {
    if (!no_body_) out_ += bytes;
}

void server_connection::put_chunk(std::string_view bytes) {
    if (no_body_ || bytes.empty()) return;
    if (is_http_1_0_) {
        out_ += bytes;
        return;
    }
    append_number(out_, bytes.size(), 16);
    out_ += "\r\n";
    out_ += bytes;
    out_ += "\r\n";
}

void server_connection::put_last_chunk() {
    if (!no_body_ && !is_http_1_0_) out_ += "0\r\n\r\n";
}

} // namespace heddle::http

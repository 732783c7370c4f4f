#include "common/response_redaction.hpp"

#include "common/json_tree_parser.hpp"

#include <heddle/base/json_parser.hpp>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <memory>
#include <utility>

namespace heddle::providers {

namespace {

namespace json = boost::json; // this tree is changed

/// In the strings and member names of a tree. Calls itself no deeper than the parser let it be.
void hide_in_tree(json::value& tree, const redactor& secrets) {
    if (json::string* text = tree.if_string()) {
        std::string shown(text->data(), text->size());
        if (secrets.hide(shown)) *text = shown;
    } else if (json::array* list = tree.if_array()) {
        for (json::value& each : *list) hide_in_tree(each, secrets);
    } else if (json::object* object = tree.if_object()) {
        json::object members;
        for (auto& member : *object) {
            hide_in_tree(member.value(), secrets);
            members.emplace(secrets.hidden(std::string_view(member.key())),
                            std::move(member.value()));
        }
        *object = std::move(members);
    }
}

void hide_in_json(std::string& text, const redactor& secrets) {
    std::string shown = text;
    if (!secrets.hide(shown)) return;
    boost::system::error_code failed;
    json::value tree = parse_json(text, failed, max_json_depth);
    if (!failed) {
        hide_in_tree(tree, secrets);
        shown = json::serialize(tree);
        secrets.hide(shown); // what is not a string, such as a key of digits
    }
    text = std::move(shown);
}

} // namespace

redactor secrets_in(const ports::http_headers& headers) {
    std::vector<secret> secrets;
    for (const ports::http_header& header : headers) {
        if (!header.sensitive) continue;
        const std::size_t blank = header.value.rfind(' ');
        secrets.emplace_back(blank == std::string::npos ? header.value
                                                        : header.value.substr(blank + 1));
    }
    return redactor(std::move(secrets));
}

void hide_secrets(ports::chat_response& response, const redactor& secrets) {
    if (!secrets.hides()) return;
    for (std::string* each : {&response.id, &response.model, &response.text, &response.refusal,
                              &response.cut_tool_call}) {
        secrets.hide(*each);
    }
    for (ports::tool_call& call : response.tool_calls) {
        secrets.hide(call.id);
        secrets.hide(call.name);
        secrets.hide(call.signature);
        hide_in_json(call.arguments_json, secrets);
    }
    for (ports::reasoning_part& part : response.reasoning) {
        secrets.hide(part.text);
        secrets.hide(part.signature);
        secrets.hide(part.opaque);
    }
}

error hide_secrets(error failure, const redactor& secrets) {
    const ports::chat_response* part = ports::part_of(failure);
    if (!part || !secrets.hides()) return failure;
    const auto* carried =
        dynamic_cast<const ports::partial_response*>(failure.info().payload.get());
    ports::chat_response shown = *part;
    hide_secrets(shown, secrets);
    auto object = std::make_shared<ports::partial_response>(std::move(shown));
    if (carried) {
        object->all_lost = carried->all_lost;
        object->unread = carried->unread;
    }
    return std::move(failure).with_payload(std::move(object));
}

std::string_view text_redactor::take(std::string_view piece) {
    if (!secrets_.hides()) return piece;
    waiting_ += piece;
    const std::size_t undecided = secrets_.undecided(waiting_);
    out_.assign(waiting_, 0, waiting_.size() - undecided);
    waiting_.erase(0, out_.size());
    return hand_out();
}

std::string_view text_redactor::finish() {
    out_ = std::exchange(waiting_, {});
    return hand_out();
}

std::string_view text_redactor::hand_out() {
    const bool found = secrets_.hide(out_);
    hidden_ = hidden_ || found;
    if (hidden_) since_hidden_ += out_;
    else unchanged_ += out_.size();
    return out_;
}

void text_redactor::apply_to(std::string& text) const {
    if (!hidden_ || text.size() < unchanged_) return;
    text.resize(unchanged_);
    text += since_hidden_;
}

} // namespace heddle::providers

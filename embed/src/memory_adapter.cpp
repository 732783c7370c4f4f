#include "memory_adapter.hpp"

#include <utility>
#include <vector>

namespace heddle::embed {

namespace {

using passages = std::vector<memory_passage>;

ports::memory_response response_of(passages found, bool with_text) {
    ports::memory_response response;
    for (memory_passage& each : found) {
        ports::memory_match match;
        match.id = each.name;
        match.path = std::move(each.name);
        if (with_text) match.content = std::move(each.text);
        else match.metadata = std::move(each.text);
        match.relevance = each.relevance;
        match.content_type = "text/plain";
        response.matches.push_back(std::move(match));
    }
    return response;
}

class memory_adapter final : public ports::memory_port {
public:
    memory_adapter(std::shared_ptr<memory_source> source, host_patience patience)
        : source_(std::move(source)), patience_(patience) {}

    coro::task<result<ports::memory_response>> relevant_files(ports::memory_request request,
                                                              coro::call_context context) override {
        const bool with_text = request.include_content;
        auto begin = [&](call about, memory_source::completion done) {
            source_->find({std::move(request.query), request.limit}, std::move(about),
                          std::move(done));
        };
        result<passages> ended = co_await perform_by_host<passages>("the memory", {}, patience_,
                                                                    context, std::move(begin));
        if (!ended) co_return std::move(ended).error();
        co_return response_of(*std::move(ended), with_text);
    }

private:
    std::shared_ptr<memory_source> source_;
    host_patience patience_;
};

} // namespace

std::unique_ptr<ports::memory_port> make_memory_adapter(std::shared_ptr<memory_source> source,
                                                        host_patience patience) {
    return std::make_unique<memory_adapter>(std::move(source), patience);
}

} // namespace heddle::embed

// Which address the user has entrusted a key to.
#include "project_trust_fixture.hpp"

#include <heddle/fs/local_tree.hpp>

namespace heddle::cli {
namespace {

using entrusted_addresses = project_trust;

TEST_F(entrusted_addresses, a_host_alone_means_the_same_port_to_who_judges_and_who_connects) {
    set["OLLAMA_API_KEY"] = "sk-ollama";
    project("[providers.mine]\ntype = \"ollama\"\nbase_url = \"127.0.0.1\"\n");
    // The answer to another question is none to this one.
    allow("http://127.0.0.1:80", "OLLAMA_API_KEY");
    configured_service found = service("mine");
    EXPECT_TRUE(found.provider);
    EXPECT_TRUE(found.key.empty());
    EXPECT_EQ(found.base_url, "http://127.0.0.1:11434");
    EXPECT_THAT(found.identity, HasSubstr("http://127.0.0.1:11434"));
    project("[providers.mine]\ntype = \"ollama\"\nbase_url = \"gpu-box/ai\"\n");
    expect_refused("mine", "http://gpu-box:11434/ai", "OLLAMA_API_KEY");
    allow("http://gpu-box:11434/ai", "OLLAMA_API_KEY");
    expect_sent("mine", "http://gpu-box:11434/ai", "sk-ollama");
    EXPECT_EQ(consents.revoke(project_file()).value(), 2U);
    // The user's variable means another port than the project's URL.
    set["OLLAMA_HOST"] = "127.0.0.1";
    project("[providers.ours]\ntype = \"ollama\"\nbase_url = \"http://127.0.0.1\"\n");
    found = service("ours");
    EXPECT_TRUE(found.key.empty());
    EXPECT_EQ(found.withheld_key, "OLLAMA_API_KEY");
    set["OLLAMA_HOST"] = "gpu-box";
    project("[providers.ours]\ntype = \"ollama\"\nbase_url = \"http://gpu-box\"\n");
    expect_refused("ours", "http://gpu-box:80", "OLLAMA_API_KEY");
    project("[providers.ours]\ntype = \"ollama\"\nbase_url = \"http://GPU-box:11434\"\n");
    expect_sent("ours", "http://GPU-box:11434", "sk-ollama");
    expect_sent("ollama", "http://gpu-box:11434", "sk-ollama");
}

} // namespace
} // namespace heddle::cli

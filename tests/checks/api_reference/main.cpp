// heddle_api_reference ROOT [--write]: compares docs/embedding/reference.md with what the public
// headers declare, or writes it.
#include "public_header.hpp"
#include "reference_page.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream out;
    out << file.rdbuf();
    if (!file) {
        std::cerr << "cannot read " << path << '\n';
        std::exit(2);
    }
    return std::move(out).str();
}

/// The headers of the list; those of base, which the others build on, last.
std::vector<heddle::checks::public_header> headers_below(const std::string& root) {
    std::vector<heddle::checks::public_header> out;
    std::istringstream list(content_of(root + "/embed/public_headers.txt"));
    for (std::string path; std::getline(list, path);) {
        if (path.empty() || path.starts_with('#')) continue;
        const std::string folder =
            path.starts_with("heddle/base/") ? "/async_core/include/" : "/embed/include/";
        out.push_back(heddle::checks::read_public_header(path, content_of(root + folder + path)));
    }
    std::stable_partition(out.begin(), out.end(), [](const auto& header) {
        return !header.path.starts_with("heddle/base/");
    });
    return out;
}

} // namespace

int main(int count, char** arguments) {
    if (count < 2 || (count == 3 && std::string(arguments[2]) != "--write") || count > 3) {
        std::cerr << "usage: heddle_api_reference ROOT [--write]\n";
        return 2;
    }
    const std::string root = arguments[1];
    const std::string page = root + "/docs/embedding/reference.md";
    const std::string generated = heddle::checks::reference_page(headers_below(root));
    if (count == 3) {
        std::ofstream(page, std::ios::binary) << generated;
        return 0;
    }
    if (content_of(page) == generated) return 0;
    std::cerr << page << " is not what the public headers declare.\n"
              << "Make it anew: build/dev/bin/heddle_api_reference . --write\n";
    return 1;
}

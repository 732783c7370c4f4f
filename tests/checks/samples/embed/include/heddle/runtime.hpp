// A header of the API: what it includes of heddle is of the API, too.
#pragma once

#include <heddle/hidden.hpp>
#include <heddle/lang/reader.hpp> // expect: public-api

namespace heddle::lang { // expect: public-api
class value;
}
namespace heddle::embed {
class runtime_core; // named only
}

namespace HEDDLE_PUBLIC heddle {

class runtime {
public:
    void take(const lang::value& input); // expect: public-api
    // A comment may name lang::value.
    void take_host(int host);

private:
    embed::runtime_core* core_;
};

} // namespace heddle

#include <boost/json/value.hpp> // expect: third-party
#include <boost/system/result.hpp>
#include <re2/re2.h> // expect: third-party
#include <string>

#include <pugixml.hpp> // expect: single-file

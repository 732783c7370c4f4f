// The Asio of a program that compiles it itself.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>

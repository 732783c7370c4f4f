// A strand of Asio is another thing than a fiber. expect: words
int first_strand = 1; // expect: words
boost::asio::strand<executor> queue_of_asio;
const char* said = "the join hears of it"; // expect: words
int made = 0; // expect: words
int made_up = 0;
int most_calls = 0; // expect: words
int utmost_calls = 0;
int swelling_of_a_body = 0; // expect: words
int leftovers = 0; // expect: words
void call(host::session& owner, nursery& owner_of_it); // expect: words
engine* owner_ = nullptr; // expect: words
permit right; // expect: words
void compare(value left, value right);
void own_session(sub_session& owner);
void draw_the_world(); // expect: words
int long_enough = 1; // A comment that goes on for more than a hundred columns is too wide. expect: columns
const char* text = "A literal may be as wide as it likes: it is not broken in mid-phrase, which would hide it.";
// A header tells nothing. expect: words
// The call gives up after a minute, and gives the rest. expect: words
// It gives up after a minute.
const char* hint = "the file says otherwise"; // expect: words
// heddle-check: allow words (quoted from RFC 9110)
// "A server that stands between them".
TEST(samples, gives_a_value) {} // expect: words
TEST(samples, returns_what_it_forgives) {}
int told = 0;

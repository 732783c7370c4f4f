// TODO: the rest, expect: left-for-later
const char* pattern = "TODO"; // a word in a text
/* FIXME expect: left-for-later
 * more */
const char* place = "/home/someone/key"; // expect: machine-path
const char* temporary = "/tmp/heddle";

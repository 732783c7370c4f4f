// Included by the reader of rows; the drawing does not show it.

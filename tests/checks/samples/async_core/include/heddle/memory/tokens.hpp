// Belongs to the folder of its source.

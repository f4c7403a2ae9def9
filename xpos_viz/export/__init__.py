"""Files to take along: pictures and numbers, each with what it was made from."""

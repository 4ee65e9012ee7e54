"""Plain reference implementations that the library is held against."""

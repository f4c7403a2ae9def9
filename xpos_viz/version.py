"""The version of this package, which files made by it name."""

__version__ = "0.1.0"

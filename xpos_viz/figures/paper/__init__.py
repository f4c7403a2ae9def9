"""Descriptions on paper: in inches from the upper left corner, and points of type."""

"""What each page shows, as numbers."""

"""What each page shows, as numbers: from encodings, inputs and a view to arrays and tables."""

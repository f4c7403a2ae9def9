"""Side by side with others: the time of scores, and of a picture in the browser."""
